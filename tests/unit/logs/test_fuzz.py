"""Mutants of logs end in a typed error or in losses that stand in them; benchmarks/log_reading.py reads 10,000."""

from __future__ import annotations

import gzip

import pytest

from tests.unit.logs.mutants import judge, originals, partners
from tests.unit.logs.samples import TRAIN

#: Mutants of each file here, and bytes of a mutant at most.
SEEDS, PIECE = 12, 6000


@pytest.fixture(scope="module")
def files():
    return originals()


def test_no_mutant_gives_a_traceback_a_hang_or_a_wrong_number(files, tmp_path):
    others = partners(files)
    verdicts = {
        (original.name, seed): judge(original, 1000 * place + seed, others, tmp_path, PIECE)
        for place, original in enumerate(files)
        for seed in range(SEEDS)
    }
    assert {key: v.fault for key, v in verdicts.items() if v.fault} == {}
    assert {key: sorted(v.wrong)[:3] for key, v in verdicts.items() if v.wrong} == {}
    assert {key: v.seconds for key, v in verdicts.items() if v.seconds > 20} == {}
    assert sum(v.losses > 0 for v in verdicts.values()) > len(verdicts) / 2  # most mutants still hold losses


@pytest.mark.parametrize("name", ["nanogpt", "trainer_state", "lightning_csv", "nanogpt.gz"])
def test_the_judgement_finds_wrong_numbers(files, name):
    (original,) = [original for original in files if original.name == name]
    right = dict(TRAIN)
    content = gzip.decompress(original.content) if name.endswith(".gz") else original.content
    assert original.wrong(content, {(5, right[5]), (6, right[6])}) == set()
    assert original.wrong(content, {(5, right[6]), (6, right[6])}) == {(5, right[6])}
    assert original.wrong(content, {(5, right[5] + 1e-4)}) == {(5, right[5] + 1e-4)}
