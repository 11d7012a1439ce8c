"""Families of curves with known truths, and the public curves where this checkout has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.curves.table import read_curves
from scaling_collapse.predict.template import Template
from tests.unit.curves.support import PUBLIC, shape

public = pytest.mark.skipif(not PUBLIC.exists(), reason="the public curves are not here")
FACTS = {"tokens_total": 2e9, "batch_tokens": 1e5, "lr_peak": 0.01, "weight_decay": 0.1, "schedule": "linear_to_zero"}


def grid(points: int = 60) -> np.ndarray:
    """Fractions of training, evenly spaced up to 1."""
    return np.arange(1, points + 1) / points


def run(name: str, loss: np.ndarray, split: str = "validation", tpp: float = 20.0, **facts: Any) -> Curve:
    """Return a finished run with `loss` at evenly spaced fractions; its tau is known and equal for all unless given."""
    t_hat = grid(len(loss))
    known = FACTS | {"size_params": 1e8, "tpp": tpp, "tau": 0.2, "seed": 0.0} | facts
    return Curve(name, split, t_hat, loss, 100 * t_hat * len(loss), t_hat * known["tokens_total"], None, known)


def family(sizes: int = 4, points: int = 60, **facts: Any) -> list[Curve]:
    """Return runs that collapse exactly; the larger, the lower their loss."""
    l_of_t = shape(grid(points))
    return [run(f"r{i}", (4.0 - 0.3 * i) * l_of_t, size_params=1e8 * 2**i, **facts) for i in range(sizes)]


def template(points: int = 60, **facts: Any) -> Template:
    """Return the curve on which `family` collapses."""
    known = {"tpp": 20.0, "tau": 0.2, "schedule": "linear_to_zero"} | facts
    return Template(grid(points), shape(grid(points)), "exact", **known)


def rows_of(curves: list[Curve]) -> pd.DataFrame:
    """Return the tidy table of curves, whose learning rate warms up over the first tenth."""
    return pd.concat(list(_tables(curves)), ignore_index=True)


def _tables(curves: list[Curve]) -> Iterator[pd.DataFrame]:
    for curve in curves:
        eta = np.minimum(curve.t_hat / 0.1, (1 - curve.t_hat) / 0.9)
        columns = {"run": curve.run, "step": curve.steps.round(), "tokens": curve.tokens, "loss": curve.loss}
        yield pd.DataFrame(columns | {"lr": 0.01 * eta, "split": curve.split} | curve.facts)


def public_families() -> dict[str, list[Curve]]:
    """Return the families of the issue's bars, smallest run first."""
    ladder = list(curves_of(read_curves(PUBLIC / "olmo_ladder_c4.csv"), "val_c4"))
    gemstones = list(curves_of(read_curves(PUBLIC / "gemstones.csv"), "loss"))
    mpl = list(curves_of(read_curves(PUBLIC / "mpl.csv"), "val", complete=True))
    bands = {"20": "1xC-rerun", "40": "2xC", "100": "5xC", "200": "10xC"}
    found = {f"ladder {tpp}": [c for c in ladder if c.run.endswith(f"-{name}")] for tpp, name in bands.items()}
    found["gemstones"] = [c for c in gemstones if c.facts["schedule"] == "constant_lr"]
    found["mpl cosine 24k"] = [c for c in mpl if c.facts["schedule"] == "cosine_24000"]
    return {name: sorted(curves, key=lambda c: c.size_params) for name, curves in found.items()}


def unsmoothed(curve: Curve) -> Template:
    """Return a run's raw losses over its last as template, with what is known of it."""
    schedule = str(curve.facts["schedule"])
    return Template(
        curve.t_hat,
        curve.loss / curve.loss[-1],
        curve.run,
        curve.tpp,
        curve.tau,
        schedule,
        curve.size_params,
        curve.steps[-1],
    )
