"""The lines of our own trainings: the alarm and the prediction in them, and the stop that they may ask for."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.curve import curves_of
from scaling_collapse.curves.table import checked, write_table
from scaling_collapse.errors import CurveError
from scaling_collapse.live.watched_progress import WatchedProgress, smaller_siblings, watched_progress
from scaling_collapse.plan.run import Run
from scaling_collapse.train.stop import stop_requests
from tests.support import synthetic_curves as synthetic
from tests.unit.train.train_room import tiny_run

STEPS = 1000


def run_like(size: str = "466k") -> Run:
    return tiny_run(run_id="big-s0", steps=STEPS, params=synthetic.SIZES[size], tpp=20.0, tau=0.175)


@pytest.fixture(scope="module")
def family() -> pd.DataFrame:
    return checked(synthetic.group("celerity_20tpp"), "family")


def losses(fault: float) -> list[float]:
    """Losses of a run of that size, with a fault that grows from 60% on."""
    (wrong,) = [run for run in synthetic.GROUPS["faulty_kernel"] if run.fault]
    table = checked(synthetic.rows(synthetic.replace(wrong, fault=fault)), "run")
    (curve,) = curves_of(table, "train")
    return [float(loss) for loss in curve.loss]


def watched(family: pd.DataFrame, tmp_path: Path, stop_on_alarm: bool = False) -> WatchedProgress:
    table = tmp_path / "curves.parquet"
    write_table(family, table)
    return watched_progress(run_like(), None, table, 0.0, stop_on_alarm)


def test_a_healthy_run_is_silent_and_its_lines_predict_its_final_loss(
    family: pd.DataFrame, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    progress, course = watched(family, tmp_path), losses(0.0)
    progress.started(run_like(), [])
    for step, loss in enumerate(course[:400], 1):
        progress.stepped(step, loss, 0.01)
    text = capfd.readouterr().err
    assert "ALARM" not in text
    last = text.splitlines()[-1]
    assert last.endswith("no alarm")
    final, low, high = (float(word.strip("()")) for word in last.split("final ")[1].replace("to ", "").split()[:3])
    truth = float(np.mean(course[-20:]))
    assert low < truth < high
    assert final == pytest.approx(truth, rel=0.01)


def test_a_fault_is_told_and_ends_the_training_if_it_was_asked_to(
    family: pd.DataFrame, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    progress = watched(family, tmp_path, stop_on_alarm=True)
    progress.started(run_like(), [])
    with stop_requests() as request:
        for step, loss in enumerate(losses(0.08), 1):
            progress.stepped(step, loss, 0.01)
            if request.signal_number:
                break
    assert request.signal_number == signal.SIGTERM
    assert 0.6 < step / STEPS < 0.75
    text = capfd.readouterr().err
    assert "ALARM big-s0: drift from step 6" in text
    assert "stops after a checkpoint" in text


def test_after_the_stop_the_same_command_goes_on_without_stopping_again(
    family: pd.DataFrame, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    progress, course = watched(family, tmp_path, stop_on_alarm=True), losses(0.08)
    with stop_requests() as request:
        progress.started(run_like(), course[:750])
        for step in range(751, 760):
            progress.stepped(step, course[step - 1], 0.01)
    assert request.signal_number == 0
    assert "ALARM big-s0: drift" in capfd.readouterr().err


def test_siblings_are_smaller_and_trained_alike(family: pd.DataFrame, tmp_path: Path) -> None:
    table = tmp_path / "curves.parquet"
    write_table(family, table)
    found = smaller_siblings(run_like(), table)
    assert sorted({curve.size_params for curve in found}) == [132_000, 170_000, 262_000]
    assert smaller_siblings(run_like("132k"), table) == []


def test_a_reference_without_a_sibling_is_an_error_and_a_broken_usual_table_is_not(
    family: pd.DataFrame, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "curves.parquet"
    write_table(family, table)
    with pytest.raises(CurveError, match="smaller than big-s0"):
        watched_progress(run_like("132k"), table, tmp_path / "none", 0.0)
    table.write_bytes(b"no parquet")
    watched_progress(run_like(), None, table, 0.0)
    assert "is held against no other run" in capfd.readouterr().err
    with pytest.raises(CurveError, match="not a readable"):
        watched_progress(run_like(), table, tmp_path / "none", 0.0)


def test_a_watch_that_fails_ends_and_the_training_goes_on(
    family: pd.DataFrame, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = watched(family, tmp_path, stop_on_alarm=True)
    progress.started(run_like(), [])

    def fail(*_: object) -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr("scaling_collapse.live.training_watch.TrainingWatch.update", fail)
    with pytest.warns(UserWarning, match="training goes on: ZeroDivisionError: a mistake of ours"):
        progress.stepped(1, 4.0, 0.01)
    progress.stepped(2, 3.9, 0.01)
    progress.validated(2, 3.9)
    assert capfd.readouterr().err.splitlines()[-1].endswith("left")
