"""What was seen, in words."""

from __future__ import annotations

from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.diagnose.fault import Fault
from scaling_collapse.diagnose.judge import Finding

_SUBJECTS = {
    "rise": "the loss rose {excess}% above its level before",
    "residual": "the loss lies {excess}% above what {reference} projects",
    "validation_rise": "the validation loss rose {excess}% above its level before, the training loss did not",
    "gap": "the validation loss has moved {excess}% away from the training loss",
}

_SHAPES = {0.0: "in one step", 1.0: "growing", 2.0: "growing faster and faster"}


def describe(finding: Finding, fault: Fault, reference: str = "the reference") -> str:
    """Return one sentence: how much, of what shape, how sure, and whether it is over."""
    excess = fault.peak if fault.recovered else fault.excess
    percent = PERCENT * excess
    shown = f"{percent:.2g}" if percent < 100 else f"{percent:.0f}"
    text = _SUBJECTS[finding.test].format(excess=shown, reference=reference)
    sure = f"{finding.statistic:.1f} standard deviations, threshold {finding.threshold:.1f}"
    end = ", and came back" if fault.recovered else ""
    return f"{text}, {_SHAPES[fault.onset.power]} ({sure}){end}"
