"""Sweeps that are stopped early, as figures see them: what each rule costs and errs, and where templates come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from scaling_collapse.curves.curve import curves_of
from scaling_collapse.curves.family import size_name
from scaling_collapse.errors import FigureError
from scaling_collapse.figures.context import FigureContext
from scaling_collapse.predict.early_stop import RANKING, regret_curves
from scaling_collapse.predict.predict import Settings, known_final_loss, predict_curves
from scaling_collapse.predict.sweep_templates import SweepTemplates, seed_deviation_percent, sweep_templates
from scaling_collapse.predict.table import warmup_ends

WEIGHT_DECAY = ("weight_decay_sweep_small", "weight_decay_sweep_large")
BATCH = ("batch_sweep_small", "batch_sweep_large")

#: Runs of one recipe that differ in their seeds alone.
REPEATS = "seed_repeats"

#: Stop points: every 5% of training.
STOPS = np.arange(1, 20) / 20

RULES = {"random": "random", "current_best": "current best", "predicted_best": "predicted best"}


@dataclass(frozen=True)
class Sweep:
    """One sweep. `rules`: a row a stop point and rule (see `regret_curves`); `predictions`: a row a stop point and run.

    The latter has columns panel, run, progress, predicted_final_loss, true_final_loss [nats], tau, batch_tokens,
    weight_decay.
    """

    group: str
    size: str
    tpp: float
    templates: SweepTemplates
    rules: pd.DataFrame
    predictions: pd.DataFrame

    @property
    def title(self) -> str:
        """Size and tokens per parameter."""
        return f"{self.size}, {self.tpp:.0f} TPP"


def settings_of(context: FigureContext, sweep: pd.DataFrame) -> Settings:
    """Return how the runs of a sweep are predicted: aligned by least squares, smoothed as the scale says.

    No offset is subtracted, and nothing before the end of a run's warm-up is used.
    """
    normalisation = replace(context.normalisation("train"), offset=0.0)
    return replace(RANKING, normalisation=normalisation, warmup=warmup_ends(sweep))


def measure(group: str, curves: Mapping[str, pd.DataFrame], context: FigureContext) -> Sweep:
    """Return the sweep `group`; templates come from runs of other sizes in all of `curves`.

    Raises FigureError where fewer than two of its runs finished or no template can be had.
    """
    sweep, settings = curves[group], settings_of(context, curves[group])
    runs = list(curves_of(sweep, "train"))
    finished = [run for run in runs if known_final_loss(run, settings) is not None]
    if len(finished) < 2:
        raise FigureError(f"figure, {group}", f"{len(finished)} run(s) finished; a sweep needs two.", "train them")
    templates = sweep_templates(sweep, pool_of(curves), normalisation=settings.normalisation)
    return Sweep(
        group=group,
        size=size_name(finished[0]),
        tpp=finished[0].tpp,
        templates=templates,
        rules=regret_curves(finished, templates.by_run, STOPS.tolist(), settings).assign(panel=group),
        predictions=predictions_of(group, curves, templates, STOPS.tolist(), settings),
    )


def pool_of(curves: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the runs that templates may come from: all of a figure's but the repeats."""
    return pd.concat([table for group, table in curves.items() if group != REPEATS], ignore_index=True)


def predictions_of(
    group: str,
    curves: Mapping[str, pd.DataFrame],
    templates: SweepTemplates,
    stops: Sequence[float],
    settings: Settings,
) -> pd.DataFrame:
    """Return the predicted and true final loss [nats] of each finished run of a sweep at each stop point."""
    runs = {run.run: run for run in curves_of(curves[group], "train") if known_final_loss(run, settings) is not None}
    rows = [
        {
            "panel": group,
            "run": found.run,
            "progress": stop,
            "predicted_final_loss": found.predicted_final_loss,
            "true_final_loss": found.true_final_loss,
            "tau": runs[found.run].tau,
            "batch_tokens": float(runs[found.run].facts["batch_tokens"]),
            "weight_decay": float(runs[found.run].facts["weight_decay"]),
        }
        for stop in stops
        for found in predict_curves(list(runs.values()), templates.by_run, stop, settings=settings)
    ]
    return pd.DataFrame(rows)


def seed_noise(curves: Mapping[str, pd.DataFrame], context: FigureContext) -> float:
    """Return the standard deviation of the final loss over seeds [percent]; NaN where nothing was repeated."""
    if REPEATS not in curves:
        return float("nan")
    repeats = curves[REPEATS]
    return seed_deviation_percent(list(curves_of(repeats, "train")), settings_of(context, repeats))
