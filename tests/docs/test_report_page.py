"""docs/report.md: its Python runs as it stands, and its table of options is that of the command."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from scaling_collapse.cli.report import report
from tests.house.files import ROOT
from tests.unit.report.support import family, look

PAGE = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")


def test_the_python_on_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    family().to_csv("curves.csv", index=False)
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    exec(compile(block, "report.md", "exec"), {})
    assert capsys.readouterr().out == "True []\n"
    assert "These 3 runs collapse; no run has an alarm." in look(Path("report.html").read_text(encoding="utf-8")).words


def test_the_page_names_every_option_and_no_other() -> None:
    options = {name for p in inspect.signature(report).parameters.values() for name in (p.default.param_decls or ())}
    table = PAGE[PAGE.index("| option |") : PAGE.index("Exit codes")]
    assert set(re.findall(r"`(--?[a-z]+)", table)) == options - {"--output"}
