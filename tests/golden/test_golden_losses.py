"""The first losses of a fixed tiny run. A change here means that every result of the project changes.

If that is meant: `pytest tests/golden --force-regen` (it fails once, and writes the new files); say why in the commit.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from pytest_regressions.num_regression import NumericRegressionFixture

from scaling_collapse.train.loop import train_run
from tests.unit.train.train_room import tiny_run, write_corpus

#: Other CPUs sum in another order: with SSE or AVX2 kernels instead of AVX-512 the losses differ by 1e-7.
RELATIVE_TOLERANCE = 1e-4
RECIPES = {
    "swiglu_completep": {},
    "squared_relu_untied_mup": {
        "model": {**tiny_run().model.model_dump(), "activation": "squared_relu", "tied_embeddings": False},
        "parameterisation": {"kind": "mup", "base_width": 8, "base_layers": 1},
        "schedule": {"kind": "cosine"},
    },
    "mixture_biases_standard": {
        "model": {**tiny_run().model.model_dump(), "experts": 4, "biases": True},
        "parameterisation": {"kind": "standard"},
        "schedule": {"kind": "wsd"},
    },
}


@pytest.mark.parametrize("recipe", RECIPES)
def test_first_losses(tmp_path: Path, num_regression: NumericRegressionFixture, recipe: str) -> None:
    run, paths = tiny_run(steps=20, validations=2, **RECIPES[recipe]), write_corpus(tmp_path)
    train_run(run, paths)
    train, validation = (pd.read_parquet(paths.run(run.run_id) / f"{t}.parquet") for t in ("train", "validation"))
    columns = {
        "loss_nats": train.loss_nats.to_numpy(),
        "gradient_norm": train.gradient_norm.to_numpy(),
        "learning_rate": train.learning_rate.to_numpy(),
        "validation_loss_nats": validation.loss_nats.to_numpy(),
    }
    num_regression.check(columns, default_tolerance={"rtol": RELATIVE_TOLERANCE, "atol": 0.0})
