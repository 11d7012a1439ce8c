"""Reports on families whose truth is known, made once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.table import checked
from scaling_collapse.report.material import Material, gather
from tests.unit.report.support import drift, family, given, run, step, unknown


@pytest.fixture(scope="session")
def healthy() -> Material:
    """Three sizes that collapse."""
    return gather(given(family()), "family.csv")


@pytest.fixture(scope="session")
def faulty() -> Material:
    """Four sizes, of which `middle` lies 3% above the others from 60% of training on."""
    huge = run("huge", size_params=8e5, final=2.9)
    return gather(given(family(middle=run("middle", fault=step(0.6, 0.03)), huge=huge)), "family.csv")


@pytest.fixture(scope="session")
def in_progress() -> Material:
    """Two finished sizes, and `large` at 40%."""
    return gather(given(family(large=run("large", until=0.4))), "family.csv")


@pytest.fixture(scope="session")
def alone() -> Material:
    """A run at 40%, and nothing else."""
    return gather(given(checked(run("large", until=0.4), "x")), "run.csv")


@pytest.fixture(scope="session")
def lengthless() -> Material:
    """Two runs of which steps and losses alone are known; one of them diverges from 60% on."""
    frame = checked(pd.concat([unknown("small"), unknown("large", drift(0.6, 2.0))]), "x")
    return gather(given(frame), "logs")


@pytest.fixture(scope="session")
def mismatched() -> Material:
    """Three sizes whose tau differs 16-fold."""
    taus = dict(zip(("small", "middle", "large"), np.geomspace(0.05, 0.8, 3), strict=True))
    return gather(given(family(**{name: run(name, tau=tau) for name, tau in taus.items()})), "family.csv")
