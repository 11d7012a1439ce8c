"""Back-tests on real public curves, through the commands: what a user gets who installs the package and types them.

Bars are those of issue 4. Nothing was tuned on these families: constants come from `cpu` scale or from theory.
"""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from functools import cache
from typing import Any

import numpy as np
import pytest

from scaling_collapse.cli.app import main
from scaling_collapse.predict.methods import METHODS
from tests.house.files import ROOT

PUBLIC = ROOT.parent / "shared" / "curves"
pytestmark = pytest.mark.skipif(not PUBLIC.exists(), reason="the public curves are not beside this checkout")

LADDER, GEMSTONES, MPL = (str(PUBLIC / f"{name}.csv") for name in ("olmo_ladder_c4", "gemstones", "mpl"))

#: Table, runs, template: the smallest model of each family. MPL has no token counts.
FAMILIES = {
    "ladder 20": [LADDER, "--run", "*-1xC-rerun", "--template", "190M-1xC-rerun"],
    "ladder 40": [LADDER, "--run", "*-2xC", "--template", "190M-2xC"],
    "ladder 100": [LADDER, "--run", "*-5xC", "--template", "190M-5xC"],
    "ladder 200": [LADDER, "--run", "*-10xC", "--template", "190M-10xC"],
    "gemstones": [GEMSTONES, "--run", "*|hot_477", "--template", "PyGemma-256x23_pretrain|hot_477"],
    "mpl cosine 24k": [MPL, "--run", "*_cosine_24000", "--template", "25M_cosine_24000", "--complete"],
}
RUNS = dict(zip(FAMILIES, (4, 4, 4, 4, 21, 2), strict=True))
AT = (0.2, 0.3)
SINGLE = tuple(method for method in METHODS if method != "kriging")  # what others can do today

#: Wrong template: 20 tokens per parameter for runs of 200, a factor of ten in tau as well.
WRONG = [LADDER, "--run", "[1-9]B-10xC", "--run", "[37]?0M-10xC", "--template", "190M-1xC-rerun"]


@cache
def predicted(family: str, at: float, method: str = "auto", siblings: str = "") -> list[dict[str, Any]]:
    """What `collapse predict --json` prints for a family at a fraction of training."""
    words = FAMILIES.get(family, WRONG)
    return of_command(["predict", *words, "--at", str(at), "--method", method, "--siblings", siblings])  # type: ignore[no-any-return]


def of_command(words: list[str]) -> Any:
    """The JSON that a command prints."""
    with redirect_stdout(io.StringIO()) as said:
        assert main([*words, "--json"]) == 0
    return json.loads(said.getvalue())


def error(found: list[dict[str, Any]]) -> float:
    """Mean absolute error [percent] of the runs that have a value."""
    pairs = [(entry["predicted_final_loss"], entry["true_final_loss"]) for entry in found]
    return float(np.mean([100 * abs(value / true - 1) for value, true in pairs if value is not None]))


def covered(found: list[dict[str, Any]]) -> list[bool]:
    return [e["low"] <= e["true_final_loss"] <= e["high"] for e in found if e["low"] is not None]


def half_widths(found: list[dict[str, Any]]) -> list[float]:
    return [50 * (e["high"] - e["low"]) / e["predicted_final_loss"] for e in found if e["low"] is not None]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_choice_is_within_15_percent_of_the_best_single_method_from_20_percent_on(family: str) -> None:
    for at in AT:
        assert len(predicted(family, at)) == RUNS[family]
        assert error(predicted(family, at)) <= 1.15 * min(error(predicted(family, at, method)) for method in SINGLE)


def test_the_choice_is_better_on_average_than_every_single_method() -> None:
    def mean(method: str) -> float:
        return float(np.mean([error(predicted(family, at, method)) for family in FAMILIES for at in AT]))

    assert mean("auto") < min(mean(method) for method in SINGLE)


def test_at_20_tokens_per_parameter_and_30_percent_of_training() -> None:
    assert error(predicted("ladder 20", 0.3)) <= 0.40


@pytest.mark.parametrize("at", [0.1, *AT])
def test_a_wrong_template_is_flagged_on_all_four_runs_and_a_right_one_on_none(at: float) -> None:
    wrong = predicted("wrong", at)
    assert sorted(entry["run"] for entry in wrong) == ["1B-10xC", "370M-10xC", "3B-10xC", "760M-10xC"]
    for entry in wrong:
        words = " ".join(entry["warnings"])
        assert "tokens per parameter is 9.99 times that of template 190M-1xC-rerun" in words
        assert "tau is 0." in words
    matched = [entry for family in FAMILIES if family.startswith("ladder") for entry in predicted(family, at)]
    assert [entry["warnings"] for entry in matched] == [[]] * 16


@pytest.mark.parametrize("siblings", ["", "smaller"])
def test_90_percent_intervals_cover_85_to_95_percent(siblings: str) -> None:
    found = [entry for family in FAMILIES for at in (0.1, *AT) for entry in predicted(family, at, "auto", siblings)]
    inside = covered(found)
    assert len(inside) == 3 * sum(RUNS.values())
    covering, width = 100 * np.mean(inside), np.median(half_widths(found))
    print(f"{covering:.1f}% of {len(inside)} covered, median half-width {width:.2f}%")
    assert 85 <= covering <= 95


def test_siblings_help_and_those_of_other_recipes_in_the_same_table_do_no_harm() -> None:
    alone, helped = (
        np.mean([error(predicted(family, at, "auto", siblings)) for family in FAMILIES for at in AT])
        for siblings in ("", "smaller")
    )
    assert helped < alone


def test_the_surrogate_of_the_smallest_models_describes_the_larger_ones() -> None:
    """Others reach .23 to .39% on 370M to 3B."""
    found = of_command(["fit", LADDER, "--size", "190M", "--draws", "50"])
    assert [entry["size"] for entry in found["held_out"]] == ["371M", "758M", "1.3B", "3.2B"]
    errors = [entry["mae_percent"] for entry in found["held_out"]]
    assert np.mean(errors) <= 0.39
    assert max(errors) <= 0.39
    assert found["confounded"]
    assert any("tau and TPP are confounded (tau ~ TPP^-1.00)" in text for text in found["warnings"])


def test_the_published_surrogate_claims_no_more_on_another_family_than_it_can() -> None:
    """Constants of models of 105k parameters miss by several percent here; the intervals must say so."""
    found = of_command(["predict", LADDER, "--template", "surrogate", "--at", "0.3"])
    assert len(found) == 30
    assert error(found) > 2
    assert np.mean(covered(found)) >= 0.9
    assert all(any("fitted to other models" in text for text in entry["warnings"]) for entry in found)
