"""Mutants of real logs, and an independent judgement of what was read from them.

A wrong number is a loss that does not stand in the mutant at its step. For text that is judged by all numbers of a
line or of an innermost JSON object; for records with checksums by the losses of the undamaged file, which no mutation
can forge. Nothing in the judgement uses the readers.
"""

from __future__ import annotations

import gzip
import random
import re
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from scaling_collapse.errors import LogError
from scaling_collapse.logs.follow import Follower
from scaling_collapse.logs.read import read_logs
from tests.unit.logs.samples import SAMPLES, TRAIN, VALIDATION
from tests.unit.logs.support import RAW

Pairs = set[tuple[int, float]]
Judge = Callable[[bytes, Pairs], Pairs]

_NUMBER = re.compile(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|nan|inf|NaN|Infinity")
_OBJECT = re.compile(r'\{(?:[^{}"]|"[^"\n]*")*\}')
_LINE = re.compile(r"[^\n\r]+")


#: What the files with checksums hold.
TRUTH = {*TRAIN, *VALIDATION}

#: Samples whose losses may have their step from a line before.
STEPS_BEFORE = ("llmc_console", "litgpt")


@dataclass(frozen=True)
class Original:
    """A file, and the judgement: which (step, loss) that were read do not stand in a mutant's bytes."""

    name: str
    content: bytes
    wrong: Judge
    text: bool = True


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: losses read (-1: a typed error), wrong ones, another exception, seconds."""

    losses: int
    wrong: Pairs
    fault: str
    seconds: float


def _numbers(text: str) -> set[float]:
    values = set()
    for word in _NUMBER.findall(text):
        try:
            values.add(float(word))
        except ValueError:
            continue
    return values


def _rows(text: str) -> list[str]:
    """Return rows of CSV that span several lines, since a cell in quotes may hold line ends."""
    lines, rows = _LINE.findall(text), []
    for start, line in enumerate(lines):
        if line.count('"') % 2:
            end = next((i for i in range(start + 1, min(start + 51, len(lines))) if lines[i].count('"') % 2), start)
            rows.append(" ".join(lines[start : end + 1]))
    return rows


def _text(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    return content.decode("utf-8", "replace")


def _not_together(content: bytes, pairs: Pairs) -> Pairs:
    """Judge logs that have the step and the loss within one line, row of a table, or innermost object."""
    known: dict[float, set[float]] = {}
    steps = {float(step) for step, _ in pairs}
    text = _text(content)
    for part in [*_LINE.findall(text), *_rows(text), *_OBJECT.findall(text)]:
        here = _numbers(part)
        for step in here & steps:
            known.setdefault(step, set()).update(here)
    return {(step, loss) for step, loss in pairs if loss not in known.get(step, ())}


def _not_anywhere(content: bytes, pairs: Pairs) -> Pairs:
    """Judge logs where a loss may have its step from another line."""
    here = _numbers(_text(content))
    return {(step, loss) for step, loss in pairs if loss not in here}


def _not_among(whole: Pairs) -> Judge:
    """Judge files with checksums."""
    return lambda _, pairs: pairs - whole


def originals() -> list[Original]:
    """Return all samples, a packed one, and the public files that are there."""
    found = []
    for name, sample in SAMPLES.items():
        found.append(Original(name, sample.text.encode(), _not_anywhere if name in STEPS_BEFORE else _not_together))
    packed = gzip.compress(SAMPLES["nanogpt"].text.encode(), mtime=0)
    found.append(Original("nanogpt.gz", packed, _not_together, text=False))
    if _installed("google.protobuf"):
        from tests.unit.logs.test_wandb_offline import a_file

        found.append(Original("run.wandb", a_file(padding=300), _not_among(TRUTH), text=False))
    found.append(Original("x.parquet", _parquet(), _not_among(TRUTH), text=False))
    for path in sorted(path for path in RAW.rglob("*") if path.is_file()):
        if path.name.startswith("events"):
            if not _installed("tensorboard"):
                continue
            found.append(Original(path.name, path.read_bytes(), _not_among(_event_pairs(path)), text=False))
        else:
            found.append(Original(path.name, path.read_bytes(), _not_together))
    return found


def _installed(package: str) -> bool:
    """Whether a package is there that writes or judges a kind of file."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _parquet() -> bytes:
    """Return a table with checksums of its pages: without them a changed number cannot be told from a true one."""
    import pyarrow
    import pyarrow.parquet

    validation = dict(VALIDATION)
    columns = {"step": [step for step, _ in TRAIN], "loss": [loss for _, loss in TRAIN]}
    table = pyarrow.table(columns | {"val_loss": [validation.get(step) for step, _ in TRAIN]})
    target = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, target, write_page_checksum=True)
    return bytes(target.getvalue())


def _event_pairs(path: Path) -> Pairs:
    """Return all scalars of an event file, read by TensorBoard."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(path), size_guidance={"scalars": 0}).Reload()
    return {(event.step, event.value) for tag in events.Tags()["scalars"] for event in events.Scalars(tag)}


def partners(files: list[Original]) -> list[bytes]:
    """Return the contents that others are interleaved with."""
    return [file.content for file in files if file.text and file.name not in STEPS_BEFORE]


def mutate(original: Original, others: list[bytes], chance: random.Random, piece: int) -> tuple[bytes, bytes]:
    """Return a mutant's file, and the bytes that are in it: unpacked, if it is gzip, as far as that goes."""
    content = original.content
    if original.text and len(content) > piece:
        start = chance.randrange(len(content) - piece)
        head, newline, _ = content.partition(b"\n")
        content = head + newline + content[start : start + piece]
    for _ in range(chance.randint(1, 3)):
        content = chance.choice(MUTATIONS)(content, chance)
    if not original.text:
        return content, _unpacked(content)
    how = chance.random()
    if how < 0.1:
        content = _interleaved(content, chance.choice(others)[:piece], chance)
    elif how < 0.15:
        content = content.decode("utf-8", "replace").encode("utf-16")
    elif how < 0.25:
        content = chance.choice((_cut_end, _flip, _keep))(gzip.compress(content, mtime=0), chance)
    return content, _unpacked(content)


def _unpacked(content: bytes) -> bytes:
    stream, plain = zlib.decompressobj(31), bytearray()
    if not content.startswith(b"\x1f\x8b"):
        return content
    for place in range(len(content)):  # byte by byte, so that all before an error is had
        try:
            plain += stream.decompress(content[place : place + 1])
        except zlib.error:
            break
    return bytes(plain)


def _span(content: bytes, chance: random.Random, longest: int = 4000) -> tuple[int, int]:
    start = chance.randrange(len(content) + 1)
    return start, min(len(content), start + chance.randint(0, longest))


def _keep(content: bytes, chance: random.Random) -> bytes:
    return content


def _cut_end(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _cut_begin(content: bytes, chance: random.Random) -> bytes:
    return content[chance.randrange(len(content) + 1) // 2 :]


def _delete(content: bytes, chance: random.Random) -> bytes:
    start, end = _span(content, chance)
    return content[:start] + content[end:]


def _repeat(content: bytes, chance: random.Random) -> bytes:
    start, end = _span(content, chance)
    return content[:end] + content[start:end] * chance.randint(1, 3) + content[end:]


def _move(content: bytes, chance: random.Random) -> bytes:
    start, end = _span(content, chance)
    rest = content[:start] + content[end:]
    place = chance.randrange(len(rest) + 1)
    return rest[:place] + content[start:end] + rest[place:]


def _flip(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.randint(1, 30) if content else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _overwrite(content: bytes, chance: random.Random) -> bytes:
    start, end = _span(content, chance, 200)
    return content[:start] + chance.randbytes(end - start) + content[end:]


def _insert_garbage(content: bytes, chance: random.Random) -> bytes:
    start, _ = _span(content, chance)
    return content[:start] + chance.randbytes(chance.randint(1, 3000)) + content[start:]


def _insert_zeros(content: bytes, chance: random.Random) -> bytes:
    start, end = _span(content, chance, 600)
    return content[:start] + bytes(end - start) + content[end:]


#: Pieces that mean something to some format.
_WORDS = [b"\n", b"\r", b",", b'"', b"{", b"}", b"[", b"]", b":", b"|", b"nan", b"inf", b"-", b".", b"e", b"_", b"null"]
_WORDS += [
    b"Traceback (most recent call last):\n",
    b"step",
    b"iter 5: loss ",
    b"s:7 tel:",
    b"1e999",
    b"9" * 400,
    b"\x1b[31m",
]
_WORDS += [
    b"step,loss\n",
    b'{"step": 3, "loss": ',
    b"\xff\xfe",
    b"\x00",
    b" - ",
    b"__MIN",
    b"loss",
    b"0x1F",
    b"\xd9\xa3",
]


def _insert_words(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 20)):
        start, end = _span(content, chance, 3)
        content = content[:start] + chance.choice(_WORDS) + content[end:]
    return content


def _shuffle_lines(content: bytes, chance: random.Random) -> bytes:
    lines = content.split(b"\n")
    start = chance.randrange(len(lines))
    part = lines[start : start + chance.randint(2, 50)]
    chance.shuffle(part)
    return b"\n".join(lines[:start] + part + lines[start + len(part) :])


def _lose_line_ends(content: bytes, chance: random.Random) -> bytes:
    start, end = _span(content, chance, 500)
    return (
        content[:start] + content[start:end].replace(b"\n", chance.choice((b"", b" ", b"\r\n", b"\r"))) + content[end:]
    )


MUTATIONS = [_cut_end, _cut_begin, _delete, _repeat, _move, _flip, _overwrite, _insert_garbage, _insert_zeros]
MUTATIONS += [_insert_words, _insert_words, _shuffle_lines, _lose_line_ends]


def _interleaved(one: bytes, other: bytes, chance: random.Random) -> bytes:
    """Two writers in one file: pieces of any length in turn."""
    out, places, contents = [], [0, 0], (one, other)
    while places[0] < len(one) or places[1] < len(other):
        which = chance.randrange(2)
        size = chance.randint(1, 300)
        out.append(contents[which][places[which] : places[which] + size])
        places[which] += size
    return b"".join(out)


def judge(original: Original, seed: int, others: list[bytes], folder: Path, piece: int) -> Verdict:
    """Make a mutant, read it whole and as a growing log, and judge what came out."""
    chance = random.Random(seed)
    file, inside = mutate(original, others, chance, piece)
    path = folder / "mutant"
    path.write_bytes(file)
    begin = time.perf_counter()
    try:
        try:
            found = read_logs([path])
            pairs = {pair for c in found.curves for pair in zip(c.step.tolist(), c.loss.tolist(), strict=True)}
            assert len(found.frame) == sum(len(curve.step) for curve in found.curves)
        except LogError as error:
            if "\n" in str(error) or str(path) not in str(error):
                return Verdict(0, set(), f"not one line with the file's name: {error}", 0.0)
            pairs = set()
        grown = _grown(file, chance, original.text)
    except Exception as error:
        return Verdict(0, set(), f"{type(error).__name__}: {error}", time.perf_counter() - begin)
    seconds = time.perf_counter() - begin
    wrong = original.wrong(inside, pairs)
    if not file.startswith(b"\x1f\x8b"):  # a growing log is not packed
        wrong |= original.wrong(inside, grown)
    return Verdict(len(pairs) or -1, wrong, "", seconds)


def _grown(content: bytes, chance: random.Random, text: bool) -> Pairs:
    """Return what a growing log gives; nothing for a file of bytes whose head is so damaged that it passes for text."""
    follower, updates, place = Follower(), [], 0
    try:
        while place < len(content):
            size = chance.choice((50, 1000, 50_000))
            updates += follower.feed(content[place : place + size])
            place += size
        updates += follower.end()
    except LogError:
        pass
    if not text and follower.parser is not None and follower.parser.whole_lines:
        return set()
    return {(update.step, update.loss) for update in updates if update.loss == update.loss}
