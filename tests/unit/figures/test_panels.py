"""Strokes of runs: who is a repeat, what an SVG file calls them, and where they lie."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from scaling_collapse.curves.normalise import TRAINING
from scaling_collapse.figures import panels
from scaling_collapse.figures.lines import Line, line_of
from tests.unit.curves.support import curve, shape

T = np.arange(1, 101) / 100


def line(run: str, **facts: object) -> Line:
    return line_of(curve(3 * shape(T), run, **facts), TRAINING)


def widths(lines: list[Line]) -> list[float]:
    axes = Figure().subplots()
    panels.draw_measured(axes, lines, dict.fromkeys((one.run for one in lines), (0.0, 0.0, 0.0)))
    return [stroke.get_linewidth() for stroke in axes.lines if stroke.get_gid()]


def test_repeats_are_thin_and_runs_of_unknown_recipe_are_no_repeats() -> None:
    assert widths([line("a"), line("b", seed=1.0), line("c", size_params=2e5)]) == [1.0, 0.5, 1.0]
    assert widths([line("a", schedule=""), line("b", schedule="")]) == [1.0, 1.0]


@pytest.mark.parametrize("draw", [panels.draw_measured, panels.draw_normalised])
def test_strokes_carry_the_names_of_their_runs(draw) -> None:  # type: ignore[no-untyped-def]
    axes = Figure().subplots()
    draw(axes, [line("a"), line("b")], {"a": (0, 0, 0), "b": (0, 0, 0)})
    assert [stroke.get_gid() for stroke in axes.lines if stroke.get_gid()] == ["run:a", "run:b"]


def test_losses_lie_across_tokens_or_steps() -> None:
    part = replace(line("a"), t_hat=T)
    assert panels.tokens(part) == pytest.approx(1e5 * T)
    assert panels.steps(part) == pytest.approx(100 * T)


def test_a_run_that_ran_away_does_not_spoil_the_layout() -> None:
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    away = line_of(curve(np.geomspace(3, 1e9, 100), "a", status="diverged"), TRAINING)
    panels.draw_measured(axes, [away], {"a": (0, 0, 0)})
    axes.set_ylim(0, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns where it gives a layout up
        figure.draw_without_rendering()
    assert axes.get_position().height > 0.5
