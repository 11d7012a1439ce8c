"""L(T) from smaller scales alone."""

from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.curves.curve import Curve
from scaling_collapse.errors import CurveError
from scaling_collapse.predict.family_law import LAW_DEVIATION, predict_from_family
from tests.unit.curves.support import shape
from tests.unit.predict.support import grid, run


def scaled(size: float, offset: float = 0.0, **facts: float) -> Curve:
    tokens = 20 * size
    final = offset + 40 * (size * tokens) ** -0.07
    return run(f"n{size:g}", final * shape(grid()), size_params=size, **({"tokens_total": tokens} | facts))


def test_a_power_law_is_continued() -> None:
    sizes = [1e8, 2e8, 4e8]
    found = predict_from_family(scaled(1.6e9), [scaled(size) for size in sizes])
    assert found.error_percent == pytest.approx(0, abs=1e-6)
    assert found.deviation == pytest.approx(LAW_DEVIATION)
    assert found.progress == 0


def test_from_four_scales_on_an_offset_is_weighed_and_widens() -> None:
    sizes = [1e8, 2e8, 4e8, 8e8]
    found = predict_from_family(scaled(6.4e9, 1.5), [scaled(size, 1.5) for size in sizes])
    slope, intercept = np.polyfit(np.log(sizes), np.log([scaled(size, 1.5).loss[-1] for size in sizes]), 1)
    plain, true = np.exp(intercept + slope * np.log(6.4e9)), scaled(6.4e9, 1.5).loss[-1]
    assert found.predicted_final_loss == pytest.approx(np.sqrt(plain * true), rel=1e-4)  # the law with offset is exact
    assert found.deviation == pytest.approx(np.hypot(LAW_DEVIATION, np.log(true / plain) / 2), rel=1e-2)
    assert found.low is not None
    assert found.low <= true


def test_without_tokens_size_alone_is_x() -> None:
    unknown = {"tokens_total": float("nan")}
    curves = [run(f"n{s:g}", 5 * s**-0.05 * shape(grid()), size_params=s) for s in (1e8, 2e8, 4e8)]
    for curve in curves:
        curve.facts.update(unknown)
    assert predict_from_family(curves[2], curves[:2]).error_percent == pytest.approx(0, abs=1e-6)


def test_other_tokens_per_parameter_are_flagged() -> None:
    odd = scaled(4e8, tpp=80.0)
    (text,) = predict_from_family(odd, [scaled(1e8), scaled(2e8)]).warnings
    assert "4 times those of a run that the law goes through" in text


@pytest.mark.parametrize(("sizes", "message"), [([1e8], "1 finished scale"), ([], "0 finished scale")])
def test_too_few_scales_are_refused(sizes: list[float], message: str) -> None:
    with pytest.raises(CurveError, match=message):
        predict_from_family(scaled(1e9), [scaled(size) for size in sizes])
    with pytest.raises(CurveError, match="parameters of a run"):
        predict_from_family(scaled(float("nan"), tokens_total=1e9), [scaled(1e8), scaled(2e8)])
