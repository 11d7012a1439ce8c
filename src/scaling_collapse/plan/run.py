"""One training run, fully resolved: everything that decides its numbers, and what follows from it."""

from __future__ import annotations

from pydantic import Field

from scaling_collapse.config.base import Block
from scaling_collapse.config.family import MAIN_CORPUS
from scaling_collapse.config.model import Model, Parameterisation
from scaling_collapse.config.recipe import Optimizer, Restart, Schedule


class Run(Block):
    """A row of the plan. Tokens are tokens of the run's own tokenizer."""

    run_id: str = Field(pattern=r"^[a-z0-9][a-z0-9.\-]*$", description="Unique in its scale, e.g. 132k-tpp20-base-s0")
    groups: tuple[str, ...] = Field(description="Run groups that use this run")
    family: str = Field(description="Name of the family of the size")
    size: str = Field(description="Name of the size, e.g. 132k or 1.8B")
    data: str = Field("corpus", description="'corpus', the scale's own, or a name of external_data")
    model: Model
    parameterisation: Parameterisation
    optimizer: Optimizer
    schedule: Schedule
    restart: Restart | None = Field(None, description="Restart in mid-course on another allocation; null = none")
    seed: int = Field(ge=0, description="Seed of initialisation and of the order of the data")
    batch_sequences: int = Field(gt=0, description="Batch B [sequences]")
    steps: int = Field(gt=0, description="Optimiser steps")
    max_epochs: int = Field(1, ge=1, le=4, description="How often the corpus may be seen")
    validations: int = Field(20, ge=1, description="Validation points, evenly spaced; 20 = every 5%")
    validation_sequences: int = Field(256, gt=0, description="Held-out sequences of each validation")
    params: int = Field(gt=0, description="Parameters N, all experts included")
    tokens: int = Field(gt=0, description="Training tokens D = steps * batch_tokens")
    tpp: float = Field(gt=0, description="Nominal tokens per parameter (of the dense model)")
    batch_tokens: int = Field(gt=0, description="Batch B [tokens]")
    hidden_lr: float = Field(gt=0, description="eta: peak learning rate of the hidden matrices, after width scaling")
    tau: float | None = Field(description="AdamW timescale B/(eta*lambda*D), Eq. 2; null without weight decay")
    flops: float = Field(gt=0, description="Training FLOPs by the formula of Table 9")

    @property
    def is_regular(self) -> bool:
        """Whether it was trained on the scale's own corpus from start to end: what laws are fitted to."""
        return self.data == MAIN_CORPUS and self.restart is None
