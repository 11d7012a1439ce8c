"""Templates and references of several runs are their means; a surrogate needs the whole recipe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scaling_collapse.config.recipe import Schedule
from scaling_collapse.live.own_run import OwnRun
from scaling_collapse.live.references import alarm_reference, known_rates, prediction_template
from scaling_collapse.predict.template import template_of
from scaling_collapse.surrogate.form import PAPER
from scaling_collapse.surrogate.stored import published_surrogate
from tests.unit.live.support import STEPS, finished

PUBLISHED = published_surrogate(PAPER, "train")
OWN = OwnRun("mine", STEPS, 20.0, 0.2, "linear_to_zero")


def test_the_template_of_several_runs_is_their_mean_and_of_one_is_its_own() -> None:
    curves = [finished(), finished(1, "other")]
    mean, ones = prediction_template(OWN, curves, PUBLISHED), [template_of(curve) for curve in curves]
    assert mean is not None
    assert mean.normalised == pytest.approx((ones[0].normalised + ones[1].normalised) / 2)
    assert mean.source == "the mean of 2 runs"
    one = prediction_template(OWN, curves[:1], PUBLISHED)
    assert one is not None
    assert one.source == "small"
    assert (one.normalised == ones[0].normalised).all()


def test_the_mean_begins_where_the_last_of_them_begins() -> None:
    late = finished(1, "late")
    late = replace(late, **{name: getattr(late, name)[20:] for name in ("t_hat", "loss", "steps", "tokens")})
    mean = prediction_template(OWN, [finished(), late], PUBLISHED)
    assert mean is not None
    assert mean.t_hat[0] == late.t_hat[0]


def test_a_pooled_reference_walks_less_than_a_single_one() -> None:
    one = alarm_reference(OWN, [finished()], None)
    two = alarm_reference(OWN, [finished(), finished(1, "other")], None)
    assert one is not None
    assert two is not None
    assert two.wander == pytest.approx(one.wander * np.sqrt(0.75))


@pytest.mark.parametrize("missing", ["total_steps", "tokens_per_parameter", "tau", "schedule"])
def test_a_surrogate_needs_the_whole_recipe(missing: str) -> None:
    assert known_rates(OWN) is not None
    lacking = replace(OWN, **{missing: None})
    assert known_rates(lacking) is None
    assert prediction_template(lacking, [], PUBLISHED) is None


def test_the_alarm_does_not_trust_a_surrogate_of_other_models() -> None:
    assert alarm_reference(OWN, [], PUBLISHED) is None
    own = alarm_reference(OWN, [], replace(PUBLISHED, foreign=False))
    assert own is not None
    assert own.source == "the surrogate"


def test_the_settings_of_a_schedule_count_not_only_its_name() -> None:
    early, late = (
        prediction_template(replace(OWN, schedule=Schedule(kind="wsd", decay_fraction=share)), [], PUBLISHED)
        for share in (0.2, 0.6)
    )
    assert early is not None
    assert late is not None
    assert late.at(np.array([0.7]))[0] < early.at(np.array([0.7]))[0]
