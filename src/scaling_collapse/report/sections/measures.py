"""The numbers of a family, or of a single run, each with what it means."""

from __future__ import annotations

import numpy as np

from scaling_collapse.curves.curve import Curve
from scaling_collapse.curves.difficulty import adjusted_loss
from scaling_collapse.curves.family import RESIDUALS, SEEDS
from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.diagnose.family_check import FamilyCheck
from scaling_collapse.diagnose.noise import noise_variance
from scaling_collapse.report import words
from scaling_collapse.report.material import Material
from scaling_collapse.report.members import Member
from scaling_collapse.report.parts import Fact, Facts, Section

#: An irreducible loss [nats] below this changes no digit that is shown.
LEAST_OFFSET = 0.01

SPREAD = (
    "How far the normalised curves lie apart: the standard deviation over runs of loss/final loss, averaged over the "
    "last 80% of training, in percent of the final loss."
)
LIMIT = "The largest spread that counts as a collapse: twice what noise and the wander of healthy runs give."
OF_RANGE = "The same spread in percent of what the normalised loss still falls from 20% of training on."
OFFSET = (
    "The same where {} nats, which no model is expected to get below, are taken off all losses first. What is left is "
    "smaller, so the same difference is a larger share."
)
COMPARED = "Finished runs, one of each recipe; repeats with other seeds tell the noise."
OUTLIER = "It stands out: without it the others lie much closer, or its loss does not fall."
MISMATCH = "Runs collapse if these are the same for all, or nearly."
NOISE = (
    "How much single losses scatter around their course, at the end; what harder and easier batches explain is taken "
    "out where it is known."
)

#: What a noise floor is measured from.
_SOURCES = {
    SEEDS: "measured on runs that differ in their seed alone",
    RESIDUALS: "measured as the scatter of each curve around its own smooth course",
    "points": "measured as the scatter of neighbouring points",
}


def section(material: Material) -> Section | None:
    """Return the numbers: of the collapse where there is one to judge, of the run where there is only one."""
    if material.check is not None:
        return Section(
            "measures", "How well they collapse", (Facts(_of_family(material.check, len(material.members))),)
        )
    if not material.is_family:
        return Section("measures", "The run in numbers", (Facts(_of_run(material.members[0])),))
    return None


def _of_family(check: FamilyCheck, runs: int) -> tuple[Fact, ...]:
    floor = f"The spread that noise alone would give, {_SOURCES.get(check.floor_source, 'from its curves')}."
    facts = [
        Fact("spread", words.percent(check.spread_percent), SPREAD, "good" if check.collapses else "bad"),
        Fact("limit", words.percent(check.limit_percent), LIMIT),
        Fact("noise floor", words.percent(check.noise_floor_percent), floor),
        Fact("spread of range", words.percent(check.spread_of_range_percent), OF_RANGE),
    ]
    if check.irreducible_nats > LEAST_OFFSET:
        meaning = OFFSET.format(words.loss(check.irreducible_nats))
        facts.append(Fact("spread with offset", words.percent(check.spread_irreducible_percent), meaning))
    facts.append(Fact("compared", f"{len(check.runs)} of {words.count(runs, 'run')}", COMPARED))
    facts += [Fact("does not fit", run, OUTLIER, "bad") for run in check.outliers]
    facts += [Fact("does not match", text, MISMATCH, "bad") for text in check.mismatches]
    return tuple(facts)


def _of_run(member: Member) -> tuple[Fact, ...]:
    curve = member.curve
    last = "final loss" if member.finished else "last loss"
    facts = [
        Fact("status", words.status(member), "How far the log goes, as a fraction of the training that was planned."),
        Fact("steps", f"{curve.steps[-1]:,.0f}", "Optimiser steps that were logged."),
        Fact("losses", f"{len(curve.loss):,}", f"Losses of split {curve.split} in the log."),
        Fact(last, f"{words.loss(words.last_loss(member))} nats", words.LAST_LOSS),
        Fact("noise of one loss", words.percent(point_noise(curve)), NOISE),
        Fact("size", words.amount(curve.size_params), "Parameters N."),
        Fact("tokens per parameter", words.setting(curve.tpp), "Training tokens over parameters, TPP."),
        Fact("tau", words.setting(curve.tau), words.TAU),
    ]
    if member.diagnosis is not None:
        text = "The probability that a healthy run gets an alarm all the same, all tests together."
        facts.append(Fact("false alarms", words.percent(PERCENT * member.diagnosis.rate), text))
    return tuple(facts)


def point_noise(curve: Curve) -> float:
    """Return the standard deviation of a single loss at the end of a curve [percent]; NaN with fewer than three."""
    if len(curve.loss) < 3:
        return float("nan")
    values = np.log(adjusted_loss(curve.loss, curve.difficulty))
    variance, _ = noise_variance(values, np.ones_like(curve.loss), curve.t_hat)
    return float(PERCENT * np.sqrt(variance[-1]))
