from __future__ import annotations

import pytest

from scaling_collapse.diagnose.evidence import describe
from scaling_collapse.diagnose.fault import Fault
from scaling_collapse.diagnose.judge import Finding
from scaling_collapse.diagnose.onset import Onset


def fault(excess: float, peak: float = 0.0, recovered: bool = False) -> Fault:
    return Fault(Onset(5, 4, 6, 0.0), peak, excess, 0.1, False, False, recovered)


@pytest.mark.parametrize(
    ("excess", "shown"), [(0.0123, "1.2%"), (0.5, "50%"), (1.25, "125%"), (4.2, "420%"), (37.0, "3700%")]
)
def test_a_percentage_is_written_out_however_large(excess: float, shown: str) -> None:
    said = describe(Finding("rise", 4.0, 3.0), fault(excess))
    assert said == f"the loss rose {shown} above its level before, in one step (4.0 standard deviations, threshold 3.0)"


def test_a_fault_that_is_over_is_told_at_its_peak() -> None:
    said = describe(Finding("residual", 4.0, 3.0), fault(0.01, peak=0.3, recovered=True), "run a")
    assert said.startswith("the loss lies 30% above what run a projects")
    assert said.endswith(", and came back")
