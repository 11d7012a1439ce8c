"""Alarm and predicted final loss in trainings of Lightning's Trainer (extra: lightning)."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

from scaling_collapse.errors import ConfigError
from scaling_collapse.live.callback import WatchCallback
from scaling_collapse.live.extra import missing
from scaling_collapse.live.training_watch import TrainingWatch

try:
    from lightning.pytorch import Callback, LightningModule, Trainer
except ImportError as error:
    raise missing("lightning", "lightning") from error


class CollapseCallback(WatchCallback, Callback):  # type: ignore[misc]
    """Callback for `Trainer`; the arguments are those of `WatchCallback`. `watch` holds alarms and prediction.

    `loss` is the entry of what `training_step` returns, `validation` the name of a logged metric. Losses are summed on
    their device and looked at every `log_every_n_steps` optimiser steps, as means over all batches (accumulated ones
    too) and processes. The state goes into checkpoints.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._sum: Any = 0.0
        self._batches, self._last_step = 0, 0
        self._restored: dict[str, Any] | None = None

    def state_dict(self) -> dict[str, Any]:
        """Return what goes into a checkpoint."""
        watch = None if self.watch is None else self.watch.state()
        return {"watch": watch, "sum": float(self._sum), "batches": self._batches, "last_step": self._last_step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Keep what came out of a checkpoint until training begins."""
        self._restored = state_dict

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start the watch, or go on with that of the checkpoint."""
        total = trainer.estimated_stepping_batches
        steps = float(total) if math.isfinite(total) and total > 0 else None
        self.begin(type(pl_module).__name__, steps, trainer.optimizers[0] if trainer.optimizers else None)
        self._sum, self._batches, self._last_step = 0.0, 0, trainer.global_step
        restored, self._restored = self._restored, None
        if restored is not None and restored["watch"] is not None:
            self._go_on(trainer, restored, steps)

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Add the loss of a batch; at the trainer's logging interval look at the mean."""
        if outputs is not None:
            self._sum = self._sum + self._loss_of(trainer, pl_module, outputs)
            self._batches += 1
        step = trainer.global_step
        if step == self._last_step or step % self._every(trainer) or not self._batches:
            return
        mean = trainer.strategy.reduce(self._sum / self._batches, reduce_op="mean")
        self._sum, self._batches, self._last_step = 0.0, 0, step
        told = self.take(step, float(mean))
        numbers, line = self.report(step)
        pl_module.log_dict(numbers, rank_zero_only=True)
        self._say(trainer, [*told, *line])
        self._stop(trainer)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Take the validation loss."""
        known = trainer.callback_metrics
        if trainer.sanity_checking or self.validation not in known:
            return
        self._say(trainer, self.take(trainer.global_step, validation=float(known[self.validation])))
        self._stop(trainer)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Judge the last losses."""
        self._say(trainer, self.end())

    def _go_on(self, trainer: Trainer, restored: dict[str, Any], steps: float | None) -> None:
        """Go on with the watch of a checkpoint, unless the length of the training has changed since."""
        before = restored["watch"]["own"]["total_steps"]
        if before != steps:
            self._say(trainer, [f"the training was {before} steps long, now it is {steps}: its watch begins anew"])
            return
        self.watch = TrainingWatch.from_state(restored["watch"], self.reference, self.surrogate)
        self._sum, self._batches, self._last_step = (restored[name] for name in ("sum", "batches", "last_step"))
        self._say(trainer, self.report(trainer.global_step)[1])

    def _loss_of(self, trainer: Trainer, pl_module: LightningModule, outputs: Any) -> Any:
        """Return the loss of a batch as a detached tensor; Lightning has divided it by the batches that accumulate."""
        found = outputs.get(self.loss) if isinstance(outputs, Mapping) else outputs
        if found is None:
            raise ConfigError("training_step", f"it returns no {self.loss!r}.", "return it, or give loss=")
        divided = self.loss == "loss" and pl_module.automatic_optimization
        return found.detach() * (trainer.accumulate_grad_batches if divided else 1)

    @staticmethod
    def _every(trainer: Trainer) -> int:
        return max(int(getattr(trainer, "log_every_n_steps", 1)), 1)

    def _say(self, trainer: Trainer, lines: list[str]) -> None:
        if self.quiet or not trainer.is_global_zero:
            return
        bar = trainer.progress_bar_callback
        for line in lines:
            if bar is None:
                sys.stderr.write(f"{line}\n")
            else:
                bar.print(line)

    def _stop(self, trainer: Trainer) -> None:
        if self.stopping:
            trainer.should_stop = True
