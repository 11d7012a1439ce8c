"""Speed and memory of reading large logs, and the fuzzing of the readers at full size.

    python -m benchmarks.log_reading speed [--megabytes 200]
    python -m benchmarks.log_reading fuzz [--mutants 10000] [--seed 0]

`speed` writes a log of each text format (made-up losses) into a temporary folder and reads it in a process of its own:
megabytes a second of reading alone and of everything that `collapse import` does, and the largest resident memory.
`fuzz` reads mutants of made-up logs, and of the public ones where they are beside this checkout, and judges them as
tests/unit/logs does: exit code 0 only if each ended in a typed error or in losses that stand in it.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.unit.logs.mutants import judge, originals, partners

#: Bytes of a mutant at most, and seconds after which it counts as a hang.
MUTANT_BYTES, SLOW = 40_000, 20.0

#: What one reading in a process of its own prints: seconds of a core for reading and for everything, seconds by the
#: clock, losses, kilobytes.
CHILD = """
import resource, sys, time
from pathlib import Path
begin = time.perf_counter()
from scaling_collapse.logs.read import read_logs
from scaling_collapse.logs.tidy import write
started = time.process_time()
found = read_logs([Path(sys.argv[1])])
read = time.process_time() - started
write(found.curves, Path(sys.argv[2]))
rows = sum(len(curve.step) for curve in found.curves)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(read, time.process_time(), time.perf_counter() - begin, rows, peak)
"""


def loss_at(step: int, chance: random.Random) -> float:
    """A loss that falls like those of real runs."""
    return 2.5 + 8.0 / (1.0 + 0.01 * step) ** 0.5 + chance.gauss(0.0, 0.05)


def jsonl(step: int, loss: float) -> str:
    return f'{{"step": {step}, "loss": {loss:.6f}, "lr": {3e-4 / (1 + 1e-6 * step):.9g}, "grad_norm": {loss / 9:.4f}}}'


def csv(step: int, loss: float) -> str:
    return f"{step},{3e-4 / (1 + 1e-6 * step):.12g},{loss:.4f}"


def nanogpt(step: int, loss: float) -> str:
    return f"iter {step}: loss {loss:.4f}, time {220 + loss:.2f}ms, mfu {40 + loss:.2f}%"


def llmc(step: int, loss: float) -> str:
    return f"s:{step} trl:{loss:.4f} lr:{3e-4 / (1 + 1e-6 * step):.6f} norm:{loss / 9:.2f}"


def megatron(step: int, loss: float) -> str:
    return (
        f" [2025-01-01 00:00:00] iteration {step:8d}/{10**7:8d} | consumed samples: {256 * step:12d} |"
        f" elapsed time per iteration (ms): {900 + loss:.1f} | learning rate: {3e-4:.6E} | global batch size:   256 |"
        f" lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: {loss / 9:.3f} | number of skipped iterations:   0 |"
        " number of nan iterations:   0 |"
    )


def torchtitan(step: int, loss: float) -> str:
    return (
        f"[rank0]:[titan] 2025-01-01 00:00:00,000 - root - INFO - \x1b[31mstep: {step:2}  \x1b[32mloss: {loss:7.4f}  "
        f"\x1b[38;2;180;60;0mgrad_norm: {loss / 9:7.4f}  \x1b[33mmemory: 47.71GiB(34.12%)  \x1b[34mtps: 51,552\x1b[39m"
    )


FORMATS: dict[str, tuple[str, Callable[[int, float], str]]] = {
    "jsonl": ("", jsonl),
    "csv": ("step,lr,loss\n", csv),
    "nanogpt": ("", nanogpt),
    "llmc": ("", llmc),
    "megatron": ("", megatron),
    "torchtitan": ("", torchtitan),
}


def write_log(name: str, path: Path, megabytes: float) -> None:
    """Write a log of `megabytes` at least."""
    head, line = FORMATS[name]
    chance, step, size = random.Random(0), 0, 0
    with path.open("w", encoding="utf-8") as file:
        file.write(head)
        while size < megabytes * 1e6:
            block = []
            for _ in range(10_000):
                step += 1
                block.append(line(step, loss_at(step, chance)))
            size += file.write("\n".join(block) + "\n")


def speed(megabytes: float, folder: Path) -> None:
    """Print a line for each format."""
    print("MB a second: of a core for reading, of a core for start, reading and writing, by the clock")
    print(f"{'format':12}{'MB':>7}{'losses':>11}{'reading':>10}{'all':>8}{'clock':>8}{'peak MiB':>10}")
    for name in FORMATS:
        log, table = folder / f"{name}.log", folder / "curves.parquet"
        write_log(name, log, megabytes)
        size = log.stat().st_size / 1e6
        words = [sys.executable, "-c", CHILD, str(log), str(table)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        read, total, clock, rows, peak = map(float, done.stdout.split())
        numbers = (
            f"{size:7.0f}{rows:11,.0f}{size / read:10.1f}{size / total:8.1f}{size / clock:8.1f}{peak / 1024:10.0f}"
        )
        print(f"{name:12}{numbers}", flush=True)
        log.unlink()


def fuzz(mutants: int, seed: int, folder: Path) -> int:
    """Read mutants of all samples and public files in turn; print what became of them, return the number of faults."""
    files = originals()
    others, verdicts = partners(files), []
    for number in range(mutants):
        original = files[number % len(files)]
        verdict = judge(original, seed + number, others, folder, MUTANT_BYTES)
        verdicts.append(verdict)
        if verdict.fault or verdict.wrong or verdict.seconds > SLOW:
            print(f"{original.name}, seed {seed + number}: {verdict}", flush=True)
    read = [verdict for verdict in verdicts if verdict.losses > 0]
    faults = [verdict for verdict in verdicts if verdict.fault or verdict.seconds > SLOW]
    wrong = [verdict for verdict in verdicts if verdict.wrong]
    print(f"{len(files)} files, {mutants:,} mutants: {len(read):,} read, {len(verdicts) - len(read):,} typed errors")
    print(f"{sum(verdict.losses for verdict in read):,} losses, {len(wrong)} mutants with a wrong one")
    print(f"{len(faults)} with another exception or over {SLOW:g} s; slowest {max(v.seconds for v in verdicts):.2f} s")
    return len(faults) + len(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("speed", "fuzz"))
    parser.add_argument("--megabytes", type=float, default=200.0)
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.what == "fuzz":
            return min(1, fuzz(options.mutants, options.seed, Path(folder)))
        speed(options.megabytes, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
