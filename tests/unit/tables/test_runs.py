from __future__ import annotations

import json

import numpy as np
import pytest

from scaling_collapse.errors import CurveError
from scaling_collapse.paths import Paths
from scaling_collapse.tables.runs import runs_table
from tests.unit.curves.support import a_run, write_run


def test_every_run_with_its_recipe_and_end(tmp_path):
    paths = Paths("smoke", tmp_path)
    runs = [a_run("one"), a_run("two", tau=None), a_run("three")]
    write_run(paths, runs[0])
    write_run(paths, runs[1], np.full(40, np.nan), status="diverged")
    table = runs_table(paths, runs).set_index("run_id")
    assert table["status"].to_dict() == {"one": "finished", "two": "diverged", "three": "not trained"}
    assert table.loc["one", "final_loss_nats"] == pytest.approx(3 + 1 / 40)
    assert table.loc["one", "final_validation_bits_per_byte"] == 2.0
    assert np.isnan(table.loc["two", "final_loss_nats"])
    assert np.isnan(table.loc["two", "tau"])
    assert np.isnan(table.loc["three", "seconds"])
    assert table.loc["three", "groups"] == "celerity_20tpp"


def test_an_incomplete_record_is_one_line(tmp_path):
    paths = Paths("smoke", tmp_path)
    write_run(paths, a_run())
    path = paths.run(a_run().run_id) / "run.json"
    path.write_text(json.dumps({"status": "finished", "final_loss_nats": 3.0}))
    with pytest.raises(CurveError, match="lacks final_validation_loss_nats"):
        runs_table(paths, [a_run()])
