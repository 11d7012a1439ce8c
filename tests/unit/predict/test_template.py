"""Templates: from finished runs, from arrays, from a surrogate; what is no template is refused."""

from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.errors import CurveError
from scaling_collapse.predict.surrogate_template import corrected_template, surrogate_template
from scaling_collapse.predict.template import Template, template_of
from tests.unit.curves.support import shape
from tests.unit.predict.support import family, grid, run


def surrogate(t_hat: np.ndarray, tau: float, tpp: float, schedule: str) -> np.ndarray:
    assert schedule == "linear_to_zero"
    return shape(t_hat, tau, tpp)


def test_a_finished_run_becomes_its_normalised_curve_with_its_facts() -> None:
    made = template_of(family()[1])
    assert made.normalised == pytest.approx(shape(grid()))
    assert (made.source, made.tpp, made.tau, made.schedule, made.size_params) == ("r1", 20, 0.2, "linear_to_zero", 2e8)
    assert made.steps == pytest.approx(6000)
    assert made.at(np.array([0.5])) == pytest.approx(shape(grid())[29:30])


def test_noisy_training_losses_are_smoothed_first() -> None:
    random, t_hat = np.random.default_rng(0), grid(4000)
    made = template_of(run("a", 3 * shape(t_hat) * (1 + 0.02 * random.standard_normal(4000)), split="train"))
    assert np.abs(made.normalised / shape(t_hat) - 1)[800:].max() < 0.006  # warm-up's kink lies before


def test_an_unfinished_run_is_no_template() -> None:
    curve = family()[0]
    with pytest.raises(CurveError, match=r"stops at 50\.0% of its training"):
        template_of(
            type(curve)(
                "half",
                curve.split,
                curve.t_hat[:30],
                curve.loss[:30],
                curve.steps[:30],
                curve.tokens[:30],
                None,
                curve.facts,
            )
        )


@pytest.mark.parametrize(
    ("t_hat", "normalised", "message"),
    [
        ([0.5, 1.0], [1.2, np.nan], "not finite"),
        ([0.5, 1.0], [-1.2, 1.0], "not positive"),
        ([0.6, 0.5, 1.0], [1.3, 1.2, 1.0], "does not increase"),
        ([1.0], [1.0], "at least two points"),
        ([0.1, 0.5], [1.2, 1.0], "ends at t_hat 0.5"),
        ([0.5, 1.0], [3.6, 3.0], "with l 3"),
        ([0.5, 0.7, 1.0], [1.2, 1.0], "two equal vectors"),
    ],
)
def test_arrays_that_are_no_curve_are_refused(t_hat: list[float], normalised: list[float], message: str) -> None:
    with pytest.raises(CurveError, match=message):
        Template(np.array(t_hat), np.array(normalised), "broken")


def test_a_surrogate_gives_each_run_its_own_curve() -> None:
    made = surrogate_template(surrogate, run("a", 3 * shape(grid()), tau=0.4, tpp=80.0))
    assert made.normalised == pytest.approx(shape(made.t_hat, 0.4, 80.0))
    assert (made.tau, made.tpp, made.source) == (0.4, 80.0, "surrogate")


def test_a_real_template_is_corrected_to_the_runs_recipe() -> None:
    real = template_of(run("real", 3 * shape(grid(), 0.2, 20.0)))
    other = run("other", 3 * shape(grid(), 0.6, 40.0), tau=0.6, tpp=40.0)
    made = corrected_template(real, surrogate, other)
    assert made.normalised == pytest.approx(shape(grid(), 0.6, 40.0))
    assert (made.tau, made.tpp) == (0.6, 40.0)
    bent = Template(real.t_hat, real.normalised * (1 + 0.01 * (1 - real.t_hat)), "bent", 20.0, 0.2, real.schedule)
    assert corrected_template(bent, surrogate, other).normalised == pytest.approx(
        made.normalised * (1 + 0.01 * (1 - made.t_hat))
    )


def test_a_surrogate_needs_tau_and_tokens_per_parameter() -> None:
    unknown = run("a", 3 * shape(grid()), tau=float("nan"), lr_peak=float("nan"))
    with pytest.raises(CurveError, match="tau or tokens per parameter is not known"):
        surrogate_template(surrogate, unknown)
    with pytest.raises(CurveError, match="template level"):
        corrected_template(Template(grid(), np.ones(60), "level"), surrogate, family()[0])
