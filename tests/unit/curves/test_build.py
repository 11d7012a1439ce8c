from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.corpus.sampler import Sampler
from scaling_collapse.corpus.shards import Info, write_info, write_shard
from scaling_collapse.curves.build import build_curves
from scaling_collapse.curves.difficulty import BigramModel
from scaling_collapse.curves.table import COLUMNS
from scaling_collapse.errors import CurveError
from scaling_collapse.paths import Paths
from tests.unit.curves.support import a_run, write_run


@pytest.fixture
def paths(tmp_path):
    return Paths("smoke", tmp_path)


def write_corpus(paths, vocabulary=16, floor=None):
    tokens = np.random.default_rng(0).integers(0, vocabulary, 2000).astype("<u2")
    paths.corpus.mkdir(parents=True)
    for name in ("train.bin", "held_out.bin"):
        write_shard(paths.corpus / name, [tokens])
    settings = {"source": "test", "sources": (), "vocabulary": vocabulary, "end_of_text": None, "dtype": "uint16"}
    settings |= {"train_tokens": 2000, "held_out_tokens": 2000, "train_bytes": None, "held_out_bytes": None}
    settings |= {"train_documents": 1, "held_out_documents": 1, "bytes_per_token": None, "sha256": {}, "settings": {}}
    settings |= {"irreducible_loss_nats": floor}
    write_info(paths.corpus, Info(**settings))
    return tokens


def test_one_row_for_each_run_split_and_step(paths):
    runs = [a_run(), a_run("200k-tpp20-s1", params=200_000, size="200k", seed=1, tau=None)]
    for run in runs:
        write_run(paths, run)
    table = build_curves(paths, runs)
    assert list(table.columns) == list(COLUMNS)
    counts = table.groupby(["run", "split"]).size().to_dict()
    assert counts == {(run.run_id, split): n for run in runs for split, n in (("train", 40), ("validation", 20))}
    row = table[(table["run"] == "200k-tpp20-s1") & (table["step"] == 7)].iloc[0]
    assert (row["loss"], row["tokens"], row["lr_peak"], row["seed"]) == (3 + 1 / 7, 7 * 16, 0.005, 1)
    assert (row["size"], row["status"], row["split"]) == ("200k", "finished", "train")
    assert np.isnan(row["tau"])
    assert np.isnan(row["bits_per_byte"])
    held_out = table[table["split"] == "validation"]
    assert (held_out["bits_per_byte"] == 2.0).all()


def test_without_a_corpus_there_is_no_difficulty(paths):
    write_run(paths, a_run())
    assert build_curves(paths, [a_run()])["difficulty_nats"].isna().all()


def test_training_rows_have_the_difficulty_of_their_batches(paths):
    tokens = write_corpus(paths)
    run = a_run(seed=3)
    write_run(paths, run)
    table = build_curves(paths, [run])
    expected = BigramModel(tokens, 16).batch_difficulty(Sampler(tokens, 8, seed=3), 2, 40)
    assert table.loc[table["split"] == "train", "difficulty_nats"].to_numpy() == pytest.approx(expected)
    assert table.loc[table["split"] == "validation", "difficulty_nats"].isna().all()


def test_a_known_floor_is_in_every_row(paths):
    write_corpus(paths, floor=1.25)
    write_run(paths, a_run())
    assert (build_curves(paths, [a_run()])["irreducible_nats"] == 1.25).all()


def test_large_vocabularies_go_without(paths):
    write_corpus(paths, vocabulary=5000)
    write_run(paths, a_run())
    assert build_curves(paths, [a_run()])["difficulty_nats"].isna().all()


def test_a_diverged_curve_ends_before_its_fault(paths):
    loss = np.full(40, 3.0)
    loss[25:] = np.nan
    write_run(paths, a_run(), loss, status="diverged")
    table = build_curves(paths, [a_run()])
    train = table[table["split"] == "train"]
    assert train["step"].max() == 25
    assert (table["status"] == "diverged").all()


def test_a_run_that_diverged_at_once_has_no_curve_but_does_not_stop_the_rest(paths):
    write_run(paths, a_run("bad"), np.full(40, np.nan), status="diverged")
    write_run(paths, a_run("good"))
    table = build_curves(paths, [a_run("bad"), a_run("good")])
    assert set(table.loc[table["split"] == "train", "run"]) == {"good"}


def test_nan_in_a_finished_run_is_an_error(paths):
    write_run(paths, a_run(), np.full(40, np.nan))
    with pytest.raises(CurveError, match="column loss is empty"):
        build_curves(paths, [a_run()])


def break_record(folder):
    (folder / "run.json").write_text('{"status": ')


def break_status(folder):
    (folder / "run.json").write_text(json.dumps({"status": "running"}))


def break_table(folder):
    (folder / "train.parquet").write_bytes(b"not parquet")


def break_column(folder):
    pd.DataFrame({"step": [1]}).to_parquet(folder / "train.parquet")


def lose_table(folder):
    (folder / "validation.parquet").unlink()


def lose_record(folder):
    (folder / "run.json").unlink()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lose_record, "100k-tpp20-s0: this run is not finished"),
        (break_record, r"run\.json: cannot be read"),
        (break_status, "neither finished nor diverged"),
        (break_table, r"train\.parquet: cannot be read"),
        (break_column, r"train\.parquet: cannot be read"),
        (lose_table, r"validation\.parquet: is missing"),
    ],
)
def test_faulty_folders_are_one_line_errors(paths, fault, message):
    write_run(paths, a_run())
    fault(paths.run(a_run().run_id))
    with pytest.raises(CurveError, match=message) as caught:
        build_curves(paths, [a_run()])
    assert "\n" not in str(caught.value)


def test_no_runs(paths):
    with pytest.raises(CurveError, match="no run has a curve"):
        build_curves(paths, [])
