"""The table of imported curves: what is written is what is in memory, and the science takes it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.curve import curves_of
from scaling_collapse.curves.table import COMMON_COLUMNS, read_curves
from scaling_collapse.errors import LogError
from scaling_collapse.logs import tidy
from scaling_collapse.logs.options import Options
from scaling_collapse.logs.read import read_logs
from tests.unit.logs.samples import SAMPLES, TRAIN
from tests.unit.logs.support import RAW, read


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("piece", [1 << 17, 7, 3])
def test_what_is_written_is_what_is_in_memory(tmp_path, monkeypatch, suffix, piece):
    monkeypatch.setattr(tidy, "PIECE", piece)
    path = tmp_path / "deep" / f"curves{suffix}"
    for name in ("llmc_log", "megatron", "jsonl"):
        found = read(tmp_path, SAMPLES[name].text, facts={"schedule": 'cosine, "to" 10%'})
        tidy.write(found.curves, path)
        assert [file.name for file in path.parent.iterdir()] == [path.name]
        table = read_curves(path)
        assert list(table.columns) == list(COMMON_COLUMNS)
        pd.testing.assert_frame_equal(table, found.frame)


def test_a_failed_write_leaves_the_old_table(tmp_path, monkeypatch):
    found = read(tmp_path, SAMPLES["nanogpt"].text)
    path = tmp_path / "curves.parquet"
    tidy.write(found.curves, path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        tidy.write(found.curves, path)
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["curves.parquet", "some.log"]
    with pytest.raises(LogError, match=r"\.parquet or \.csv"):
        tidy.write(found.curves, tmp_path / "curves.xlsx")


def test_curves_of_takes_the_table(tmp_path):
    found = read(tmp_path, SAMPLES["nanogpt"].text, tokens_per_step=100.0, facts={"tokens_total": 4000.0})
    (train,) = curves_of(found.frame, "train")
    (validation,) = curves_of(found.frame, "validation")
    assert train.loss.tolist() == [loss for _, loss in TRAIN]
    assert train.t_hat.tolist() == pytest.approx([step / 40 for step, _ in TRAIN])
    assert validation.t_hat.tolist() == [0.25, 0.5, 0.75, 1.0]
    (bare,) = curves_of(read(tmp_path, SAMPLES["nanogpt"].text).frame, "train", complete=True)
    assert bare.t_hat[-1] == 1.0
    assert np.isnan(bare.tokens).all()


def test_a_public_family_collapses_as_its_tidy_table_does():
    """The 22 Gemstones shapes, constant rate, 50 points: 0.2-1.0% by others (shared/curves/README.md)."""
    from scaling_collapse.curves.grid import GRID, to_grid
    from scaling_collapse.curves.measures import spread
    from scaling_collapse.curves.normalise import VALIDATION, normalised

    if not RAW.exists():
        pytest.skip("public curves are not beside this checkout")
    found = read_logs([RAW / "jsonl" / "gemstones_hot_477.jsonl"], Options(facts={"tokens_total": 100034150400.0}))
    curves = list(curves_of(found.frame, "train"))
    assert len(curves) == 22
    spread_percent = spread(np.array([to_grid(c.t_hat, normalised(c, VALIDATION), GRID) for c in curves]))
    assert 0.2 < spread_percent < 1.0
