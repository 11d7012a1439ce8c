from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scaling_collapse.curves.curve import curves_of
from scaling_collapse.curves.table import checked
from scaling_collapse.errors import CurveError
from tests.unit.curves.support import rows

LOSS = np.linspace(4, 3, 10)


def one(frame, split="train", **options):
    (curve,) = curves_of(checked(frame, "here"), split, **options)
    return curve


def test_fraction_of_training_is_tokens_over_total():
    curve = one(rows("a", LOSS, tokens_total=20_000))
    assert curve.t_hat == pytest.approx(np.arange(1, 11) / 20)
    assert curve.loss.tolist() == LOSS.tolist()


def test_last_point_of_a_finished_run_is_exactly_one():
    rounded = one(rows("a", LOSS, tokens_total=9_999.5))
    assert rounded.t_hat[-1] == 1
    with pytest.raises(CurveError, match="more than its total"):
        one(rows("a", LOSS, tokens_total=9_000))


def test_without_tokens_only_complete_runs_have_fractions():
    unknown = rows("a", LOSS).assign(tokens=np.nan)
    with pytest.raises(CurveError, match="tokens or tokens_total are not known"):
        one(unknown)
    assert one(unknown, complete=True).t_hat == pytest.approx(np.arange(1, 11) / 10)


def test_tpp_and_tau_as_stated_or_from_the_recipe():
    # D/N = 10,000/100,000; B/(eta*lambda*D) = 1,000/(0.01*0.1*10,000).
    assert one(rows("a", LOSS)).tpp == pytest.approx(0.1)
    assert one(rows("a", LOSS)).tau == pytest.approx(100)
    assert one(rows("a", LOSS, tpp=20.0, tau=0.2)).tpp == 20
    assert one(rows("a", LOSS, tpp=20.0, tau=0.2)).tau == 0.2
    assert np.isnan(one(rows("a", LOSS, weight_decay=np.nan)).tau)


def test_difficulty_is_there_only_if_every_row_has_it():
    full = rows("a", LOSS).assign(difficulty_nats=0.1)
    gap = full.copy()
    gap.loc[2, "difficulty_nats"] = np.nan
    assert one(full).difficulty.tolist() == [0.1] * 10
    assert one(gap).difficulty is None
    assert one(rows("a", LOSS)).difficulty is None


def test_curves_keep_the_order_of_the_table():
    frame = pd.concat([rows(name, LOSS) for name in ("z", "a", "m")])
    assert [curve.run for curve in curves_of(checked(frame, "here"), "train")] == ["z", "a", "m"]


def test_unknown_split():
    with pytest.raises(CurveError, match=r"no curve of split 'val'.*use one of: train"):
        one(rows("a", LOSS), split="val")
