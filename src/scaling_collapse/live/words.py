"""What a watch says: in a progress line, on a line of its own when an alarm comes, and as numbers for a logger."""

from __future__ import annotations

from collections.abc import Sequence

from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.predict.prediction import Prediction


def progress_line(prediction: Prediction | None, alarms: Sequence[Alarm], expected: bool) -> str:
    """Return the predicted final loss with its 90% interval, and whether there is an alarm.

    `expected` says that a prediction will come: before there is one, the line says that it is not known yet.
    """
    parts = [final_loss_words(prediction)] if prediction is not None or expected else []
    return "  ".join([*parts, alarm_words(alarms)])


def final_loss_words(prediction: Prediction | None) -> str:
    """Return `final 3.061 (3.022 to 3.101)`, losses in nats, or that nothing is known yet."""
    if prediction is None or prediction.predicted_final_loss is None:
        return "final loss not known yet"
    words = f"final {prediction.predicted_final_loss:.3f}"
    if prediction.low is None or prediction.high is None or prediction.low == prediction.high:
        return words
    return f"{words} ({prediction.low:.3f} to {prediction.high:.3f})"


def alarm_words(alarms: Sequence[Alarm]) -> str:
    """Return `no alarm`, the last alarm that is not over, or the last of those that are."""
    if not alarms:
        return "no alarm"
    lasting = [alarm for alarm in alarms if not (alarm.recovered or alarm.is_artefact)]
    if lasting:
        return f"ALARM {_kind_and_place(lasting[-1])}"
    over = f", {'in the log' if alarms[-1].is_artefact else 'recovered'}"
    return f"{len(alarms)} alarm{'s' if len(alarms) > 1 else ''}: {_kind_and_place(alarms[-1])}{over}"


def told(alarm: Alarm) -> str:
    """Return one line for an alarm that is new or has changed: run, kind, where it began, evidence."""
    end = " (recovered)" if alarm.recovered else ""
    return f"ALARM {alarm.run}: {_kind_and_place(alarm)}{end}: {alarm.evidence}"


def metrics(prediction: Prediction | None, alarms: Sequence[Alarm]) -> dict[str, float]:
    """Return numbers for an experiment logger: alarms so far, predicted final loss and its interval where known."""
    numbers = {"collapse/alarm": float(len(alarms))}
    if prediction is None:
        return numbers
    names = ("predicted_final_loss", "low", "high")
    values = (prediction.predicted_final_loss, prediction.low, prediction.high)
    return numbers | {f"collapse/{name}": value for name, value in zip(names, values, strict=True) if value is not None}


def _kind_and_place(alarm: Alarm) -> str:
    place = f"step {alarm.onset_step}"
    if alarm.onset_fraction is not None:
        place += f" ({alarm.onset_fraction:.0%})"
    return f"{alarm.kind.replace('_', ' ')} from {place}"
