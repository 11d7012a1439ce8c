"""One loss curve as arrays, taken from the tidy table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scaling_collapse.curves.grid import ROUNDING
from scaling_collapse.errors import CurveError

if TYPE_CHECKING:
    import pandas as pd

#: Columns that say what a run is, equal in all its rows; two runs that differ in the seed alone are repeats.
RUN_COLUMNS = ("size_params", "tokens_total", "batch_tokens", "lr_peak", "weight_decay", "schedule")

#: A run whose last point lies before this fraction of training is not finished: its final loss is not known.
FINISHED = 0.99

#: Token counts may exceed the total by this fraction: printed and rounded totals do.
OVERSHOOT = 1e-3


@dataclass(frozen=True)
class Curve:
    """Losses of one run on one split. Arrays have shape (n,); `facts` holds the run's columns of the table.

    `t_hat` = tokens seen over all tokens, in (0, 1]; `loss` in nats; `steps` from 1; `tokens` seen (NaN if not
    known); `difficulty` of each batch [nats] above the corpus's mean, or None (curves/difficulty.py).
    """

    run: str
    split: str
    t_hat: np.ndarray
    loss: np.ndarray
    steps: np.ndarray
    tokens: np.ndarray
    difficulty: np.ndarray | None
    facts: dict[str, Any]

    @property
    def seed(self) -> float:
        """Seed of the run, -1 where not known, so that runs can be ordered."""
        seed = self._number("seed")
        return seed if np.isfinite(seed) else -1.0

    @property
    def size_params(self) -> float:
        """Parameters N; NaN where not known."""
        return self._number("size_params")

    @property
    def tpp(self) -> float:
        """Tokens per parameter: as the table says, else D/N; NaN where not known."""
        stated = self._number("tpp")
        return stated if np.isfinite(stated) else self._number("tokens_total") / self.size_params

    @property
    def tau(self) -> float:
        """AdamW timescale (Eq. 2): as the table says, else B/(eta*lambda*D) of its columns; NaN where not known."""
        stated = self._number("tau")
        if np.isfinite(stated):
            return stated
        product = self._number("lr_peak") * self._number("weight_decay") * self._number("tokens_total")
        return self._number("batch_tokens") / product if product > 0 else float("nan")

    @property
    def irreducible_nats(self) -> float:
        """Irreducible loss L0 of the run's text [nats]; NaN where not known."""
        return self._number("irreducible_nats")

    @property
    def diverged(self) -> bool:
        """Whether the run is known to have diverged."""
        return self.facts.get("status") == "diverged"

    @property
    def finished(self) -> bool:
        """Whether the run came to its end, so that its final loss is known."""
        return bool(self.t_hat[-1] >= FINISHED) and not self.diverged

    @property
    def restart(self) -> str:
        """Restart in mid-course, empty where there was none."""
        return str(self.facts.get("restart") or "")

    def _number(self, name: str) -> float:
        value = self.facts.get(name)
        return float("nan") if value is None else float(value)

    @property
    def recipe(self) -> tuple[Any, ...]:
        """What two repeats with different seeds share."""
        shared = tuple(None if _is_nan(self.facts[name]) else self.facts[name] for name in RUN_COLUMNS)
        return (*shared, self.restart)


def curves_of(frame: pd.DataFrame, split: str, complete: bool = False) -> Iterator[Curve]:
    """Yield the curves of `split` in the order of the (validated) table.

    t_hat is tokens/tokens_total. Where these are not known, `complete` allows step/last step, which is right only
    for runs that were logged to their end. Raises CurveError for an unknown split, or without a way to t_hat.
    """
    rows = frame[frame["split"] == split]
    if rows.empty:
        known = ", ".join(sorted(map(str, frame["split"].unique()))) or "none"
        raise CurveError("curves", f"there is no curve of split {split!r}.", f"use one of: {known}")
    fact_names = [name for name in rows.columns if name not in {"step", "tokens", "loss", "lr", "difficulty_nats"}]
    for run, group in rows.groupby("run", sort=False, observed=True):
        tokens = group["tokens"].to_numpy(dtype=float, na_value=np.nan)
        steps = group["step"].to_numpy(dtype=float)
        facts = {name: group[name].iloc[0] for name in fact_names}
        difficulty = None
        if "difficulty_nats" in group:
            values = group["difficulty_nats"].to_numpy(dtype=float, na_value=np.nan)
            difficulty = values if np.isfinite(values).all() else None
        t_hat = _training_fraction(str(run), steps, tokens, float(facts["tokens_total"]), complete)
        loss = group["loss"].to_numpy(dtype=float)
        yield Curve(str(run), split, t_hat, loss, steps, tokens, difficulty, facts)


def _training_fraction(
    run: str, steps: np.ndarray, tokens: np.ndarray, tokens_total: float, complete: bool
) -> np.ndarray:
    if np.isfinite(tokens_total) and np.isfinite(tokens).all():
        t_hat = tokens / tokens_total
    elif complete:
        t_hat = steps / steps[-1]
    else:
        raise CurveError(
            run,
            "tokens or tokens_total are not known, so neither is the fraction of training.",
            "fill these columns, or say that runs are complete",
        )
    if t_hat[-1] > 1 + OVERSHOOT:
        raise CurveError(run, f"it saw {tokens[-1]:.6g} tokens, more than its total of {tokens_total:.6g}.")
    return np.minimum(t_hat, 1.0) if t_hat[-1] <= 1 + ROUNDING else t_hat / t_hat[-1]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and np.isnan(value)
