"""How a run is executed: nothing here changes what it computes, beyond the order of floating-point sums."""

from __future__ import annotations

import ctypes
import platform
from dataclasses import asdict, dataclass
from typing import Any

from scaling_collapse.errors import RunError

#: Parameters of glibc's mallopt, from its malloc.h, and the largest values that it takes (a larger one is ignored).
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
MAX_INT, MAX_MMAP_THRESHOLD = 2**31 - 1, 32 * 2**20


@dataclass(frozen=True)
class Execution:
    """Device, threads and intervals. Raises RunError for impossible values."""

    device: str = "cpu"
    threads: int = 1
    micro_batch_sequences: int | None = None
    """Sequences that pass through the model at once, per rank; None = the rank's whole share of the batch."""
    checkpoint_seconds: float = 30.0
    """Seconds between checkpoints; longer where writing one takes more than a twentieth of that."""

    def __post_init__(self) -> None:
        for name, least in (("threads", 1), ("micro_batch_sequences", 1), ("checkpoint_seconds", 0)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise RunError(f"--{name.replace('_', '-')}", f"{value}; expected at least {least}.")

    def describe(self, ranks: int) -> dict[str, Any]:
        """Return these settings and the versions, for run.json."""
        import torch

        from scaling_collapse import __version__

        versions = {"scaling_collapse": __version__, "torch": torch.__version__, "python": platform.python_version()}
        return {**asdict(self), "ranks": ranks, "versions": versions}

    def prepare_torch(self) -> None:
        """Set threads and rounding once per process. Raises RunError if torch cannot use the device."""
        import torch

        try:
            torch.empty(1, device=self.device)
        except (RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0]
            raise RunError(
                "--device", f"{self.device!r} cannot be used ({reason}).", "use cpu, or cuda with a GPU."
            ) from error
        torch.set_num_threads(self.threads)
        # AdamW's moments of rarely seen tokens decay into denormal numbers, on which a CPU is many times slower
        torch.set_flush_denormal(True)
        keep_freed_memory()


def keep_freed_memory() -> None:
    """Let glibc reuse freed activations instead of returning them to the system at every step.

    Blocks of megabytes are otherwise mapped anew, zeroed and unmapped each time: 5-15% of a small model's step. Other
    C libraries keep their own ways.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "gnu_get_libc_version"):
        libc.mallopt(M_MMAP_THRESHOLD, MAX_MMAP_THRESHOLD)
        libc.mallopt(M_TRIM_THRESHOLD, MAX_INT)
