"""References out of a table: finished runs, by name or all, or an error that says which one is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scaling_collapse.errors import CurveError
from scaling_collapse.live.read_references import read_references
from tests.unit.live.support import finished
from tests.unit.predict.support import rows_of


@pytest.fixture
def table(tmp_path: Path) -> Path:
    half = finished(1, "half")
    half = replace(half, **{name: getattr(half, name)[:100] for name in ("t_hat", "loss", "steps", "tokens")})
    path = tmp_path / "curves.csv"
    rows_of([finished(), half, finished(2, "other")]).to_csv(path, index=False)
    return path


def test_all_finished_runs_or_those_named(table: Path) -> None:
    assert [curve.run for curve in read_references(table)] == ["small", "other"]
    assert [curve.run for curve in read_references(str(table), "other")] == ["other"]


def test_a_run_that_is_not_finished_or_not_there_is_named(table: Path) -> None:
    with pytest.raises(CurveError, match="half: it did not finish"):
        read_references(table, "small", "half")
    with pytest.raises(CurveError, match="nobody"):
        read_references(table, "nobody")
    rows_of([replace(finished(), facts=finished().facts | {"status": "diverged"})]).to_csv(table, index=False)
    with pytest.raises(CurveError, match="none of its runs"):
        read_references(table)


def test_without_tokens_complete_has_to_be_said(table: Path) -> None:
    rows_of([finished()]).assign(tokens=None, tokens_total=None).to_csv(table, index=False)
    with pytest.raises(CurveError, match="fraction of training"):
        read_references(table)
    assert len(read_references(table, complete=True)) == 1
