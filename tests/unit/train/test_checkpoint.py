"""Checkpoints: exact restoration, damage, fallback, and never one of another specification."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from scaling_collapse.train.checkpoint import (
    DamagedCheckpointError,
    newest_first,
    read_header,
    restore,
    save_checkpoint,
    state_tensors,
)
from scaling_collapse.train.identity import code_fingerprint, difference
from scaling_collapse.train.log import MetricLog, read_log
from scaling_collapse.train.resume import LOG_FILE, SUPERSEDED, Start, resume

IDENTITY = {"run": "a", "corpus": "b", "code": "c", "torch": "d"}
VALIDATION_STEPS = frozenset({2, 4, 6})


def tensors(value: float) -> dict[str, Tensor]:
    return {"weights.x": torch.full((3, 5), value), "adamw.step": torch.tensor(value)}


def run_to(folder: Path, steps: int, checkpoints: tuple[int, ...]) -> None:
    """Log `steps` steps, checkpointing tensors that hold the step's number."""
    log = MetricLog(folder / LOG_FILE)
    for step in range(1, steps + 1):
        log.append("train", step, loss_nats=10.0 - step)
        if step in VALIDATION_STEPS:
            log.append("validation", step, loss_nats=11.0 - step)
        if step in checkpoints:
            save_checkpoint(folder, tensors(float(step)), step, 0.5 * step, IDENTITY)
    log.close()


def resumed(folder: Path, identity: dict[str, str] = IDENTITY) -> tuple[Start, float, list[str]]:
    live, said = tensors(0.0), []
    start = resume(folder, live, identity, VALIDATION_STEPS, said.append)
    return start, float(live["weights.x"][0, 0]), said


def damage(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def test_optimizer_state_is_restored_exactly_and_training_continues_with_the_same_bits(tmp_path: Path) -> None:
    torch.manual_seed(0)
    decoder = torch.nn.Linear(7, 3)
    optimizer = torch.optim.AdamW(decoder.parameters(), lr=0.1, fused=True)
    data = torch.randn(20, 4, 7)

    def steps(model: torch.nn.Module, adamw: torch.optim.Optimizer, batches: Tensor) -> None:
        for batch in batches:
            adamw.zero_grad()
            model(batch).square().mean().backward()
            adamw.step()

    steps(decoder, optimizer, data[:10])
    save_checkpoint(tmp_path, state_tensors(decoder, optimizer), 10, 1.5, IDENTITY)
    fresh = torch.nn.Linear(7, 3)
    fresh_optimizer = torch.optim.AdamW(fresh.parameters(), lr=0.1, fused=True)
    (path,) = newest_first(tmp_path)
    header = read_header(path)
    restore(path, header, state_tensors(fresh, fresh_optimizer))
    assert (header.step, header.seconds, header.identity) == (10, 1.5, IDENTITY)
    steps(decoder, optimizer, data[10:])
    steps(fresh, fresh_optimizer, data[10:])
    for old, new in zip(decoder.parameters(), fresh.parameters(), strict=True):
        assert torch.equal(old, new)


def test_only_the_newest_two_are_kept(tmp_path: Path) -> None:
    run_to(tmp_path, 7, (1, 3, 5, 7))
    assert [path.name for path in newest_first(tmp_path)] == [
        "step-000000007.safetensors",
        "step-000000005.safetensors",
    ]


def test_a_flipped_byte_is_noticed_and_nothing_is_overwritten(tmp_path: Path) -> None:
    run_to(tmp_path, 1, (1,))
    (path,) = newest_first(tmp_path)
    whole = path.read_bytes()
    unnoticed = []
    for position in range(0, len(whole), 3):
        damage(path, position)
        live = tensors(0.0)
        try:
            header = read_header(path)
            restore(path, header, live)
            same = header.step == 1 and not difference(header.identity, IDENTITY)
            if not same or not torch.equal(live["weights.x"], tensors(1.0)["weights.x"]):
                unnoticed.append(position)
        except DamagedCheckpointError:
            assert not live["weights.x"].any()
        path.write_bytes(whole)
    assert unnoticed == []


@pytest.mark.parametrize("how", ["cut short", "flipped bit", "empty"])
def test_a_damaged_newest_falls_back_to_the_one_before_with_a_warning(tmp_path: Path, how: str) -> None:
    run_to(tmp_path, 6, (3, 5))
    newest = newest_first(tmp_path)[0]
    if how == "flipped bit":
        damage(newest, -1)
    else:
        newest.write_bytes(newest.read_bytes()[: {"cut short": 150, "empty": 0}[how]])
    start, value, said = resumed(tmp_path)
    assert (start.step, start.seconds, start.losses, value) == (3, 1.5, [9.0, 8.0, 7.0], 3.0)
    assert len(said) == 1
    assert "step-000000005.safetensors is not usable" in said[0]
    assert [record.step for record in read_log(tmp_path / LOG_FILE)] == [1, 2, 2, 3]


def test_when_both_are_damaged_training_starts_afresh(tmp_path: Path) -> None:
    run_to(tmp_path, 6, (3, 5))
    for path in newest_first(tmp_path):
        path.write_bytes(b"")
    start, value, said = resumed(tmp_path)
    assert (start, value) == (Start(), 0.0)
    assert "starts afresh: no checkpoint is usable" in said[-1]
    assert read_log(tmp_path / LOG_FILE) == []


def test_a_log_that_lacks_records_makes_its_checkpoints_unusable(tmp_path: Path) -> None:
    run_to(tmp_path, 6, (3, 5))
    lines = (tmp_path / LOG_FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / LOG_FILE).write_bytes(b"".join(line for line in lines if b'"validation", "step": 4' not in line))
    start, value, said = resumed(tmp_path)
    assert (start.step, value) == (3, 3.0)
    assert "lacks validation records" in said[0]


@pytest.mark.parametrize(
    ("key", "words"), [("run", "specification"), ("corpus", "corpus"), ("torch", "torch's version")]
)
def test_another_identity_is_never_continued(tmp_path: Path, key: str, words: str) -> None:
    run_to(tmp_path, 6, (3, 5))
    start, value, said = resumed(tmp_path, {**IDENTITY, key: "other"})
    assert (start, value) == (Start(), 0.0)
    assert len(said) == 1
    assert words in said[0]
    assert newest_first(tmp_path) == []
    assert len(newest_first(tmp_path / SUPERSEDED)) == 2
    assert not (tmp_path / LOG_FILE).exists()


def test_a_folder_without_checkpoints_starts_with_an_empty_log(tmp_path: Path) -> None:
    run_to(tmp_path, 3, ())
    (tmp_path / "step-000000003.safetensors.1.tmp").write_bytes(b"half")
    start, _, said = resumed(tmp_path)
    assert (start, said) == (Start(), [])
    assert [path.name for path in tmp_path.iterdir()] == [LOG_FILE]
    assert read_log(tmp_path / LOG_FILE) == []


def test_the_code_fingerprint_ignores_comments_and_docstrings_but_not_values(tmp_path: Path) -> None:
    source = tmp_path / "model" / "decoder.py"
    source.parent.mkdir()
    prints = []
    for text in ("x = 1\n", '"""Numbers."""\n\nx = 1  # one\n', "x = 2\n", 'x = "one"\n'):
        source.write_text(text)
        prints.append(code_fingerprint(tmp_path))
    assert prints[0] == prints[1]
    assert len({*prints}) == 3
