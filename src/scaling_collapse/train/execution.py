"""How a run is executed: nothing here changes what it computes, beyond the order of floating-point sums."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from typing import Any

from scaling_collapse.errors import RunError


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
