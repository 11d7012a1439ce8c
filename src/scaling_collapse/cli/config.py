"""`collapse config`: check every scale, and keep the generated reference files in step with the code."""

from __future__ import annotations

import difflib
from pathlib import Path

import typer

from scaling_collapse.config.load import find_scale, load_scale, scale_names
from scaling_collapse.errors import ConfigError

app = typer.Typer(no_args_is_help=True, help="Check the configuration, or write its generated reference files.")


@app.command()
def write() -> None:
    """Write config/default.yaml, config/schema.json and docs/config.md from the code."""
    from scaling_collapse.config.document import documents

    for path, text in documents().items():
        if _read(path) != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f"{path.name}.unfinished")
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(path)
            typer.echo(f"wrote {path}")


@app.command()
def check(
    scale: str | None = typer.Option(None, help="Only this scale: a name in config/scale, or a YAML file."),
) -> None:
    """Check scales down to their runs, and that the generated reference files are in step with the code."""
    from scaling_collapse.plan.expand import expand

    for name in [scale] if scale else scale_names():
        runs = expand(load_scale(name))
        typer.echo(f"{find_scale(name)}: {len(runs)} runs, no fault")
    if scale is None:
        check_documents()


def check_documents(root: Path = Path()) -> None:
    """Raise ConfigError for the first generated file that differs, with its first differing line."""
    from scaling_collapse.config.document import documents

    for path, text in documents(root).items():
        changes = difflib.unified_diff(_read(path).splitlines(), text.splitlines(), n=0, lineterm="")
        change = next((line for line in changes if line[:1] in "+-" and line[:3] not in ("+++", "---")), None)
        if change is not None:
            raise ConfigError(str(path), f"differs from the code, first at {change!r}", "run collapse config write")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
