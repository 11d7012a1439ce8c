"""alarms.csv: every run of the scale through the alarm, the healthy ones and those with a planted fault (section 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scaling_collapse.curves.build import TRAIN, VALIDATION
from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.diagnose import diagnose_curve
from scaling_collapse.diagnose.family_reference import smaller_reference
from scaling_collapse.predict.template import total_steps

if TYPE_CHECKING:
    import pandas as pd

NO_REFERENCE = "none"


def alarms_table(regular: pd.DataFrame, faulty: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return one row for each alarm, and one for each run without any (its `kind` empty).

    `regular` holds the curves of all regular runs, `faulty` those of the groups with a planted fault. A run is judged
    against the smaller runs that were trained alike, where there are any; its validation losses are judged too.
    """
    import pandas as pd

    healthy = list(curves_of(regular, TRAIN))
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    for frame in (regular, *faulty):
        held_out = {curve.run: curve for curve in curves_of(frame, VALIDATION)}
        for curve in curves_of(frame, TRAIN):
            if curve.run not in seen:
                seen.add(curve.run)
                rows += _rows(curve, healthy, held_out.get(curve.run))
    return pd.DataFrame(rows)


def _rows(curve: Curve, healthy: Sequence[Curve], validation: Curve | None) -> Iterator[dict[str, Any]]:
    reference = smaller_reference(curve, healthy)
    found = diagnose_curve(curve, reference, validation)
    facts = {
        "run": curve.run,
        "restart": curve.restart,
        "reference": NO_REFERENCE if reference is None else reference.source,
        "final_loss_nats": float(curve.loss[-1]),
    }
    for alarm in found.alarms or (None,):
        yield facts | _of_alarm(alarm, total_steps(curve))


def _of_alarm(alarm: Alarm | None, steps: float) -> dict[str, Any]:
    if alarm is None:
        return {"kind": ""}
    low, high = alarm.onset_interval
    return {
        "kind": alarm.kind,
        "onset_fraction": alarm.onset_fraction,
        "onset_low": low / steps,
        "onset_high": high / steps,
        "alarm_fraction": alarm.alarm_step / steps,
        "recovered": alarm.recovered,
        "evidence": alarm.evidence,
    }
