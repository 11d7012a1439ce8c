"""The finished siblings of one of our own runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.diagnose.family_reference import smaller_runs
from scaling_collapse.live.read_references import read_references
from scaling_collapse.plan.run import Run


def smaller_siblings(run: Run, table: Path) -> list[Curve]:
    """Return the finished runs of a table that are smaller than `run` and were trained alike. Raises CurveError."""
    return smaller_runs(_outline(run), read_references(table))


def _outline(run: Run) -> Curve:
    """Return what has to be known of a run to find its siblings."""
    one = np.ones(1)
    facts = {"size_params": run.params, "tpp": run.tpp, "tau": run.tau, "schedule": run.schedule.kind}
    return Curve(run.run_id, "train", one, one, one * run.steps, one * run.tokens, None, facts)
