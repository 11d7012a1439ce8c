"""Predictions of single runs and lists of them: exact families, invariances, intervals, refusals."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaling_collapse.errors import ConfigError, CurveError
from scaling_collapse.predict.methods import ALIGNMENTS, KRIGING, METHODS
from scaling_collapse.predict.predict import AUTO, Settings, predict_curves, predict_run
from scaling_collapse.predict.prediction import FINISHED, REFUSED
from scaling_collapse.predict.template import Template, template_of
from tests.unit.curves.support import shape
from tests.unit.predict.support import family, grid, run, template


@pytest.mark.parametrize("method", [AUTO, KRIGING, *ALIGNMENTS])
@pytest.mark.parametrize("at", [0.15, 0.3, 0.8])
def test_a_family_that_collapses_is_predicted_exactly(method: str, at: float) -> None:
    for prediction in predict_curves(family(), template(), at, settings=Settings(method=method)):
        assert prediction.error_percent == pytest.approx(0, abs=0.02)
        assert prediction.warnings == ()
        assert prediction.low is not None
        assert prediction.high is not None
        assert prediction.predicted_final_loss is not None
        assert prediction.low < prediction.predicted_final_loss < prediction.high


@given(factor=st.floats(0.01, 100), seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_units_of_the_loss_do_not_matter(factor: float, seed: int) -> None:
    loss = 3 * shape(grid()) * (1 + 0.01 * np.random.default_rng(seed).standard_normal(60))
    one, other = (predict_run(run("a", scale * loss), template(), 0.4) for scale in (1.0, factor))
    assert other.method == one.method
    assert other.predicted_final_loss == pytest.approx(factor * (one.predicted_final_loss or 0), rel=1e-6)
    assert other.half_width_percent == pytest.approx(one.half_width_percent, rel=1e-6)


def test_the_future_is_not_read() -> None:
    curve = family()[1]
    changed = replace(curve, loss=np.where(curve.t_hat > 0.3, 9.0, curve.loss))
    a, b = predict_run(curve, template(), 0.3), predict_run(changed, template(), 0.3)
    assert a.predicted_final_loss == b.predicted_final_loss
    assert b.true_final_loss == 9.0


def test_a_run_in_progress_is_predicted_at_its_last_point() -> None:
    curve = family()[1]
    half = curve.t_hat <= 0.5
    going = replace(curve, **{name: getattr(curve, name)[half] for name in ("t_hat", "loss", "steps", "tokens")})
    prediction = predict_run(going, template())
    assert prediction.progress == pytest.approx(0.5)
    assert prediction.true_final_loss is None
    assert "true_final_loss" not in prediction.as_json()
    assert prediction.predicted_final_loss == pytest.approx(curve.loss[-1], rel=1e-3)


def test_a_diverged_run_is_refused() -> None:
    with pytest.raises(CurveError, match="it diverged"):
        predict_run(run("a", 3 * shape(grid()), status="diverged"), template(), 0.3)


def test_a_finished_run_is_its_own_prediction() -> None:
    prediction = predict_run(family()[0], template())
    assert (prediction.method, prediction.predicted_final_loss, prediction.deviation) == (FINISHED, 4.0, 0.0)


def test_the_json_is_as_specified_and_serialises() -> None:
    keys = {"run", "progress", "predicted_final_loss", "low", "high", "method", "warnings"}
    found = [p.as_json() for p in predict_curves(family(), template(), 0.3)]
    assert set(found[0]) == keys | {"true_final_loss"}
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    late = predict_curves(family(), template(), 0.01)[0]
    assert late.as_json()["predicted_final_loss"] is None
    assert json.dumps(late.as_json(), allow_nan=False)


def test_wider_than_asked_is_warned_of_with_both_numbers() -> None:
    prediction = predict_run(family()[0], template(), 0.3, settings=Settings(max_half_width_percent=0.01))
    assert any("wider than the +-0.01% asked for" in text for text in prediction.warnings)
    assert predict_run(family()[0], template(), 0.3, settings=Settings(max_half_width_percent=50)).warnings == ()


def test_uncertainty_shrinks_with_progress_and_grows_with_noise() -> None:
    random = np.random.default_rng(0)
    noisy = run("a", 3 * shape(grid()) * (1 + 0.02 * random.standard_normal(60)))
    widths = [predict_run(family()[0], template(), at).half_width_percent for at in (0.2, 0.4, 0.8)]
    assert widths == sorted(widths, reverse=True)
    assert predict_run(noisy, template(), 0.4).half_width_percent > widths[1]


def test_a_shape_of_another_recipe_is_flagged_without_metadata() -> None:
    exact = template()
    curve = run("a", 3 * (1 + 0.3 * (exact.normalised - 1)))
    (text,) = predict_run(curve, exact, 0.3).warnings
    assert "times as steeply as expected of the template" in text


def test_what_cannot_be_predicted_is_in_the_list_and_says_why() -> None:
    curves = [*family(2), run("other", 3 * shape(grid()), schedule="constant")]
    last = predict_curves(curves, template(), 0.3)[-1]
    assert (last.method, last.predicted_final_loss) == (REFUSED, None)
    assert "its schedule is constant" in last.warnings[0]
    mapped = predict_curves(family(2), {"r0": template()}, 0.3)
    assert mapped[0].predicted_final_loss is not None
    assert "there is no template for it" in mapped[1].warnings[0]


def test_smaller_siblings_are_used_and_never_larger_ones_or_itself() -> None:
    curves = family(4)
    found = predict_curves(curves, template_of(curves[0]), 0.3, "smaller")
    assert [p.run for p in found] == ["r1", "r2", "r3"]
    assert [f"{n} finished sibling(s)" in p.reason for n, p in enumerate(found)] == [True, True, True]


@pytest.mark.parametrize("at", [0.0, -0.1, 1.2, float("nan")])
def test_fractions_outside_training_are_refused(at: float) -> None:
    with pytest.raises(CurveError, match="no fraction of training"):
        predict_run(family()[0], template(), at)


def test_unknown_methods_are_refused_with_the_list() -> None:
    with pytest.raises(ConfigError, match="there is no 'magic'") as caught:
        Settings(method="magic")
    assert all(method in str(caught.value) for method in METHODS)


def test_a_flat_run_is_refused() -> None:
    """Its value would be far off, and would stop good runs of a sweep."""
    flat = run("flat", np.full(60, 3.0))
    with pytest.raises(CurveError, match="flat: its loss is 3 at every step, which is no training curve"):
        predict_run(flat, template(), 0.3)


def test_a_flat_template_leaves_affine_without_a_value() -> None:
    level = Template(grid(), np.ones(60), "level")
    with pytest.raises(CurveError, match="affine has no value"):
        predict_run(family()[0], level, 0.3, settings=Settings(method="affine"))


def test_smaller_runs_of_another_recipe_are_no_siblings() -> None:
    """The errors of runs that do not fit the template say nothing of a run that does."""
    matched, other = family(4), family(3, tpp=200.0)
    strangers = [replace(curve, run=f"x{curve.run}") for curve in other]
    found = predict_curves([*matched, *strangers], template_of(matched[0]), 0.3, "smaller")
    reasons = {p.run: p.reason for p in found}
    assert "2 finished sibling(s)" in reasons["r3"]
    assert "3 finished sibling(s)" in reasons["xr2"]  # r1, xr0, xr1: none is further from the template
