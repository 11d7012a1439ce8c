"""Every figure is drawn from synthetic curves: whole, the same each time, honest about what it is."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from scaling_collapse.config.figures import load_figures
from scaling_collapse.errors import ConfigError, FigureError
from scaling_collapse.figures.render import render
from scaling_collapse.paths import Paths
from tests.unit.figures.conftest import REPOSITORY

FIGURES = {entry.name: entry for entry in load_figures(REPOSITORY)}


def copy_of(root: Path, target: Path, *groups: str) -> Path:
    """Return a new root with the configuration and the curves of `groups` alone."""
    shutil.copytree(root / "config", target / "config")
    for group in groups:
        file = Paths("cpu", target).group_curves(group)
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Paths("cpu", root).group_curves(group), file)
    return target


@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_drawn_with_its_data_and_metadata(name: str, synthetic_root: Path) -> None:
    pdf, png, data = render(name, "cpu", synthetic_root, key="stage-1234")
    assert [path.name for path in (pdf, png, data)] == [f"{name}{suffix}" for suffix in (".pdf", ".png", ".parquet")]
    assert not list(pdf.parent.glob(f".{name}*")), "unfinished files are left"
    entry = FIGURES[name]
    text = pdf.read_bytes()
    for words in (f"/Title ({entry.title})", "/Keywords (stage-1234)", name):
        assert words.encode() in text
    assert b"CreationDate" not in text
    with Image.open(png) as picture:
        width, height = picture.size
        colours = np.asarray(picture.convert("RGB")).reshape(-1, 3)
        assert picture.info["dpi"] == pytest.approx((200, 200), abs=0.1)
        assert entry.paper in picture.info["Description"]
    assert width == 1350  # 6.75 inches
    assert 400 <= height <= 1400
    assert 0.02 < (colours < 250).any(axis=1).mean() < 0.5, "blank, or black"
    assert len(pd.read_parquet(data)) >= 20


def test_same_curves_give_the_same_bytes(synthetic_root: Path) -> None:
    name = "fig_02_accuracy_against_flops"  # it has every kind of text
    files = render(name, "cpu", synthetic_root, key="stage-1234")
    first = [path.read_bytes() for path in files]
    for path in files:
        path.unlink()
    assert [path.read_bytes() for path in render(name, "cpu", synthetic_root, key="stage-1234")] == first


def test_a_picture_of_a_scale_without_claims_says_so(synthetic_root: Path) -> None:
    """The notice is a band of dark red, which no curve has."""

    def red(name: str, scale: str) -> float:
        with Image.open(render(name, scale, synthetic_root)[1]) as picture:
            pixels = np.asarray(picture.convert("RGB")).astype(int)
        return float((np.abs(pixels - (178, 24, 43)).max(axis=2) < 6).mean())

    assert red("fig_06_celerity_collapse", "smoke") > 0.002
    assert red("fig_05_compression", "smoke") == 0  # a formula holds at any scale


def test_missing_curves_name_the_file_and_the_command(synthetic_root: Path, tmp_path: Path) -> None:
    root = copy_of(synthetic_root, tmp_path / "new", "celerity_20tpp")
    with pytest.raises(
        FigureError, match=r"celerity_80tpp\.parquet.*collapse curves --scale cpu --group celerity_80tpp"
    ):
        render("fig_06_celerity_collapse", "cpu", root)
    with pytest.raises(FigureError, match=r"curves\.parquet.*collapse curves --scale cpu --all"):
        render("fig_02_accuracy_against_flops", "cpu", root)
    with pytest.raises(FigureError, match=r"back_test\.csv.*collapse table back_test --scale cpu"):
        render("back_test", "cpu", root)
    assert not Paths("cpu", root).figure("fig_06_celerity_collapse").exists()


def test_unknown_figure_or_scale_is_a_typed_error_with_the_nearest_name(synthetic_root: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'fig_06_celerity_collapse'"):
        render("fig_06_celerity_colapse", "cpu", synthetic_root)
    with pytest.raises(ConfigError, match="did you mean 'smoke'"):
        render("headline", "smok", synthetic_root)


def test_a_figure_that_cannot_be_written_is_a_typed_error(synthetic_root: Path, tmp_path: Path) -> None:
    root = copy_of(synthetic_root, tmp_path / "new")
    folder = Paths("cpu", root).figure("fig_05_compression").parent
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where a folder should be")
    with pytest.raises(FigureError, match="could not be written"):
        render("fig_05_compression", "cpu", root)
    assert folder.read_text() == "a file where a folder should be"


def test_entries_modules_and_captions_are_the_same_set() -> None:
    package = REPOSITORY / "src" / "scaling_collapse" / "figures"
    modules = {path.stem for path in package.glob("*.py") if re.fullmatch(r"fig_\d\d_.*|headline|back_test", path.stem)}
    captions = {path.stem for path in (REPOSITORY / "workflow" / "report").glob("*.rst")}
    assert modules == captions == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_caption_says_what_it_reads_and_what_is_ours(name: str) -> None:
    caption = (REPOSITORY / "workflow" / "report" / f"{name}.rst").read_text(encoding="utf-8")
    for group in FIGURES[name].groups:
        assert f"``{group}``" in caption
    assert "What to look for:" in caption
    assert ("Analytic:" if FIGURES[name].analytic else "ours") in caption or "Ours:" in caption
