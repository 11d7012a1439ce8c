"""CSV, JSONL, JSON lists and parquet: headers, ragged rows, names of columns, runs and facts."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from scaling_collapse.errors import LogError
from scaling_collapse.logs import curves, records
from scaling_collapse.logs.formats import delimited, json_array
from scaling_collapse.logs.parser import DAMAGED, NO_STEP, NOT_A_NUMBER, NOT_A_STEP, OTHER_LINES
from tests.unit.logs.samples import SAMPLES, TRAIN, VALIDATION
from tests.unit.logs.support import note, noted, points, read

ROWS = "".join(f"{step},{loss}\n" for step, loss in TRAIN)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_delimiters_quotes_and_spaces(tmp_path, delimiter, quote):
    rows = [("Step", " train_loss"), *TRAIN]
    text = "".join(delimiter.join(f"{quote}{cell}{quote}" for cell in row) + "\n" for row in rows)
    assert points(read(tmp_path, text)) == TRAIN


def test_comments_before_the_header(tmp_path):
    found = read(tmp_path, "# my experiment\n# date, 1 May\n\nstep,loss\n" + ROWS)
    assert points(found) == TRAIN
    assert noted(found, OTHER_LINES) == 2


def test_rows_shorter_and_longer_than_the_header(tmp_path):
    text = "step,loss,val_loss\n1,3.5\n2,3.4,\n3,3.3,3.6\n4,3.2,3.5,9\n5,3.1,3.4,\n"
    found = read(tmp_path, text)
    assert points(found) == [(1, 3.5), (2, 3.4), (3, 3.3), (5, 3.1)]
    assert points(found, "validation") == [(3, 3.6), (5, 3.4)]
    assert noted(found, delimited.SHORT) == 1
    assert noted(found, delimited.LONG) == 1


def test_a_header_that_comes_again_with_more_columns(tmp_path):
    text = "step,loss\n1,3.5\n2,3.4\nstep,loss\n3,3.3\nepoch,step,loss,val_loss\n0,4,3.2,3.9\n1,5,3.1,3.8\n"
    found = read(tmp_path, text)
    assert points(found) == [(1, 3.5), (2, 3.4), (3, 3.3), (4, 3.2), (5, 3.1)]
    assert points(found, "validation") == [(4, 3.9), (5, 3.8)]
    assert noted(found, delimited.REPEATED_HEADER) == 2


def test_cells_that_are_no_numbers(tmp_path):
    text = "step,loss\n1,3.5\n2,oops\n3,1_0\n4,٣\n5.5,3.2\n,3.1\n6,\n7,3.0\n8.0,2.9\n9e0,2.8\n1e30,2\n"
    found = read(tmp_path, text)
    assert points(found) == [(1, 3.5), (7, 3.0), (8, 2.9), (9, 2.8)]
    assert (noted(found, NOT_A_NUMBER), noted(found, NOT_A_STEP), noted(found, NO_STEP)) == (3, 2, 1)
    assert noted(found, records.NO_LOSS) == 4


def test_losses_that_the_table_cannot_hold(tmp_path):
    text = "step,loss\n-1,9\n0,9\n1,3.5\n2,nan\n3,inf\n4,0\n5,-2\n6,3\n"
    found = read(tmp_path, text)
    assert points(found) == [(1, 3.5), (6, 3.0)]
    counts = [noted(found, what) for what in (curves.BEFORE_TRAINING, curves.NOT_FINITE, curves.NOT_POSITIVE)]
    assert counts == [2, 2, 2]
    assert note(found, curves.NOT_FINITE).example == "some at step 2"
    found.frame  # noqa: B018 - the table takes it


def test_a_quoted_cell_over_several_lines(tmp_path):
    text = 'step,notes,loss\n1,"a\n2,b,9.9\nc",3.5\n2,"plain",3.4\n3,"",3.3\n'
    assert points(read(tmp_path, text)) == [(1, 3.5), (2, 3.4), (3, 3.3)]


@pytest.mark.parametrize("step", [10, 35])
def test_a_stray_quote_costs_its_line(tmp_path, step):
    rows = [(s, loss) for s, loss in zip(range(1, 201), np.linspace(9, 3, 200).round(4).tolist(), strict=True)]
    text = "step,loss\n" + "".join(f"{s},{loss}\n" for s, loss in rows).replace(f"\n{step},", f'\n"{step},', 1)
    for end in (len(text), text.index("60,")):  # the quote is given up after 50 lines, or at the end
        found = read(tmp_path, text[:end])
        assert points(found) == [pair for pair in rows if pair[0] != step and (end == len(text) or pair[0] < 60)]
        assert noted(found, DAMAGED) == 1


def test_a_last_row_without_line_end_is_told(tmp_path):
    found = read(tmp_path, ("step,loss\n" + ROWS)[:-1])
    assert points(found) == TRAIN
    assert noted(found, delimited.CUT) == 1


def test_no_column_of_steps(tmp_path):
    with pytest.raises(LogError, match="--step row counts records"):
        read(tmp_path, "loss,lr\n3.5,0.1\n3.4,0.1\n")
    found = read(tmp_path, "loss,lr\n3.5,0.1\n3.4,0.1\n", step="row")
    assert points(found) == [(1, 3.5), (2, 3.4)]
    found = read(tmp_path, "tokens,loss\n1000,3.5\n2000,3.4\n")
    assert points(found) == [(1000, 3.5), (2000, 3.4)]
    assert found.curves[0].tokens.tolist() == [1000.0, 2000.0]


def test_a_column_of_steps_that_is_named(tmp_path):
    text = "step,batches,loss\n1,10,3.5\n2,20,3.4\n"
    assert points(read(tmp_path, text, step="batches")) == [(10, 3.5), (20, 3.4)]
    assert points(read(tmp_path, text)) == [(1, 3.5), (2, 3.4)]


def test_runs_by_a_column(tmp_path):
    text = "run_name,arm,step,loss\na,x,1,3.5\nb,y,1,4.5\na,x,2,3.4\nb,y,2,4.4\n"
    found = read(tmp_path, text)
    assert points(found, run="a") == [(1, 3.5), (2, 3.4)]
    found = read(tmp_path, text, run_column="arm")
    assert points(found, run="y") == [(1, 4.5), (2, 4.4)]
    with pytest.raises(LogError, match="names 2 runs itself"):
        read(tmp_path, text, run="mine")


@pytest.mark.parametrize("option", ["step", "run_column"])
def test_a_column_that_is_not_there(tmp_path, option):
    for text in ("step,loss\n" + ROWS, SAMPLES["nanogpt"].text):
        with pytest.raises(LogError, match=f"--{option.replace('_', '-')} where: no such column in"):
            read(tmp_path, text, **{option: "where"})


def test_facts_and_runs_of_strange_kinds(tmp_path):
    records_of = [{"step": s, "loss": x, "seed": [1, 2], "run": None if s < 9 else ["r"]} for s, x in TRAIN]
    found = read(tmp_path, "".join(json.dumps(record) + "\n" for record in records_of))
    assert points(found, run="some") == TRAIN[:8]
    assert points(found, run="['r']") == TRAIN[8:]
    assert math.isnan(found.curves[0].facts["seed"])


def test_facts_of_the_one_run_that_is_renamed(tmp_path):
    text = "run,seed,step,loss\n" + "".join(f"a,7,{s},{x}\n" for s, x in TRAIN)
    (curve,) = read(tmp_path, text, run="mine").curves
    assert (curve.run, curve.facts["seed"]) == ("mine", 7)


def test_names_that_are_different_in_each_row(tmp_path):
    text = "run,split,step,loss\n" + "".join(f"r{i},s{i},{i},3\n" for i in range(1, 20_000))
    found = read(tmp_path, text + "r1,s1,2,2.9\n")
    assert points(found, "s1", run="r1") == [(1, 3.0), (2, 2.9)]
    assert noted(found, curves.TOO_SHORT) == 19_998


def test_several_runs_without_names(tmp_path):
    found = read(tmp_path, "step,loss\n1,3.5\n2,3.4\n1,4.5\n2,4.4\n3,4.3\n")
    assert points(found, run="some") == [(1, 3.5), (2, 3.4)]
    assert points(found, run="some (2)") == [(1, 4.5), (2, 4.4), (3, 4.3)]
    assert noted(found, curves.SECOND_RUN) == 1
    found = read(tmp_path, "step,loss\n1,3.5\n2,3.4\n1,4.5\n2,4.4\n3,4.3\n", run="one")
    assert points(found, run="one") == [(1, 4.5), (2, 4.4), (3, 4.3)]


def test_restarts_and_duplicates_are_told(tmp_path):
    steps = [*range(400, 451), *range(430, 460), 460, 460]
    found = read(tmp_path, "step,loss\n" + "".join(f"{step},{9 - i / 100}\n" for i, step in enumerate(steps)))
    assert [step for step, _ in points(found)] == list(range(400, 461))
    assert noted(found, curves.TAKEN_BACK) == 21
    assert note(found, curves.TAKEN_BACK).example == "some, back from step 450 to 430"
    assert noted(found, curves.DIFFERING) == 1


def test_two_runs_interleaved_are_suspected(tmp_path):
    text = "step,loss\n" + "".join(f"{step},{loss}\n{step},{loss + 1}\n" for step, loss in TRAIN)
    assert noted(read(tmp_path, text), curves.INTERLEAVED) == 1


def test_tokens_and_facts(tmp_path):
    text = "step,loss,tokens,seed,wd\n" + "".join(f"{s},{x},{1000 * s},7,{0.1 * (s > 5)}\n" for s, x in TRAIN)
    found = read(tmp_path, text, facts={"tokens_total": 4e4, "schedule": "cosine"})
    (curve,) = found.curves
    assert curve.tokens.tolist() == [1000.0 * step for step, _ in TRAIN]
    assert curve.facts["seed"] == 7
    assert curve.facts["schedule"] == "cosine"
    assert math.isnan(curve.facts["weight_decay"])
    assert noted(found, records.VARIES) == 1
    (curve,) = read(tmp_path, "step,loss\n" + ROWS, tokens_per_step=512.0).curves
    assert curve.tokens.tolist() == [512.0 * step for step, _ in TRAIN]
    assert curve.facts["batch_tokens"] == 512


def test_tokens_that_are_infinite_are_not_known(tmp_path):
    found = read(tmp_path, "step,loss,tokens,lr\n1,3,100,inf\n2,2.9,1e999,1\n3,2.8,300,1\n")
    assert found.curves[0].tokens.tolist() == pytest.approx([100, math.nan, 300], nan_ok=True)
    assert found.frame["lr"].tolist() == pytest.approx([math.nan, 1, 1], nan_ok=True)


def test_tokens_that_fall_are_left_empty(tmp_path):
    found = read(tmp_path, "step,loss,tokens\n1,3,100\n2,2.9,50\n3,2.8,300\n")
    assert np.isnan(found.curves[0].tokens).all()
    assert noted(found, curves.TOKENS) == 1


def test_wandb_headings_with_and_without_bounds(tmp_path):
    names = ["a - b - train/loss", "c - train/loss"]
    bounds = [f"{name}__{end}" for name in names for end in ("MIN", "MAX")]
    for extra in ([], bounds):
        text = ",".join(f'"{name}"' for name in ["Step", "a - b - _step", *names, *extra]) + "\n"
        for step, loss in TRAIN:
            text += ",".join(f'"{cell}"' for cell in [step, step, loss, loss + 1, *[9] * len(extra)]) + "\n"
        found = read(tmp_path, text)
        assert points(found, run="a - b") == TRAIN
        assert points(found, run="c") == [(step, loss + 1) for step, loss in TRAIN]
        assert noted(found, records.BOUNDS) == len(extra)
        assert points(read(tmp_path, text, loss="c - train/loss"), run="a - b") == TRAIN


def test_splits_that_records_name(tmp_path):
    text = "step,split,loss,aux_loss\n" + "".join(f"{s},train,{x},1\n{s},c4,{x + 1},1\n" for s, x in TRAIN)
    found = read(tmp_path, text)
    assert points(found, "train") == TRAIN
    assert points(found, "c4") == [(step, loss + 1) for step, loss in TRAIN]


def test_nested_json(tmp_path):
    text = "".join(json.dumps({"step": s, "train": {"loss": x, "more": {"aux_loss": 1}}}) + "\n" for s, x in TRAIN)
    assert points(read(tmp_path, text)) == TRAIN
    beside = "".join(json.dumps({"step": s, "loss": x, "val": {"loss": x + 1}}) + "\n" for s, x in TRAIN)
    assert points(read(tmp_path, beside), "validation") == [(step, loss + 1) for step, loss in TRAIN]
    assert points(read(tmp_path, text, loss="train/more/aux_loss")) == [(step, 1.0) for step, _ in TRAIN]


def test_json_that_is_hard_to_read(tmp_path):
    good = "".join(json.dumps({"step": s, "loss": x}) + "\n" for s, x in TRAIN)
    bad = ['{"step": 41, "loss": 3.1', '{"step": 41, "loss": 3.1}}', '{"a":' * 50_000, '{"step": 41 "loss": 3}']
    found = read(
        tmp_path, good + "\n".join(bad) + "\nNaN\n" + '{"step": 42, "loss": NaN}\n{"step": 43, "loss": "3.5"}\n'
    )
    assert points(found) == [*TRAIN, (43, 3.5)]
    assert noted(found, DAMAGED) == 4
    assert noted(found, curves.NOT_FINITE) == 1


def test_lines_of_json_do_not_run_into_each_other(tmp_path):
    lines = [json.dumps({"step": s, "loss": x}) for s, x in TRAIN]
    lines[10:12] = ['{"step": 11, "loss": 1', '"x": 2}']
    found = read(tmp_path, "\n".join(lines) + "\n")
    assert points(found) == TRAIN[:10] + TRAIN[12:]


def test_json_numbers_beyond_floats(tmp_path):
    text = '{"step": 1, "loss": 3}\n{"step": 2, "loss": 1%s}\n{"step": 3, "loss": 2}\n' % ("0" * 400)
    found = read(tmp_path, text * 3, run="x")
    assert [step for step, _ in points(found)] == [1, 3]
    assert noted(found, NOT_A_NUMBER) == 3


def test_blocks_of_many_lines_and_few_others(tmp_path):
    """More than a chunk, so that both the fast and the careful way are taken, in files that mix them."""
    steps = range(1, 30_001)
    train = [(step, 9.0 - step / 10_000) for step in steps]
    lines = [json.dumps({"step": s, "loss": x, "lr": 1e-4, "run": "r"}) for s, x in train]
    for place in range(25_000, 0, -5000):
        lines.insert(place, json.dumps({"step": place, "eval_loss": 9.5 - place / 10_000, "run": "r"}))
    found = read(tmp_path, "\n".join(lines) + "\n")
    assert points(found) == train
    assert [step for step, _ in points(found, "validation")] == list(range(5000, 30_000, 5000))
    text = "step,loss,lr\n" + "".join(f"{s},{x},{1e-4}\n" for s, x in train)
    assert points(read(tmp_path, text.replace("29000,", "29000.0,"))) == train


@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_of_objects_is_read(tmp_path, indent):
    text = json.dumps([{"step": s, "loss": x} for s, x in TRAIN], indent=indent)
    assert points(read(tmp_path, text)) == TRAIN


@pytest.mark.parametrize("indent", [None, 2])
def test_a_cut_trainer_state_is_read_as_far_as_it_goes(tmp_path, indent):
    text = json.dumps(json.loads(SAMPLES["trainer_state"].text), indent=indent)
    for end in range(text.index('"loss"') + 600, len(text) - 120, 97):
        found = read(tmp_path, text[:end])
        got = points(found)
        assert got == TRAIN[: len(got)]
        assert set(points(found, "validation")) <= set(VALIDATION)
        assert noted(found, json_array.CUT) == 1


def test_a_trainer_state_with_a_damaged_record(tmp_path):
    text = SAMPLES["trainer_state"].text.replace('"loss": ' + str(dict(TRAIN)[20]), '"loss" 7')
    found = read(tmp_path, text)
    assert points(found) == [pair for pair in TRAIN if pair[0] != 20]
    assert noted(found, DAMAGED) == 1


def test_a_list_of_damaged_objects_is_given_up(tmp_path):
    good = "".join(json.dumps({"step": s, "loss": x}) + "," for s, x in TRAIN)
    found = read(tmp_path, "[" + good + '{"a": "b' * 100_000)
    assert points(found) == TRAIN
    assert noted(found, json_array.GIVEN_UP) == 1


def test_parquet(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"_step": [s for s, _ in TRAIN], "train/loss": [x for _, x in TRAIN], "note": "x"})
    frame["val/loss"] = [loss + 1 if step % 10 == 0 else None for step, loss in TRAIN]
    frame["run"] = "p"
    frame.to_parquet(tmp_path / "x.parquet")
    content = (tmp_path / "x.parquet").read_bytes()
    found = read(tmp_path, content)
    assert points(found, run="p") == TRAIN
    assert points(found, "validation") == [(step, loss + 1) for step, loss in TRAIN if step % 10 == 0]
    for broken in (content[:-20], content[:50], content[:4] + bytes(len(content) - 8) + content[-4:]):
        with pytest.raises(LogError, match="not a readable parquet table"):
            read(tmp_path, broken)
    with pytest.raises(LogError, match="not a readable parquet table"):
        read(tmp_path, "step,loss\n" + ROWS, format="parquet")
    frame[["_step", "note"]].to_parquet(tmp_path / "y.parquet")
    with pytest.raises(LogError, match="without a column of losses"):
        read(tmp_path, (tmp_path / "y.parquet").read_bytes())
