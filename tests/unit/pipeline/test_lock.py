from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scaling_collapse.errors import CacheError
from scaling_collapse.pipeline.lock import sole_pipeline


def test_a_second_holder_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with sole_pipeline(tmp_path / "work" / "lock") as held:
        assert held
        with (
            pytest.raises(CacheError, match=r"process \d+ on .* is running the pipeline"),
            sole_pipeline(tmp_path / "work" / "lock"),
        ):
            pass
    with sole_pipeline(tmp_path / "work" / "lock") as held:
        assert held


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from scaling_collapse.pipeline.lock import sole_pipeline\n"
        "with sole_pipeline(Path(sys.argv[1])): print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", script, tmp_path / "lock"], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        with pytest.raises(CacheError), sole_pipeline(tmp_path / "lock"):
            pass
        process.kill()
        process.wait()
    with sole_pipeline(tmp_path / "lock") as held:
        assert held
