"""Whether the corpus holds enough tokens for a run, asked before anything runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from scaling_collapse.config.corpus import ContextTree, settings_of
from scaling_collapse.config.family import MAIN_CORPUS
from scaling_collapse.config.scale import Scale
from scaling_collapse.errors import ConfigError
from scaling_collapse.paths import Paths
from scaling_collapse.plan.run import Run


def known_tokens(scale: Scale, root: Path = Path()) -> int | None:
    """Training tokens of the corpus: counted if it is built with these settings, else declared, else None."""
    if isinstance(scale.corpus.source, ContextTree):
        return scale.corpus.source.tokens
    try:
        info = json.loads((Paths(scale.name, root).corpus / "corpus.json").read_text(encoding="utf-8"))
        if info["settings"] == settings_of(scale.corpus):
            return int(info["train_tokens"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not built yet, or damaged: `collapse corpus verify` is the one to complain
    return scale.corpus_tokens


def check_capacity(run: Run, corpus_tokens: int | None, where: Callable[[], str]) -> None:
    """Raise ConfigError where a run needs more tokens than its allowed epochs hold."""
    if corpus_tokens is None or run.data != MAIN_CORPUS:
        return
    sequence = run.model.sequence_length
    windows = (corpus_tokens - sequence) // sequence  # as the sampler cuts an epoch
    if run.steps * run.batch_sequences > windows * run.max_epochs:
        raise ConfigError(
            where(),
            f"{run.run_id} needs {run.tokens:,} tokens, but {run.max_epochs} epoch(s) of the corpus hold "
            f"{windows * sequence * run.max_epochs:,}",
            "lower tpp or tokens, raise corpus.max_epochs (at most 4), or use a larger corpus",
        )
