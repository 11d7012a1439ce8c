from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.diagnose.whiten import WANDER
from scaling_collapse.errors import CurveError
from scaling_collapse.report.choosing import MOST_REFERENCES, family_reference, family_template
from tests.unit.curves.support import curve, shape

T = np.arange(1, 101) / 100


def member(run, size=1e5, tau=0.2, tpp=20.0, **facts):
    loss = 3 * shape(T, tau if np.isfinite(tau) else 0.2)
    return curve(loss, run, size_params=size, tau=tau, tpp=tpp, **facts)


ME = member("me")


def test_like_runs_are_averaged_up_to_a_number():
    reference, names = family_reference(ME, [member(f"r{i}", size=1e5 * 2**i) for i in range(1, 7)])
    assert names == ("r1", "r2", "r3", "r4")
    assert len(names) == MOST_REFERENCES
    assert reference.wander == pytest.approx(WANDER * np.sqrt((1 + 1 / 4) / 2))


def test_a_run_of_another_recipe_does_not_widen_the_walk_of_like_ones():
    alike = [member("a", size=2e5), member("b", size=4e5)]
    assert family_reference(ME, [*alike, member("far", tau=0.8)])[1] == ("a", "b")
    alone, names = family_reference(ME, [member("far", tau=0.8)])
    assert names == ("far",)
    assert alone.wander > 3 * WANDER
    assert "tau is 0.25 times that of far" in alone.notes[0]


def test_another_schedule_is_neither_reference_nor_template():
    others = [member("constant", schedule="constant")]
    with pytest.raises(CurveError, match="me: there is no other finished run of its schedule") as caught:
        family_reference(ME, others)
    assert "--reference" in caught.value.fix
    with pytest.raises(CurveError, match="no finished run of its schedule to predict it from"):
        family_template(ME, others)


def test_runs_of_unknown_recipe_are_a_reference_only_where_they_were_seen_to_collapse():
    unknown = {"tau": np.nan, "tpp": np.nan, "weight_decay": np.nan, "tokens_total": np.nan}
    me, other = member("me", **unknown), member("other", **unknown)
    with pytest.raises(CurveError, match="tau and tokens per parameter are not known"):
        family_reference(me, [other])
    assert family_reference(me, [other], {"other"})[1] == ("other",)


def test_the_template_is_the_nearest_run_and_carries_its_name():
    others = [member("far", tau=0.8), member("near", size=4e5), member("nearer", size=2e5)]
    template = family_template(ME, others)
    assert template.source == "nearer"
    assert template.at(np.array([1.0]))[0] == pytest.approx(1)
