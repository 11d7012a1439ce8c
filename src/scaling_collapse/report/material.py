"""Everything that a report says, found once: the runs, whether they collapse, their alarms and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.grid import FIRST_FRACTION, GRID, ROUNDING, to_grid
from scaling_collapse.curves.measures import cross_run_std
from scaling_collapse.curves.table import choose_runs
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.diagnose import Diagnosis, diagnose_curve, diagnose_log
from scaling_collapse.diagnose.family_check import FamilyCheck, check_family
from scaling_collapse.diagnose.reference import Reference
from scaling_collapse.errors import CurveError
from scaling_collapse.figures.collapse import Family
from scaling_collapse.figures.lines import Line
from scaling_collapse.logs.given import Given
from scaling_collapse.predict.predict import Settings, predict_curves
from scaling_collapse.predict.table import split_of, warmup_ends
from scaling_collapse.predict.template import Template
from scaling_collapse.report.choosing import family_reference, family_template
from scaling_collapse.report.members import HOW_LONG, VALIDATION, Member, Missing, members_of
from scaling_collapse.report.palette import Palette, palette_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Material:
    """What a report is made of; `missing` is all that it cannot say.

    `check` is None where a collapse is not judged; `alike` are the runs that collapse, perhaps without outliers.
    """

    source: str
    split: str
    members: tuple[Member, ...]
    check: FamilyCheck | None = None
    alike: frozenset[str] = frozenset()
    missing: tuple[Missing, ...] = ()
    given: Given | None = field(default=None, repr=False)

    @property
    def is_family(self) -> bool:
        """Whether there are several runs."""
        return len(self.members) > 1

    @property
    def alarms(self) -> dict[int, Alarm]:
        """All alarms by number, from 1, in the order of the runs and of their steps."""
        diagnoses = [member.diagnosis for member in self.members if member.diagnosis is not None]
        found = [alarm for one in diagnoses for alarm in sorted(one.alarms, key=lambda alarm: alarm.onset_step)]
        return dict(enumerate(found, 1))

    @property
    def quiet(self) -> bool:
        """Whether nothing is wrong: the runs collapse, as far as that was judged, and training went well."""
        healthy = all(member.diagnosis is None or member.diagnosis.healthy for member in self.members)
        return healthy and (self.check is None or self.check.collapses)

    @cached_property
    def lines(self) -> list[Line]:
        """The runs as pictures draw them, smallest model first where sizes are known."""
        lines = [member.line for member in self.members]
        known = all(np.isfinite(line.curve.size_params) for line in lines)
        return sorted(lines, key=lambda line: line.curve.size_params) if known else lines

    @cached_property
    def palette(self) -> Palette:
        """The colours of the runs."""
        return palette_of(self.lines)

    @cached_property
    def collapse(self) -> Family | None:
        """The normalised curves with the mean of the compared ones; None where none are compared."""
        if self.check is None:
            return None
        done = {member.run for member in self.members if member.finished}
        lines = [line for line in self.lines if line.run in done and line.t_hat[0] <= FIRST_FRACTION + ROUNDING]
        compared = [line for line in lines if line.run in self.check.runs]
        grid = GRID[min(line.t_hat[-1] for line in lines) + ROUNDING >= GRID]
        l_RG = np.array([to_grid(line.t_hat, line.normalised, grid) for line in compared])
        return Family(lines, compared, None, grid, l_RG.mean(axis=0), cross_run_std(l_RG))

    @staticmethod
    def shown(path: str) -> str:
        """Return how the report calls a file: without the folders of somebody's machine."""
        return Path(path).name

    def alarms_of(self, run: str) -> dict[int, Alarm]:
        """The alarms of one run by number."""
        return {number: alarm for number, alarm in self.alarms.items() if alarm.run == run}


def gather(
    given: Given,
    source: str,
    runs: Sequence[str] = (),
    split: str | None = None,
    reference: str | pd.DataFrame | None = None,
    complete: bool = False,
) -> Material:
    """Judge the `runs` (default: all) of what was given; `source` is what the report calls it.

    `reference` is a run of the table, or a table with finished ones; else each run is held against the others.
    `complete` as in `curves_of`. Raises CurveError for an unknown run or split, a reference that is none, and where no
    run can be shown.
    """
    frame = given.frame
    chosen_split = split_of(frame, split)
    wanted = set(map(str, choose_runs(frame, list(runs))["run"].unique())) if runs else None
    every, missing = members_of(frame, chosen_split, complete, given.not_finite)
    every = [_first_look(member) for member in every]
    members = [member for member in every if wanted is None or member.run in wanted]
    if not members:
        raise CurveError(source, _nothing(chosen_split, missing), "name another --split or --run")
    missing = [one for one in missing if wanted is None or one.what.removesuffix(f", {VALIDATION}") in wanted]
    check, alike, gaps = _check(members)
    outliers = set() if check is None else set(check.outliers)
    pool = [member.curve for member in every if member.finished and member.run not in outliers]
    if reference is not None:
        pool = _own_pool(every, reference, chosen_split)
    judged, unjudged = _judged(
        members, pool, alike | ({curve.run for curve in pool} if reference is not None else set())
    )
    predicted, unpredicted = _predicted(judged, every, pool, warmup_ends(frame))
    gone = (*missing, *gaps, *unjudged, *unpredicted)
    return Material(source, chosen_split, tuple(predicted), check, frozenset(alike), gone, given)


def _nothing(split: str, missing: Sequence[Missing]) -> str:
    reasons = "; ".join(dict.fromkeys(one.why for one in missing[:3]))
    return f"no run has losses of split {split!r} that can be shown ({reasons})."


def _first_look(member: Member) -> Member:
    """Return the run as diverged if its losses say so and its table does not say how it ended."""
    if member.curve.facts.get("status"):
        return member
    alarms = _diagnosed(member, None).alarms
    gone = any(alarm.kind == "divergence" and not alarm.recovered for alarm in alarms)
    return member.as_diverged() if gone else member


def _diagnosed(member: Member, reference: Reference | None) -> Diagnosis:
    """Return the diagnosis of a run, with its losses that are not finite."""
    curve = member.curve
    if not len(member.not_finite):
        return diagnose_curve(curve, reference, member.validation)
    steps = np.concatenate([curve.steps, member.not_finite])
    losses = np.concatenate([curve.loss, np.full(len(member.not_finite), np.nan)])
    order = np.argsort(steps, kind="stable")
    total = float(curve.steps[-1] / curve.t_hat[-1])
    held_out = None if member.validation is None else (member.validation.steps, member.validation.loss)
    return diagnose_log(curve.run, steps[order], losses[order], max(total, steps.max()), reference, held_out)


def _check(members: Sequence[Member]) -> tuple[FamilyCheck | None, set[str], list[Missing]]:
    """Return whether the runs collapse, those that do so together, and why nothing can be said."""
    if len(members) < 2:
        return None, set(), []
    whole = [member.curve for member in members if member.length_known]
    if not whole:
        return None, set(), [Missing("collapse", "the length of no run is known", HOW_LONG)]
    late = [curve for curve in whole if curve.t_hat[0] > FIRST_FRACTION + ROUNDING]
    gaps = [
        Missing(
            curve.run,
            f"its first loss is at {curve.t_hat[0]:.0%} of training, and curves are compared from "
            f"{FIRST_FRACTION:.0%} on; it is not compared",
            "log more often, or give the losses before",
        )
        for curve in late
    ]
    gone = {curve.run for curve in late}
    try:
        check = check_family([curve for curve in whole if curve.run not in gone])
        rest = [curve for curve in whole if curve.run in set(check.runs) - set(check.outliers)]
        together = check.collapses or (bool(check.outliers) and check_family(rest).collapses)
    except CurveError as error:
        return None, set(), [*gaps, Missing.of(error, "collapse")]
    return check, {curve.run for curve in rest} if together else set(), gaps


def _own_pool(every: Sequence[Member], reference: str | pd.DataFrame, split: str) -> list[Curve]:
    """Return the finished runs that the user names. Raises CurveError where there is none."""
    if isinstance(reference, str):
        named = [member for member in every if member.run == reference]
        where = reference
    else:
        named, where = members_of(reference, split)[0], "--reference"
    pool = [member.curve for member in named if member.finished]
    if not pool:
        raise CurveError(where, "no run in it is finished, as a reference has to be", "name another, or say --complete")
    return pool


def _judged(members: Sequence[Member], pool: Sequence[Curve], alike: set[str]) -> tuple[list[Member], list[Missing]]:
    """Return the runs with their diagnosis, against the others of the pool where that can be."""
    judged, missing = [], []
    for member in members:
        reference, names = None, tuple[str, ...]()
        if member.length_known:
            try:
                reference, names = family_reference(member.curve, pool, alike)
            except CurveError as error:
                missing.append(Missing(member.run, f"no residual: {error.problem.rstrip('.')}", error.fix))
        diagnosis = _diagnosed(member, reference)
        judged.append(replace(member, diagnosis=diagnosis, reference=reference, compared_with=names))
    return judged, missing


def _predicted(
    members: Sequence[Member], every: Sequence[Member], pool: Sequence[Curve], warmup: dict[str, float]
) -> tuple[list[Member], list[Missing]]:
    """Return the runs with predictions of those that go on, from the nearest finished run."""
    templates: dict[str, Template] = {}
    missing = []
    for member in members:
        if not member.in_progress:
            continue
        try:
            templates[member.run] = family_template(member.curve, pool)
        except CurveError as error:
            missing.append(Missing(member.run, f"no prediction: {error.problem.rstrip('.')}", error.fix))
    if not templates:
        return list(members), missing
    curves = [member.curve for member in every if member.length_known]
    found = {p.run: p for p in predict_curves(curves, templates, siblings="smaller", settings=Settings(warmup=warmup))}
    told = []
    for member in members:
        prediction = found.get(member.run) if member.run in templates else None
        if prediction is not None and prediction.predicted_final_loss is None:
            missing.append(Missing(member.run, f"no prediction: {prediction.reason}"))
        told.append(replace(member, prediction=prediction, template=templates.get(member.run)))
    return told, missing
