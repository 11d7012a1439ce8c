"""config/figures.yaml: what is wrong is told in one line, with the file, the key and the nearest name."""

from __future__ import annotations

from pathlib import Path

import pytest

from scaling_collapse.config.figures import find_figure, load_figures
from scaling_collapse.errors import ConfigError
from tests.unit.figures.conftest import REPOSITORY

GOOD = """figures:
  - name: fig_06_celerity_collapse
    title: Collapse
    paper: Fig 6
    category: Collapse
    groups: [celerity_20tpp]
"""


def load(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "figures.yaml").write_text(text, encoding="utf-8")
    load_figures(tmp_path)


def test_the_list_is_sound_and_follows_the_paper() -> None:
    names = [figure.name for figure in load_figures(REPOSITORY)]
    assert names[0] == "headline"
    assert names[-1] == "back_test"
    assert names[1:-1] == sorted(names[1:-1])
    assert all(name.startswith("fig_") for name in names[1:-1])


def test_a_good_file_is_read(tmp_path: Path) -> None:
    load(tmp_path, GOOD)
    assert find_figure("fig_06_celerity_collapse", tmp_path).groups == ("celerity_20tpp",)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("title:", "titel:", r"figures\.yaml:3: figures\[0\]\.titel: unknown key 'titel'.*did you mean 'title'"),
        ("    title: Collapse\n", "", r"figures\[0\]\.title: missing"),
        ("category: Collapse", "category: Colapse", r"figures\.yaml:5.*did you mean 'Collapse'"),
        ("fig_06_celerity_collapse", "fig-6", r"figures\.yaml:2: figures\[0\]\.name.*fig_"),
        ("groups: [celerity_20tpp]", "analytic: true\n    all_runs: true", "an analytic figure reads nothing"),
        ("    groups: [celerity_20tpp]\n", "", "it reads nothing"),
        ("[celerity_20tpp]", "[celerity_20tpp, celerity_20tpp]", "group celerity_20tpp is named twice"),
        ("[celerity_20tpp]", "3", "expected a list, found 3"),
        (GOOD, GOOD + GOOD.removeprefix("figures:\n"), "two figures are named fig_06_celerity_collapse"),
        (GOOD, "figures: []\n", "at least 1 entry"),
        (GOOD, "- name: x\n", "expected one key, figures"),
        (GOOD, "", "the file is empty"),
        ("[celerity_20tpp]", "[celerity_20tpp", r"figures\.yaml:\d+: not valid YAML"),
    ],
)
def test_a_fault_is_told_in_one_line(old: str, new: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        load(tmp_path, GOOD.replace(old, new))
    assert "\n" not in str(caught.value)


def test_an_unknown_figure_is_told_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="did you mean 'fig_05_compression'"):
        find_figure("fig_5_compression", REPOSITORY)
