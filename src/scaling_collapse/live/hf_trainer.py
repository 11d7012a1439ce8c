"""Alarm and predicted final loss in trainings of Hugging Face's Trainer (extra: hf)."""

from __future__ import annotations

import sys
from typing import Any

from scaling_collapse.config.recipe import Schedule, ScheduleKind
from scaling_collapse.live.callback import WatchCallback
from scaling_collapse.live.extra import missing

try:
    from tqdm.auto import tqdm
    from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
except ImportError as error:
    raise missing("transformers", "hf") from error

#: The Trainer's schedules of the forms that a surrogate knows.
SCHEDULES: dict[str, ScheduleKind] = {
    "linear": "linear_to_zero",
    "cosine": "cosine",
    "constant": "constant",
    "constant_with_warmup": "constant",
}


class CollapseCallback(WatchCallback, TrainerCallback):  # type: ignore[misc]
    """Callback for `Trainer`; the arguments are those of `WatchCallback`. `watch` holds alarms and prediction.

    Losses are the means over `logging_steps` that the Trainer logs, of all processes, at optimiser steps; validation
    losses are those it logs as `validation`, by default `eval_loss` if it evaluates. A resumed training is replayed
    from the log of its checkpoint, so that its alarms are those of one that was not interrupted.
    """

    def attach(self, trainer: Trainer) -> CollapseCallback:
        """Add it to a trainer in front of its loggers, so that TensorBoard and W&B get the numbers as well.

        Among `callbacks=[...]` it comes behind them: then only the progress bar and trainer_state.json have them.
        """
        trainer.callback_handler.callbacks.insert(0, self)
        return self

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: Any
    ) -> None:
        """Start the watch, and go through what was logged before the checkpoint of a resumed training."""
        if self.validation is None and args.eval_strategy != "no":
            self.validation = "eval_loss"
        total = state.max_steps if state.max_steps > 0 else None
        self.begin(args.run_name or "", total, others.get("optimizer"), _schedule(args, total))
        for entry in state.log_history:
            self._take(int(entry["step"]), entry)
        self.stopping = False
        if state.log_history:
            self._say(state, self.report(state.global_step)[1])

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **others: Any,
    ) -> None:
        """Take the losses, add the numbers to the log, print the line, and stop where that is wanted."""
        if logs is None:
            return
        self._say(state, self._take(state.global_step, logs))
        if self.loss in logs:
            numbers, line = self.report(state.global_step)
            logs.update(numbers)
            if state.log_history:
                state.log_history[-1].update(numbers)
            self._say(state, line)
        if self.stopping:
            control.should_training_stop = True

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: Any
    ) -> None:
        """Judge the last losses."""
        self._say(state, self.end())

    def _take(self, step: int, logs: dict[str, Any]) -> list[str]:
        """Feed the losses of one log entry to the watch. Return the lines that tell alarms."""
        loss, validation = (float(logs[name]) if name in logs else None for name in (self.loss, self.validation))
        return self.take(step, loss, validation)

    def _say(self, state: TrainerState, lines: list[str]) -> None:
        for line in lines if state.is_world_process_zero and not self.quiet else []:
            tqdm.write(line, file=sys.stderr)


def _schedule(args: TrainingArguments, total_steps: int | None) -> Schedule | None:
    kind = SCHEDULES.get(str(getattr(args.lr_scheduler_type, "value", args.lr_scheduler_type)))
    if kind is None or total_steps is None:
        return None
    return Schedule(kind=kind, warmup_fraction=min(args.get_warmup_steps(total_steps) / total_steps, 0.99))
