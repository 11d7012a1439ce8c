"""What `collapse watch` costs beside a training, and whether it loses a line.

    python -m benchmarks.watch_cost [--seconds 60] [--rate 100] [--reference] [--terminal]

Writes a log of made-up losses at `rate` lines a second, with one rotation and one restart of the training, follows it
in a process of its own, and prints the seconds of a core of its start, until it waits for the first line; the share of
a core from then on; the largest resident memory; and how many of the lines were read. With --reference each status line
also holds a predicted final loss; with --terminal the watch draws its live view. Needs /proc (Linux). Exit code 1 if a
line was lost.
"""

from __future__ import annotations

import argparse
import os
import pty
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Seconds that the watch goes on after the last line, and between its status lines.
AFTER, EVERY = 3.0, 1.0

HEADER = "run,size_params,tokens_total,batch_tokens,lr_peak,weight_decay,schedule,step,tokens,loss,lr,split,seed\n"


def loss_at(t_hat: float, chance: random.Random) -> float:
    """A loss that falls like those of real runs."""
    return 2.7 * (1.001 / (t_hat + 0.001)) ** 0.05 + 0.35 * (1 - t_hat) + chance.gauss(0.0, 0.03)


def write_reference(path: Path, steps: int) -> None:
    chance = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        file.write(HEADER)
        for step in range(1, steps + 1):
            loss = loss_at(step / steps, chance)
            file.write(f"small,1e6,{steps}e3,1000,,,,{step},{step}e3,{loss:.4f},,train,\n")


def seconds_of(pid: int) -> float:
    """Seconds of a core that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def write_log(log: Path, rate: float, lines: int, steps: int) -> None:
    """Write the lines, on time; rotate after a third, go back by a tenth after half of them."""
    chance, begin, step = random.Random(0), time.monotonic(), 0
    file = log.open("a", encoding="utf-8")
    for number in range(lines):
        if number == lines // 3:
            file.close()
            log.rename(log.with_suffix(".log.1"))
            file = log.open("a", encoding="utf-8")
        if number == lines // 2:
            step -= lines // 10
        step += 1
        file.write(f"iter {step}: loss {loss_at(step / steps, chance):.4f}, time 10.00ms, mfu 40.00%\n")
        file.flush()
        time.sleep(max(0.0, begin + (number + 1) / rate - time.monotonic()))
    file.close()


@contextmanager
def terminal(path: Path) -> Iterator[int]:
    """A terminal that keeps what is shown in a file."""
    ours, theirs = pty.openpty()

    def copy() -> None:
        with path.open("wb") as out:
            try:
                while data := os.read(ours, 1 << 16):
                    out.write(data)
                    out.flush()
            except OSError:  # nobody holds the other end any more
                return

    reader = threading.Thread(target=copy)
    reader.start()
    try:
        yield theirs
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)


@contextmanager
def plain_file(path: Path) -> Iterator[int]:
    with path.open("wb") as out:
        yield out.fileno()


def measure(seconds: float, rate: float, with_reference: bool, in_terminal: bool, folder: Path) -> int:
    """Print the costs; return how many lines were lost."""
    lines = round(seconds * rate)
    steps = lines - lines // 10
    log, said = folder / "train.log", folder / "said.txt"
    log.touch()
    words = [sys.executable, "-m", "scaling_collapse.cli.app", "watch", str(log), "--every", str(EVERY)]
    words += ["--steps", str(steps)]
    if with_reference:
        write_reference(folder / "reference.csv", steps)
        words += ["--reference", str(folder / "reference.csv")]
    with (terminal if in_terminal else plain_file)(said) as out:
        watch = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT)
        time.sleep(6.0)  # until it waits
        start_up, begin = seconds_of(watch.pid), time.monotonic()
        write_log(log, rate, lines, steps)
        time.sleep(AFTER)
        used, passed = seconds_of(watch.pid) - start_up, time.monotonic() - begin
        watch.terminate()
        _, status, usage = os.wait4(watch.pid, 0)
        watch.returncode = os.waitstatus_to_exitcode(status)
    text = said.read_text(encoding="utf-8")
    *_, last = text.splitlines()
    *_, read = re.findall(r"([\d,]+) losses", text)
    lost = lines - int(read.replace(",", ""))
    print(last)
    print(f"start-up {start_up:.2f} s of a core; then {100 * used / passed:.2f}% of a core over {passed:.0f} s")
    print(f"peak memory {usage.ru_maxrss / 1024:.0f} MiB; exit code {watch.returncode}; {lines:,} lines, {lost} lost")
    return lost


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--terminal", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return min(1, measure(options.seconds, options.rate, options.reference, options.terminal, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
