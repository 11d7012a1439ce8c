from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

MODELS = Path(__file__).parents[3] / "data" / "published" / "models.csv"
TASKS = ["arc_challenge_25", "arc_easy_0", "boolq_0", "hellaswag_10", "piqa_0", "siqa_0", "winogrande_5"]


@pytest.fixture(scope="module")
def models():
    return pd.read_csv(MODELS)


def test_all_rows_of_table_10(models):
    assert len(models) == 61
    assert models["name"].is_unique
    assert not models.isna().any().any()
    assert list(models.columns) == ["name", "family", "params", "tokens", "flops", *TASKS, "average"]


def test_printed_average_is_the_mean_of_the_seven_tasks(models):
    # Tasks and average are printed to 0.01: at most half of it each.
    assert models[TASKS].mean(axis=1).to_numpy() == pytest.approx(models["average"].to_numpy(), abs=0.0101)


def test_celerity_rows_are_those_of_section_5(models):
    celerity = models[models["family"] == "Celerity"]
    assert celerity["average"].tolist() == [46.43, 51.40, 54.23, 61.00, 65.28]
    assert celerity["flops"].tolist() == [1.47e20, 5.15e20, 1.68e21, 6.54e21, 2.89e22]
    assert (celerity["tokens"] / celerity["params"]).to_numpy() == pytest.approx([234] * 5, rel=0.01)
