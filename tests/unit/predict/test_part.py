"""The part: what is used of it, how it is condensed, how noise is measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scaling_collapse.curves.normalise import TRAINING, VALIDATION
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.part import BINS, part_of
from tests.unit.curves.support import shape
from tests.unit.predict.support import grid, run, template


def test_the_window_is_the_last_half_of_the_part_and_nothing_later_is_read() -> None:
    curve = run("a", 3 * shape(grid(100)))
    curve.loss[30:] = np.nan
    part = part_of(curve, template(100), VALIDATION, at=0.3)
    assert part.progress == pytest.approx(0.3)
    assert part.t_hat[part.window] == pytest.approx(0.15)
    assert part.t_hat[-1] == pytest.approx(0.3)
    assert part.loss / part.template == pytest.approx(3.0)


def test_dense_parts_are_averaged_without_bias_and_bins_respect_the_window() -> None:
    curve = run("a", 3 * shape(grid(10_000)), split="train")
    part = part_of(curve, template(10_000), TRAINING, at=0.4)
    assert len(part.t_hat) <= BINS + 1
    assert part.count.sum() == 3_001
    assert part.loss / part.template == pytest.approx(3.0)
    assert part.t_hat[part.window - 1] < 0.2 < part.t_hat[part.window]
    assert part.count[part.window :].sum() == 2_001


def test_noise_is_that_of_the_points() -> None:
    random = np.random.default_rng(0)
    loss = 3 * shape(grid(10_000)) * (1 + 0.03 * random.standard_normal(10_000))
    part = part_of(run("a", loss, split="train"), template(10_000), TRAINING, at=0.5)
    assert part.noise == pytest.approx(0.03, rel=0.05)
    # The default smoothing's end window is 0.2 * sqrt(2500 / points) of training; a line's end has 2/sqrt(n) of noise.
    assert part.final_noise == pytest.approx(0.03 * 2 / np.sqrt(0.1 * 10_000), rel=0.05)


def test_what_is_within_warm_up_is_not_aligned() -> None:
    curve = run("a", 3 * shape(grid(100)))
    assert part_of(curve, template(100), VALIDATION, at=0.15, warmup=0.1).t_hat[-6:] == pytest.approx(grid(100)[9:15])
    part = part_of(curve, template(100), VALIDATION, at=0.15, warmup=0.1)
    assert part.t_hat[part.window] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("at", "warmup", "message"),
    [
        (0.08, 0.1, r"a: its 8.0% of training lie within warm-up, which ends at 10.0%"),
        (0.004, 0.0, r"a: it has 0 point\(s\) up to 0.004 of training"),
        (0.015, 0.0, r"a: it has 1 point\(s\)"),
        (0.11, 0.105, r"a: 1 point\(s\) in the last half of its 11.0% after warm-up; need 2"),
    ],
)
def test_too_little_is_refused_in_one_line_that_names_the_number(at: float, warmup: float, message: str) -> None:
    with pytest.raises(CurveError, match=message) as caught:
        part_of(run("a", 3 * shape(grid(100))), template(100), VALIDATION, at, warmup)
    assert "\n" not in str(caught.value)


def test_one_point_is_too_little_whether_it_is_all_or_cut_off() -> None:
    curve = run("a", 3 * shape(grid(2)))
    with pytest.raises(CurveError, match=r"1 point\(s\) up to 0.5 of training"):
        part_of(curve, template(), VALIDATION, at=0.5)
    one = replace(curve, **{name: getattr(curve, name)[:1] for name in ("t_hat", "loss", "steps", "tokens")})
    with pytest.raises(CurveError, match=r"1 point\(s\) up to 1 of training"):
        part_of(one, template(), VALIDATION)
