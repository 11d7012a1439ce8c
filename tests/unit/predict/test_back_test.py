"""The back-test harness: its table, its summaries, and coverage on families drawn at random."""

from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.predict.back_test import back_test, coverage, errors, next_smaller, smallest
from scaling_collapse.predict.methods import KRIGING, LEAST_SQUARES
from scaling_collapse.predict.predict import AUTO
from tests.unit.curves.support import shape
from tests.unit.predict.support import family, grid, run


def test_the_table_has_a_row_for_each_run_progress_and_method() -> None:
    rows = back_test({"exact": family(3)}, (0.2, 0.5), methods=(AUTO, LEAST_SQUARES))
    assert len(rows) == 2 * 2 * 2
    assert set(rows["template"]) == {"r0"}
    assert rows["covered"].all()
    assert rows["error_percent"].abs().max() < 0.02
    assert errors(rows).loc[("exact", 0.2), AUTO] == pytest.approx(0, abs=0.02)


def test_errors_are_means_of_absolute_errors() -> None:
    exact = shape(grid())
    curves = [run("r0", 4 * exact), run("a", 3 * exact * np.where(grid() > 0.9, 1.01, 1.0), size_params=2e8)]
    curves.append(run("b", 3 * exact * np.where(grid() > 0.9, 0.99, 1.0), size_params=4e8))
    rows = back_test({"f": curves}, (0.3,), methods=(LEAST_SQUARES,))
    assert sorted(rows["error_percent"]) == pytest.approx([100 * (1 / 1.01 - 1), 100 * (1 / 0.99 - 1)], abs=0.01)
    assert errors(rows)[LEAST_SQUARES].iloc[0] == pytest.approx(1.0, abs=0.02)


def test_template_rules() -> None:
    curves = family(4)
    made = [smallest(curves, curve) for curve in curves]
    assert [t.source if t else None for t in made] == [None, "r0", "r0", "r0"]
    made = [next_smaller(curves, curve) for curve in curves]
    assert [t.source if t else None for t in made] == [None, "r0", "r1", "r2"]


def test_refusals_are_rows_without_a_value_and_do_not_count_for_coverage() -> None:
    curves = [*family(2), run("other", 3 * shape(grid()), size_params=4e8, schedule="constant")]
    rows = back_test({"f": curves}, (0.3,), methods=(AUTO,))
    other = rows[rows["run"] == "other"].iloc[0]
    assert other["covered"] is None
    assert other["flagged"]
    assert coverage(rows)["predictions"] == 1


def test_ninety_percent_intervals_cover_noisy_families() -> None:
    random, families = np.random.default_rng(0), {}
    for number in range(30):
        noisy = [
            run(c.run, c.loss * (1 + 0.004 * random.standard_normal(60)), size_params=c.size_params) for c in family(4)
        ]
        families[f"f{number}"] = noisy
    rows = back_test(families, (0.2, 0.4), siblings="smaller", methods=(AUTO, KRIGING))
    found = coverage(rows)
    assert found["predictions"] == 180
    assert 85 <= found["covered_percent"] <= 100
    assert 0.5 < found["median_half_width_percent"] < 3
