"""The `collapse` command: parses, dispatches to a lazily imported command, and turns every error into one line."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from scaling_collapse import __version__
from scaling_collapse.cli.registry import COMMANDS
from scaling_collapse.errors import ProjectError

LOG = Path("logs") / "collapse.log"
INTERRUPTED = 130  # what shells use for a command that Ctrl-C ended


class LazyGroup(TyperGroup):
    """Knows every command by name and help; imports a command's module only when that command is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=entry.help) for name, entry in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Name, imported command and remaining arguments."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, load(str(name)), rest


def load(name: str) -> Any:
    """Import a command and make it ready to call."""
    entry = COMMANDS[name]
    target = entry.load()
    if not isinstance(target, typer.Typer):
        function, target = target, typer.Typer(add_completion=False)
        target.command(name, help=function.__doc__ or entry.help)(function)
    target._add_completion = False  # no options for shell completion on every sub-command
    command = typer.main.get_command(target)
    command.name = name
    return command


app = typer.Typer(cls=LazyGroup, add_completion=False, help="Scaling with Collapse: plan, train, measure and draw.")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"collapse {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Plan, train, measure and draw families of language models whose loss curves collapse."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `collapse` with `arguments` (default: the process's own) and return its exit code.

    0 success; 1 a fault of ours (traceback in logs/collapse.log); 2 a fault that the user can mend; 130 Ctrl-C.
    """
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = typer.main.get_command(app).main(args=words, prog_name="collapse", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except ProjectError as error:
        return _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:  # `collapse plan | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if hasattr(error, "format_message"):  # a wrong command line, as typer reports it
            return _fail_usage(error)
        return _fail(f"{type(error).__name__}: {error} (traceback: {_log_traceback(words)})", 1)


def _fail(line: str, code: int) -> int:
    sys.stderr.write(f"error: {_one_line(line)}\n")
    return code


def _fail_usage(error: Any) -> int:
    """One line for a wrong command line; where only a sub-command was missing, typer has shown the help already."""
    problem = _one_line(error.format_message())
    problem += "" if problem.endswith((".", "?")) or not problem else "."
    command = getattr(getattr(error, "ctx", None), "command_path", "collapse")
    return _fail(f"{problem} See: {command} --help", 2) if problem else 2


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _log_traceback(words: Sequence[str]) -> Path:
    """Append the current traceback to the log; where that cannot be written, to the temporary folder."""
    entry = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} collapse {' '.join(words)}\n{traceback.format_exc()}\n"
    for path in (LOG, Path(tempfile.gettempdir()) / LOG.name):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as log:
                log.write(entry)
            return path
        except OSError:
            continue
    return Path(os.devnull)


if __name__ == "__main__":
    sys.exit(main())
