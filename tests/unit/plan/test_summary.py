from __future__ import annotations

import pytest

from scaling_collapse.config.scale import Scale
from scaling_collapse.errors import ConfigError
from scaling_collapse.plan.expand import expand
from scaling_collapse.plan.summary import choose, row, scaled, totals
from tests.unit.config.support import small


@pytest.fixture
def scale() -> Scale:
    groups = small()["groups"]
    groups[1]["ours"] = True
    return Scale.model_validate(small() | {"groups": groups})


def test_totals_count_shared_runs_once(scale: Scale) -> None:
    runs = expand(scale)
    sums = totals(scale, runs)
    assert [(t.group, t.runs, t.new_runs) for t in sums] == [("family", 2, 2), ("sweep", 3, 2), ("seeds", 2, 1)]
    assert sum(t.new_runs for t in sums) == len(runs) == 5
    assert sum(t.new_flops for t in sums) == pytest.approx(sum(run.flops for run in runs))
    assert [(t.group, t.runs, t.new_runs) for t in totals(scale, runs, "seeds")] == [("seeds", 2, 2)]


def test_row_is_ours_only_where_no_printed_group_uses_it(scale: Scale) -> None:
    rows = {r["run_id"]: r for r in (row(scale, run) for run in expand(scale))}
    assert rows["4k-tpp20-base-s0"]["ours"] is False
    assert rows["4k-tpp20-tau0.4-s0"]["ours"] is True


def test_choose_a_group(scale: Scale) -> None:
    runs = expand(scale)
    assert choose(scale, runs, None) == runs
    assert [run.run_id for run in choose(scale, runs, "family")] == ["4k-tpp20-base-s0", "16k-tpp20-base-s0"]
    assert row(scale, runs[0], "seeds")["group"] == "seeds"
    with pytest.raises(ConfigError, match=r"unknown group 'famly'.*did you mean 'family'"):
        choose(scale, runs, "famly")


@pytest.mark.parametrize(
    ("value", "text"), [(999, "999"), (132432, "132.4k"), (109.4e6, "109.4M"), (3.882e9, "3.882B"), (1.2e12, "1.2T")]
)
def test_scaled(value: float, text: str) -> None:
    assert scaled(value) == text
