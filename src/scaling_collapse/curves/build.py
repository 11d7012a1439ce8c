"""From folders of runs to the tidy table of their curves."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scaling_collapse.corpus.open import open_corpus
from scaling_collapse.corpus.sampler import Sampler
from scaling_collapse.corpus.shards import INFO_FILE
from scaling_collapse.curves.difficulty import MAX_VOCABULARY, BigramModel
from scaling_collapse.curves.table import COLUMNS, checked
from scaling_collapse.errors import CurveError
from scaling_collapse.paths import Paths
from scaling_collapse.plan.run import Run

if TYPE_CHECKING:
    import pandas as pd

TRAIN, VALIDATION = "train", "validation"


@dataclass(frozen=True)
class Text:
    """The training text: its tokens, its bigram model and its irreducible loss [nats], as far as they are known."""

    tokens: np.ndarray | None = None
    bigrams: BigramModel | None = None
    irreducible_nats: float = np.nan


def build_curves(paths: Paths, runs: Iterable[Run]) -> pd.DataFrame:
    """Return the checked table of all curves of `runs`.

    Where the corpus is there (and its vocabulary at most 4096), training rows get the difficulty of their batches.
    A diverged run's curve ends before its first loss that is not finite; one without two points has no rows.
    Raises CurveError for a run that is not there, not finished, or garbled.
    """
    import pandas as pd

    text = _text(paths.corpus)
    parts = [part for run in runs for part in _run_rows(paths.run(run.run_id), run, text)]
    if not parts:
        raise CurveError("curves", "no run has a curve.", "collapse plan lists the runs; train them first")
    return checked(pd.concat(parts, ignore_index=True), "curves")


def run_record(folder: Path) -> dict[str, Any]:
    """Return a run's run.json. Raises CurveError if it is not there or not readable."""
    path = folder / "run.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CurveError(folder.name, "this run is not finished.", f"collapse train {folder.name}") from None
    except (OSError, ValueError) as error:
        raise CurveError(
            str(path), f"cannot be read ({error}).", "delete the folder and train the run again"
        ) from error
    if not isinstance(record, dict) or record.get("status") not in ("finished", "diverged"):
        raise CurveError(str(path), "says neither finished nor diverged.", "delete the folder and train the run again")
    return record


def _run_rows(folder: Path, run: Run, text: Text) -> Iterable[pd.DataFrame]:
    """Yield the rows of a run's training curve and of its validation curve."""
    status = run_record(folder)["status"]
    train = _read(folder / "train.parquet", ("step", "tokens", "loss_nats", "learning_rate", "gradient_norm"))
    if text.bigrams is not None and text.tokens is not None:
        sampler = Sampler(text.tokens, run.model.sequence_length, run.seed, run.max_epochs)
        difficulty = text.bigrams.batch_difficulty(sampler, run.batch_sequences, run.steps)
        train["difficulty_nats"] = difficulty[train["step"].to_numpy() - 1]
    validation = _read(folder / "validation.parquet", ("step", "tokens", "loss_nats", "bits_per_byte"))
    for split, frame in ((TRAIN, train), (VALIDATION, validation)):
        if status == "diverged":
            frame = _before_fault(frame)
            if len(frame) < 2:
                continue
        frame = frame.rename(columns={"loss_nats": "loss", "learning_rate": "lr"})
        facts = _facts(run) | {"split": split, "status": status, "irreducible_nats": text.irreducible_nats}
        yield frame.assign(**facts).reindex(columns=list(COLUMNS))


def _facts(run: Run) -> dict[str, Any]:
    """Return the columns that are equal in all rows of a run."""
    return {
        "run": run.run_id,
        "size_params": run.params,
        "tokens_total": run.tokens,
        "batch_tokens": run.batch_tokens,
        "lr_peak": run.hidden_lr,
        "weight_decay": run.optimizer.weight_decay,
        "schedule": run.schedule.kind,
        "seed": run.seed,
        "size": run.size,
        "tpp": run.tpp,
        "tau": np.nan if run.tau is None else run.tau,
        "flops_total": run.flops,
        "restart": run.restart.name if run.restart else "",
    }


def _read(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path, columns=list(columns))
    except FileNotFoundError:
        raise CurveError(str(path), "is missing.", f"collapse train {path.parent.name}") from None
    except (ValueError, OSError) as error:
        raise CurveError(
            str(path), f"cannot be read ({error}).", "delete the folder and train the run again"
        ) from error


def _before_fault(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows before the first loss that is not finite."""
    bad = ~np.isfinite(frame["loss_nats"].to_numpy(dtype=float))
    return frame.iloc[: int(bad.argmax())] if bad.any() else frame


def _text(corpus: Path) -> Text:
    """Return what is known of the training text: nothing without a corpus, no bigrams of a large vocabulary."""
    if not (corpus / INFO_FILE).exists():
        return Text()
    opened = open_corpus(corpus)
    vocabulary, floor = opened.info.vocabulary, opened.info.irreducible_loss_nats
    bigrams = BigramModel(opened.train, vocabulary) if vocabulary <= MAX_VOCABULARY else None
    return Text(opened.train, bigrams, np.nan if floor is None else floor)
