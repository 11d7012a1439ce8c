"""Real public curves: the errors that others reach are reproduced, then undercut; wrong templates are flagged."""

from __future__ import annotations

from functools import cache

import pandas as pd
import pytest

from scaling_collapse.curves.curve import Curve
from scaling_collapse.predict.back_test import back_test, coverage, errors
from scaling_collapse.predict.methods import AFFINE, ALIGNMENTS, LEAST_SQUARES, POWER_LAW
from scaling_collapse.predict.predict import AUTO
from scaling_collapse.predict.template import Template
from tests.unit.predict.support import public, public_families, unsmoothed

pytestmark = public
AT = (0.1, 0.2, 0.3)
SINGLE = (*ALIGNMENTS, POWER_LAW)

#: Mean absolute errors [percent] at 10, 20 and 30% that others reach with alignment by least squares and affine.
PLAIN = {
    "ladder 20": (2.46, 0.88, 0.51),
    "ladder 40": (0.88, 0.33, 0.23),
    "ladder 100": (0.25, 0.21, 0.19),
    "ladder 200": (0.28, 0.20, 0.16),
    "gemstones": (4.8, 3.1, 2.2),
    "mpl cosine 24k": (3.6, 3.8, 3.0),
}
WITH_AFFINE = {
    "ladder 20": (2.89, 0.58, 0.37),
    "ladder 200": (0.33, 0.19, 0.20),
    "gemstones": (2.7, 0.45, 0.20),
    "mpl cosine 24k": (None, 2.4, 0.6),
}


def smallest_raw(curves: list[Curve], run: Curve) -> Template | None:
    return None if run.run == curves[0].run else unsmoothed(curves[0])


@cache
def rows(siblings: str = "none") -> pd.DataFrame:
    return back_test(public_families(), AT, rule=smallest_raw, siblings=siblings)  # type: ignore[arg-type]


@pytest.mark.parametrize(("method", "bars"), [(LEAST_SQUARES, PLAIN), (AFFINE, WITH_AFFINE)])
def test_what_others_reach_is_reproduced(method: str, bars: dict[str, tuple[float | None, ...]]) -> None:
    found = errors(rows())[method]
    for family, expected in bars.items():
        for progress, value in zip(AT, expected, strict=True):
            if value is not None:
                digits = 0.005 if value < 3 and family.startswith("ladder") else 0.05
                assert found[(family, progress)] == pytest.approx(value, abs=1.3 * digits), (family, progress)


@pytest.mark.parametrize("family", PLAIN)
def test_the_choice_is_within_15_percent_of_the_best_single_method_from_20_percent_on(family: str) -> None:
    found = errors(rows()).loc[family]
    for progress in (0.2, 0.3):
        assert found.loc[progress, AUTO] <= 1.15 * found.loc[progress, list(SINGLE)].min(), progress


def test_the_choice_is_better_on_average_than_every_single_method() -> None:
    found = errors(rows())
    late = found[found.index.get_level_values("progress") >= 0.2].mean()
    assert (late[AUTO] < 0.7 * late[list(SINGLE)]).all()
    assert found.loc[("ladder 20", 0.3), AUTO] <= 0.40


def test_finished_siblings_help() -> None:
    late = [errors(rows(kind)).query("progress >= 0.2")[AUTO].mean() for kind in ("none", "smaller")]
    assert late[1] < late[0]


def test_intervals_cover() -> None:
    for kind in ("none", "smaller"):
        assert 85 <= coverage(rows(kind))["covered_percent"] <= 99


def test_a_template_of_ten_times_fewer_tokens_per_parameter_is_flagged_on_all_runs_and_no_matched_one_is() -> None:
    families = public_families()
    wrong = unsmoothed(families["ladder 20"][0])
    found = back_test({"wrong": families["ladder 200"][1:]}, AT, rule=lambda _, run: wrong)
    plain = errors(found)[LEAST_SQUARES]
    assert list(plain) == pytest.approx([15.6, 7.6, 4.8], abs=0.05)
    assert len(found) == 4 * len(AT) * 7
    assert found["flagged"].all()
    assert found["warnings"].str.contains("tokens per parameter is 9.99 times").all()
    assert found["warnings"].str.contains("tau is 0.0").all()
    late = found[(found["progress"] >= 0.2) & (found["method"] == AUTO)]
    assert late["covered"].all()
    matched = rows()[rows()["family"].str.startswith("ladder")]
    assert not matched["flagged"].any()


def test_the_shape_alone_betrays_the_wrong_template() -> None:
    families = public_families()
    raw = unsmoothed(families["ladder 20"][0])
    blind = Template(raw.t_hat, raw.normalised, "no facts", tpp=200.0, tau=float("nan"), size_params=raw.size_params)
    found = back_test({"wrong": families["ladder 200"][1:]}, AT, rule=lambda _, run: blind, methods=(AUTO,))
    assert found["warnings"].str.contains("times as steeply as expected").all()
