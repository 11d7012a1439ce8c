from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from scaling_collapse.figures import style
from scaling_collapse.report.svg import inline
from tests.unit.report.support import look


def drawn(name: str = "one", run: str = "run a", title: str = "loss") -> str:
    with style.style():
        figure = Figure(figsize=(3, 2), layout="constrained")
        axes = figure.subplots()
        axes.plot(np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** 2, gid=f"run:{run}", marker="o")
        axes.set_title(style.plain(title)).set_path_effects([withStroke(linewidth=2, foreground="white")])
        return str(inline(figure, name, "what it shows"))


def test_text_stays_text_also_where_it_had_a_halo() -> None:
    svg = drawn(title="a title")
    assert re.search(r"<text[^>]*>a title</text>", svg)
    assert 'role="img" aria-label="what it shows"' in svg
    look(svg)


def test_a_stroke_tells_its_run_and_markup_in_a_name_is_a_name() -> None:
    assert "<title>run a</title>" in drawn()
    found = look(drawn(run='<script>"&', title="<b>bold</b>"))
    assert '<script>"&' in found.words
    assert "<b>bold</b>" in found.words


def test_nothing_of_the_file_format_is_left() -> None:
    svg = drawn()
    assert svg.startswith("<svg viewBox=")
    for word in ("xmlns", "metadata", "<style", "xlink", "<?xml", "DOCTYPE", "Matplotlib", "ns0:"):
        assert word not in svg


def test_two_pictures_share_no_ids_and_one_is_the_same_each_time() -> None:
    assert drawn() == drawn()
    look(drawn("one") + drawn("two"))


def test_coordinates_have_two_digits() -> None:
    numbers = re.findall(r"\d+\.(\d+)", " ".join(re.findall(r' (?:d|x|y|transform)="([^"]*)"', drawn())))
    assert len(numbers) > 50
    assert max(map(len, numbers)) == 2


@pytest.mark.parametrize("name", ["$x$", "$", "a_$\\frac{1$", "\\", "\N{ROCKET}", "a\nb\x00", "%s {0}"])
def test_any_name_can_stand_on_a_picture(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = look(drawn(run="r", title=name))
    shown = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
    assert shown in found.words
