from __future__ import annotations

import numpy as np
import pytest

from scaling_collapse.curves.normalise import TRAINING
from scaling_collapse.figures.lines import line_of
from scaling_collapse.report.palette import MOST_KEYS, palette_of
from tests.unit.curves.support import curve, shape

T = np.arange(1, 101) / 100
UNKNOWN = {"tau": np.nan, "tpp": np.nan, "weight_decay": np.nan, "size_params": np.nan, "tokens_total": np.nan}


def line(run, **facts):
    known = {"size_params": 1e5, "tau": 0.2, "tpp": 20.0} | facts
    return line_of(curve(3 * shape(T), run, **known), TRAINING)


def test_sizes_tell_runs_apart_before_anything_else():
    palette = palette_of([line("a", size_params=1e5), line("b", size_params=2e5), line("c", tau=0.1)])
    assert palette.words == "by size"
    assert palette.colour_of["a"] == palette.colour_of["c"] != palette.colour_of["b"]
    assert [key.cells for key in palette.key.keys] == [("100k", "0.2"), ("200k", "0.2"), ("100k", "0.1")]
    assert palette.key.title == "20 TPP"
    assert not palette.by_run


@pytest.mark.parametrize(
    ("fact", "values", "words"),
    [
        ("tau", (0.1, 0.2), "by tau"),
        ("tpp", (20.0, 80.0), "by tokens per parameter"),
        ("batch_tokens", (1e3, 2e3), "by batch"),
        ("lr_peak", (0.01, 0.02), "by learning rate"),
        ("tau", (0.2, 0.205), "one for each run"),  # one setting: steps are whole
        ("seed", (0.0, 1.0), "one for each run"),
    ],
)
def test_runs_of_one_size_differ_by_what_was_swept(fact, values, words):
    palette = palette_of([line(str(value), **{fact: value}) for value in values])
    assert palette.words == words
    assert len(set(palette.colour_of.values())) == 2
    assert palette.by_run == (words == "one for each run")


def test_where_nothing_is_known_each_run_has_its_colour_and_the_legend_is_left_to_the_page():
    palette = palette_of([line(f"r{i}", **UNKNOWN, batch_tokens=np.nan, lr_peak=np.nan) for i in range(30)])
    assert palette.by_run
    assert palette.key is None
    assert len({palette.hexadecimal(f"r{i}") for i in range(30)}) == 30


def test_a_legend_that_would_be_long_shows_what_colours_mean_or_nothing():
    sizes = [1e5, 2e5, 4e5]
    many = palette_of([line(f"{n}-{tau}", size_params=n, tau=tau) for n in sizes for tau in np.geomspace(0.01, 1, 9)])
    assert [key.cells for key in many.key.keys] == [("100k",), ("200k",), ("400k",)]
    assert palette_of([line(str(i), size_params=1e5 * 1.5**i) for i in range(MOST_KEYS + 1)]).key is None


def test_colours_are_written_as_pages_take_them():
    assert palette_of([line("a")]).hexadecimal("a").startswith("#")
    assert len(palette_of([line("a")]).hexadecimal("a")) == 7
