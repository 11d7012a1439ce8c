"""Words, colours and label places."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import rgb_to_hsv
from matplotlib.figure import Figure

from scaling_collapse.figures import labels, style


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (132_096, "132k"),
        (1.81e9, "1.81B"),
        (4.24e11, "424B"),
        (1280, "1280"),
        (0.053, "0.053"),
        (1, "1"),
        (4.1e13, "4.1e13"),
        (1.47e20, "1.5e20"),
        (2.5e-5, "2.5e-5"),
        (0, "0"),
    ],
)
def test_numbers_are_written_as_people_say_them(value: float, words: str) -> None:
    assert style.number(value) == words


@pytest.mark.parametrize("quantity", ["size", "tpp", "tau", "batch"])
def test_colours_are_ordered_in_lightness_so_that_they_survive_grey_printing(quantity: style.Quantity) -> None:
    colours = style.colours(quantity, [5, 1, 3, 2, 4, 4])
    assert list(colours) == [1, 2, 3, 4, 5]
    luminance = np.array(list(colours.values())) @ (0.2126, 0.7152, 0.0722)
    steps = np.diff(luminance)
    assert (steps > 0.01).all() or (steps < -0.01).all()
    assert luminance.max() < 0.8, "too pale on white paper"


def test_timescales_that_are_rounded_apart_have_one_colour_and_sizes_do_not() -> None:
    tau = style.colours("tau", [0.1, 0.2, 0.203, 0.4])
    assert tau[0.2] == tau[0.203]
    assert len(set(tau.values())) == 3
    assert len(set(style.colours("size", [100_000, 103_000]).values())) == 2
    assert style.colours("tau", []) == {}


def test_one_value_has_one_colour_and_it_is_not_grey() -> None:
    (colour,) = style.colours("size", [7]).values()
    assert rgb_to_hsv(colour)[1] > 0.3


def test_the_style_is_undone_and_does_not_depend_on_the_users() -> None:
    with matplotlib.rc_context({"font.size": 33, "axes.facecolor": "black"}):
        with style.style(dpi=90):
            assert matplotlib.rcParams["font.size"] == style.TEXT
            assert matplotlib.rcParams["axes.facecolor"] == "white"
            assert matplotlib.rcParams["savefig.dpi"] == 90
        assert matplotlib.rcParams["font.size"] == 33


def test_labels_do_not_overlap_where_there_is_room() -> None:
    with style.style():
        figure = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.subplots()
        axes.set(xlim=(0, 10), ylim=(0, 10))
        spots = [(5.0, 5.0), (5.2, 5.3), (5.4, 4.8), (9.9, 9.9)]
        labels.add(figure, axes, spots, ["alpha", "beta", "gamma", "a long name"], [(0, 0, 0)] * 4, [])
        figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in axes.texts]
        panel = axes.get_window_extent()
    for index, box in enumerate(boxes):
        assert panel.x0 <= box.x0
        assert box.x1 <= panel.x1
        assert not any(box.overlaps(other) for other in boxes[index + 1 :])


@pytest.mark.parametrize(
    ("name", "shown"), [("a $x$ b", r"a \$x\$ b"), ("a\nb\tc\x00", "a b c"), ("  plain  ", "plain"), ("$", r"\$")]
)
def test_names_of_others_are_no_formulas_and_one_line(name: str, shown: str) -> None:
    assert style.plain(name) == shown
