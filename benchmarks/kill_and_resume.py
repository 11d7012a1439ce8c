"""Kill a real training process again and again, start it again, and compare with the uninterrupted run bit by bit.

    python benchmarks/kill_and_resume.py --scale smoke --run 8k-tpp80-b64-s0 --trials 20

The corpus of the scale must be built. Everything happens in a temporary folder; `collapse train` itself is what is
killed (SIGKILL), at moments spread at random over the run. Prints one line a trial and `k of n bit-identical`; the exit
code is 0 only if all are.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from scaling_collapse.paths import Paths
from scaling_collapse.train.resume import LOG_FILE

#: Seconds without a new record after which a process is killed although its step has not come.
PATIENCE = 600.0


def make_root(folder: Path, scale: str) -> Paths:
    """Make a working folder with the repository's configuration and corpus, and no runs."""
    repository, paths = Path.cwd(), Paths(scale, folder)
    paths.results.mkdir(parents=True)
    (folder / "config").symlink_to(repository / "config")
    paths.corpus.symlink_to((repository / Paths(scale).corpus).resolve())
    return paths


def start(paths: Paths, run_id: str, checkpoint_seconds: float) -> subprocess.Popen[bytes]:
    """Start `collapse train` in the working folder."""
    words = [sys.executable, "-m", "scaling_collapse.cli.app", "train", run_id, "--scale", paths.scale]
    words += ["--checkpoint-seconds", str(checkpoint_seconds)]
    return subprocess.Popen(words, cwd=paths.root, stderr=subprocess.DEVNULL)


def records(paths: Paths, run_id: str) -> int:
    """Number of lines of the run's log."""
    log = paths.checkpoint(run_id) / LOG_FILE
    return log.read_bytes().count(b"\n") if log.exists() else 0


def outputs(paths: Paths, run_id: str) -> dict[str, bytes]:
    """Curves (without the speeds) and weights, as bytes."""
    folder = paths.run(run_id)
    train = pd.read_parquet(folder / "train.parquet").drop(columns="tokens_per_second")
    validation = pd.read_parquet(folder / "validation.parquet").astype(float)
    weights = (folder / "weights.safetensors").read_bytes()
    return {"train": train.to_numpy().tobytes(), "validation": validation.to_numpy().tobytes(), "weights": weights}


def kill_at(paths: Paths, run_id: str, record: int, checkpoint_seconds: float) -> bool:
    """Train until the log has `record` lines, then kill. Returns False if the run ended first."""
    process = start(paths, run_id, checkpoint_seconds)
    begin = time.monotonic()
    while process.poll() is None and records(paths, run_id) < record and time.monotonic() - begin < PATIENCE:
        time.sleep(0.002)
    process.kill()
    return process.wait() == -signal.SIGKILL


def trial(paths: Paths, run_id: str, total: int, kills: int, chance: random.Random, checkpoint_seconds: float) -> int:
    """Kill a run up to `kills` times at random points, then let it end. Returns how often it was killed."""
    points = sorted(chance.randrange(total) for _ in range(kills))
    killed = sum(kill_at(paths, run_id, point, checkpoint_seconds) for point in points)
    assert start(paths, run_id, checkpoint_seconds).wait() == 0, "the last start failed"
    return killed


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scale", default="smoke")
    parser.add_argument("--run", default="8k-tpp80-b64-s0", help="run of the scale")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--kills", type=int, default=2, help="kills in each trial")
    parser.add_argument("--checkpoint-seconds", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    chance, identical = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        reference = make_root(Path(folder) / "reference", options.scale)
        assert start(reference, options.run, options.checkpoint_seconds).wait() == 0, "the reference run failed"
        expected = outputs(reference, options.run)
        total = json.loads((reference.run(options.run) / "run.json").read_text())["steps_done"]
        for number in range(options.trials):
            paths = make_root(Path(folder) / str(number), options.scale)
            killed = trial(paths, options.run, total, options.kills, chance, options.checkpoint_seconds)
            found = outputs(paths, options.run)
            different = [name for name, content in expected.items() if found[name] != content]
            identical += not different
            print(f"trial {number + 1}: killed {killed}x, {', '.join(different) or 'nothing'} differs", flush=True)
    print(f"{identical} of {options.trials} bit-identical")
    return 0 if identical == options.trials else 1


if __name__ == "__main__":
    sys.exit(main())
