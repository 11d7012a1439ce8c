from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from scaling_collapse.curves.normalise import TRAINING
from scaling_collapse.diagnose.alarm import Alarm
from scaling_collapse.diagnose.reference import reference_of
from scaling_collapse.diagnose.seen import seen
from scaling_collapse.figures import panels
from scaling_collapse.figures.alarms import MOST_RANGES, draw_watched, mark_onsets, show_faults
from scaling_collapse.figures.lines import line_of
from scaling_collapse.figures.style import style
from tests.unit.curves.support import curve, shape

T = np.arange(1, 401) / 400
LOSS = 3 * shape(T)
ALARM = Alarm("a", "drift", 200, 0.5, False, (180, 210), 260, "it lies above")


def texts(figure):
    return [artist.get_text() for artist in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


def test_a_mark_stands_on_the_curve_where_the_fault_began():
    line = line_of(curve(LOSS, "a"), TRAINING)
    for across, x in ((panels.steps, 200), (panels.tokens, 200e3)):
        axes = Figure().subplots()
        mark_onsets(axes, [line], {7: ALARM}, across)
        (mark,) = axes.lines
        assert mark.get_xdata()[0] == pytest.approx(x)
        assert mark.get_ydata()[0] == pytest.approx(LOSS[199], rel=0.005)
        assert texts(axes.figure).count("7") == 1


def test_a_loss_that_rises_again_is_seen_and_one_that_runs_away_is_cut():
    axes = Figure().subplots()
    for factor, top in ((1.5, 1.5 * LOSS[-1]), (1e6, 2 + MOST_RANGES * 3)):
        axes.set_ylim(2, 5)
        faulty = np.where(T > 0.7, factor * LOSS[-1], LOSS)
        show_faults(axes, [line_of(curve(faulty, "a", status="diverged"), TRAINING)])
        assert axes.get_ylim() == pytest.approx((2, max(5, top)), rel=0.01)


def test_a_watched_run_shows_losses_residual_and_each_fault():
    reference = reference_of(curve(2 * shape(T), "other"))
    found = seen(curve(LOSS * np.where(T > 0.5, 1.05, 1), "a"), reference, 0.5)
    validation = replace(curve(LOSS[19::20], "a"), split="validation")
    with style():
        figure = draw_watched(found, {1: ALARM, 2: replace(ALARM, kind="step_reset")}, validation, "run $a$")
        figure.draw_without_rendering()
    upper, lower = figure.axes
    assert {"1", "2", "validation", r"as run \$a\$ projects"} <= set(texts(figure))
    assert upper.get_xlim() == lower.get_xlim() == (0, pytest.approx(399.5, abs=1))
    onsets = [line for line in lower.lines if list(line.get_xdata()) == [200, 200]]
    assert len(onsets) == 2
    residual = max(line.get_ydata().max() for line in lower.lines if len(line.get_xdata()) > 2)
    assert residual == pytest.approx(100 * np.log(1.05), abs=0.1)


def test_without_reference_there_is_one_panel_that_reaches_to_the_last_onset():
    with style():
        figure = draw_watched(seen(curve(LOSS, "a")), {1: replace(ALARM, onset_step=450)})
    (axes,) = figure.axes
    assert axes.get_xlim() == (0, 450)


@pytest.mark.parametrize("loss", [np.full(400, 3.0), np.full(2, 3.0), np.geomspace(1e-9, 1e12, 400)], ids=str)
def test_any_losses_can_be_drawn(loss):
    with style(), warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_watched(seen(curve(loss, "a")), {}).draw_without_rendering()
