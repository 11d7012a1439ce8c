from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.diagnose.wander import wander_of_repeats
from scaling_collapse.diagnose.whiten import WANDER
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import curve
from tests.unit.diagnose.support import course, noisy


@pytest.mark.parametrize("walk", [0.002, 0.004, 0.01])
def test_the_walk_of_seeds_is_found(walk):
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        runs = [curve(noisy(rng, course(), 0.004, walk), str(i), seed=float(i)) for i in range(4)]
        found.append(wander_of_repeats(runs))
    assert np.exp(np.mean(np.log(found))) == pytest.approx(walk, rel=0.25)


def test_seeds_that_tell_little_leave_the_usual_walk():
    rng = np.random.default_rng(0)
    runs = [curve(noisy(rng, course(), 0.2, 0.0), str(i)) for i in range(2)]
    assert wander_of_repeats(runs) == pytest.approx(WANDER, rel=0.35)


def test_one_run_or_few_points_are_refused():
    with pytest.raises(CurveError, match=r"1 run\(s\); seeds tell a walk from two on"):
        wander_of_repeats([curve(course())])
    with pytest.raises(CurveError, match="bins after the start of alignment"):
        wander_of_repeats([curve(course()[::300], "a"), curve(course()[::300], "b")])
