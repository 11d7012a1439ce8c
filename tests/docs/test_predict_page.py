"""docs/predict.md: its Python runs as it stands, and its constants are those that the package holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scaling_collapse.surrogate.published import PUBLISHED
from scaling_collapse.surrogate.study import FORMS
from tests.house.files import ROOT
from tests.unit.predict.support import family, rows_of

PAGE = (ROOT / "docs" / "predict.md").read_text(encoding="utf-8")
NUMBER = r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]"


def test_the_python_on_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows_of(family()).replace({"run": {"r0": "small"}}).to_csv("curves.csv", index=False)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "predict.md", "exec"), {})
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["r1", "r2", "r3"]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("split", ["train", "validation"])
def test_the_constants_on_the_page_are_those_of_the_package(name: str, split: str) -> None:
    row = re.search(rf"^\| {name} \| {split} \| (.*) \| ([\d.]+) \|$", PAGE, re.M)
    assert row is not None
    entry, form = PUBLISHED[(FORMS[name], split)], FORMS[name]
    found = [tuple(map(float, numbers)) for numbers in re.findall(NUMBER, row[1])]
    expected = [tuple(getattr(part, c) for part in (entry.surrogate, entry.low, entry.high)) for c in form.fitted]
    assert found == expected
    assert float(row[2]) == pytest.approx(entry.mae_percent, abs=0.0051)
