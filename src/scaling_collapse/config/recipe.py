"""Optimiser and learning-rate schedule of a run."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field

from scaling_collapse.config.base import Block

ScheduleKind = Literal["linear_to_zero", "linear_10x", "constant", "cosine", "wsd"]


class Schedule(Block):
    """Learning rate over training, relative to its peak (sections 4, 5; Fig 10)."""

    kind: ScheduleKind = Field("linear_to_zero", description="Shape after warm-up (Fig 10)")
    warmup_fraction: float = Field(0.1, ge=0, lt=1, description="Warm-up, as a fraction of all tokens")
    warmup_max_tokens: float | None = Field(None, gt=0, description="Warm-up at most this long [tokens]")
    decay_fraction: float = Field(0.2, gt=0, le=1, description="Last part that decays (wsd only)")


class AdamW(Block):
    """AdamW without its weight decay, which each run derives from the timescale (section 4)."""

    peak_lr: float = Field(gt=0, description="Peak base learning rate, before width scaling", examples=[0.008])
    beta1: float = Field(0.9, ge=0, lt=1, description="AdamW beta1 (section 4)")
    beta2: float = Field(0.95, ge=0, lt=1, description="AdamW beta2 (section 4)")
    eps: float = Field(1e-8, gt=0, description="AdamW epsilon at the base shape (section 4)")
    gradient_clip: float | None = Field(None, gt=0, description="Global gradient norm limit; null = none")


class Restart(Block):
    """A restart on another allocation in mid-course: other micro-batches, perhaps a planted fault (section 7)."""

    at: float = Field(gt=0, lt=1, description="Fraction of training after which the run is restarted", examples=[0.6])
    micro_batch: int = Field(gt=0, description="Sequences at once, on each rank, from there on", examples=[9])
    wrong_kernel_at: int | None = Field(
        None, gt=0, description="Micro-batch [sequences] at which the loss kernel is numerically wrong; null = none"
    )

    def step(self, steps: int) -> int:
        """Return the last step before the restart, of a run of `steps` steps."""
        return round(self.at * steps)

    @property
    def name(self) -> str:
        """The restart as run ids and tables say it: restart0.6-m9, or restart0.6-m9-wrong4."""
        wrong = f"-wrong{self.wrong_kernel_at}" if self.wrong_kernel_at else ""
        return f"restart{self.at:g}-m{self.micro_batch}{wrong}"

    @classmethod
    def named(cls, name: str) -> Restart:
        """Return the restart of a name. Raises ValueError for a text that is none."""
        parts = re.fullmatch(r"restart([\d.e-]+?)-m(\d+)(?:-wrong(\d+))?", name)
        if parts is None:
            raise ValueError(f"{name!r} is no restart")
        at, micro_batch, wrong = parts.groups()
        return cls(at=float(at), micro_batch=int(micro_batch), wrong_kernel_at=int(wrong) if wrong else None)


class Optimizer(AdamW):
    """AdamW of one run. The timescale tau = B/(eta*lambda*D) is what weight decay sets."""

    weight_decay: float = Field(ge=0, description="lambda of the hidden matrices, after width scaling")
