from __future__ import annotations

from scaling_collapse.identity.difference import changes
from scaling_collapse.identity.hashing import Content
from scaling_collapse.identity.stage import Record, Stage

OLD_CODE = {"modules": {"model.decoder": "a" * 64, "train.loop": "b" * 64}, "packages": {"torch": "2.12.0"}}
NEW_CODE = {"modules": {"model.decoder": "c" * 64, "train.step": "d" * 64}, "packages": {"torch": "2.13.0"}}


def record(lr: float, tokens: str, schedule: list[int]) -> Record:
    settings = {"scale": "cpu", "spec": {"optimizer": {"peak_lr": lr}, "schedule": schedule}}
    stage = Stage("run", "Train", "train", "train", settings, ("tokens",), ("out",))
    return stage.record({"tokens": Content(tokens * 32, 9), "out": Content("f" * 32, 1)})


def test_each_kind_of_change_is_named_with_old_and_new() -> None:
    found = changes(record(0.02, "1", [1, 2]), record(0.03, "2", [1, 3]), OLD_CODE, NEW_CODE)
    assert [str(change) for change in found] == [
        "setting spec.optimizer.peak_lr: 0.02 -> 0.03",
        "setting spec.schedule[1]: 2 -> 3",
        f"code model.decoder: {'a' * 12} -> {'c' * 12}",
        f"code train.loop: {'b' * 12} -> absent",
        f"code train.step: absent -> {'d' * 12}",
        "package torch: 2.12.0 -> 2.13.0",
        f"input tokens: {'1' * 12} -> {'2' * 12}",
    ]


def test_equal_records_differ_in_nothing() -> None:
    assert changes(record(0.02, "1", [1]), record(0.02, "1", [1]), OLD_CODE, OLD_CODE) == []


def test_code_that_is_not_known_is_not_guessed() -> None:
    assert changes(record(0.02, "1", [1]), record(0.02, "1", [1]), {}, NEW_CODE) == []
