"""`collapse corpus`: build, describe and verify the corpus of a scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from scaling_collapse.corpus.shards import Info

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Build, describe or verify the corpus of a scale.")
SCALE = typer.Option("cpu", "--scale", help="Scale: smoke, cpu, paper, or a file.")


@app.command()
def build(scale: str = SCALE) -> None:
    """Fetch, clean, split and tokenise the text of a scale."""
    from scaling_collapse.config.load import load_scale
    from scaling_collapse.corpus.build import build_corpus
    from scaling_collapse.paths import Paths

    loaded = load_scale(scale)
    _show(build_corpus(loaded.corpus, Paths(loaded.name), report=typer.echo))


@app.command()
def info(scale: str = SCALE) -> None:
    """Describe the corpus of a scale."""
    from scaling_collapse.config.load import load_scale
    from scaling_collapse.corpus.open import open_corpus
    from scaling_collapse.paths import Paths

    _show(open_corpus(Paths(load_scale(scale).name).corpus).info)


@app.command()
def verify(scale: str = SCALE) -> None:
    """Compare every file of the corpus with its hash in corpus.json."""
    from scaling_collapse.config.load import load_scale
    from scaling_collapse.corpus.open import open_corpus
    from scaling_collapse.paths import Paths

    folder = Paths(load_scale(scale).name).corpus
    corpus = open_corpus(folder, check_hashes=True)
    typer.echo(f"{folder}: {len(corpus.info.sha256)} files match their sha256")


def _show(info: Info) -> None:
    """Print a corpus as a small table: one row a split, then its sources."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{info.source}, vocabulary {info.vocabulary}", title_justify="left")
    for heading in ("split", "documents", "tokens", "text MB", "bytes/token"):
        table.add_column(heading, justify="left" if heading == "split" else "right")
    splits = (
        ("train", info.train_documents, info.train_tokens, info.train_bytes),
        ("held_out", info.held_out_documents, info.held_out_tokens, info.held_out_bytes),
    )
    for name, documents, tokens, size in splits:
        text = ("-", "-") if size is None else (f"{size / 1e6:.2f}", f"{size / tokens:.3f}")
        table.add_row(name, f"{documents:,}", f"{tokens:,}", *text)
    console = Console()
    console.print(table)
    for source in info.sources:
        console.print(f"  {source.name} {source.version} ({source.licence or 'your file'})", highlight=False)
    if info.irreducible_loss_nats is not None:
        console.print(f"  irreducible loss {info.irreducible_loss_nats:.6f} nats/token, exactly")
