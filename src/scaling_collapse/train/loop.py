"""Train one run from its plan to its outputs; killed at any moment and started again, it ends with the same bits."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from dataclasses import asdict

from scaling_collapse.config import corpus as config
from scaling_collapse.corpus.held_out import bits_per_byte
from scaling_collapse.corpus.open import open_corpus, require_settings
from scaling_collapse.optim.schedules import warmup_steps
from scaling_collapse.paths import Paths
from scaling_collapse.plan.run import Run
from scaling_collapse.train.checkpoint import WEIGHTS, save_checkpoint, state_tensors
from scaling_collapse.train.divergence import DivergenceRule
from scaling_collapse.train.execution import Execution
from scaling_collapse.train.files import check_writable
from scaling_collapse.train.held_out import validation_steps
from scaling_collapse.train.identity import identity_of
from scaling_collapse.train.job import Job, prepare
from scaling_collapse.train.lock import sole_owner
from scaling_collapse.train.log import MetricLog, read_log
from scaling_collapse.train.outcome import Outcome, finished_with, write_outputs
from scaling_collapse.train.progress import Progress, Quiet
from scaling_collapse.train.resume import LOG_FILE, Start, discard, resume
from scaling_collapse.train.stop import RunStoppedError, StopRequest, stop_requests
from scaling_collapse.train.world import join_world

#: A checkpoint may take at most one part in this many of the time: the interval grows with what writing costs.
CHECKPOINT_SHARE = 20


def train_run(
    run: Run,
    paths: Paths,
    execution: Execution | None = None,
    progress: Progress | None = None,
    settings: config.Corpus | None = None,
) -> None:
    """Train `run` on the corpus of `paths`, or resume it, and write its outputs to `paths.run(run_id)`.

    Nothing is done if they are there already. A diverged run writes its outputs too (status "diverged"). Under
    torchrun the ranks share each batch. Raises RunStoppedError after SIGTERM or Ctrl-C, CorpusError without a corpus
    or with one built from other `settings`, and RunError if the run does not fit the corpus, another process trains it,
    or a file cannot be written.
    """
    execution = execution or Execution()
    execution.prepare_torch()
    corpus = open_corpus(paths.corpus)
    if settings is not None:
        require_settings(corpus.info, settings)
    identity = identity_of(run, paths.corpus)
    with ExitStack() as stack:
        world = stack.enter_context(join_world())
        stop = stack.enter_context(stop_requests())
        teller = progress if progress is not None and world.first else Quiet()
        world.decide(lambda: stack.enter_context(sole_owner(paths.checkpoint(run.run_id), run.run_id)))
        if world.decide(lambda: finished_with(paths.run(run.run_id), identity)):
            teller.said(f"is trained already; delete {paths.run(run.run_id)} to train it again")
            return
        world.decide(lambda: check_writable(paths.run(run.run_id)))
        job = prepare(run, corpus, execution, world)
        Training(job, paths, identity, teller, stop).train()


class Training:
    """One session of a run: from its start or last checkpoint to its end, or to a signal."""

    def __init__(self, job: Job, paths: Paths, identity: dict[str, str], progress: Progress, stop: StopRequest) -> None:
        self.job, self.run, self.world = job, job.run, job.world
        self.identity, self.progress, self.stop = identity, progress, stop
        self.folder, self.outputs = paths.checkpoint(self.run.run_id), paths.run(self.run.run_id)
        self.tensors = state_tensors(job.decoder, job.optimizer)
        self.validation_steps = validation_steps(self.run.steps, self.run.validations)
        start = self._resume()
        self.done, self.seconds_before, self.losses_before = start.step, start.seconds, start.losses
        warmup = warmup_steps(self.run.schedule, self.run.steps, self.run.batch_tokens)
        self.divergence = DivergenceRule(self.run.model.vocabulary, warmup, start.losses)
        self.log = MetricLog(self.folder / LOG_FILE) if self.world.first else None
        self.begin = self.last_checkpoint = time.monotonic()
        self.checkpoint_cost = 0.0

    def train(self) -> None:
        """Train to the end, checkpointing on the way, and write the outputs. Raises RunStoppedError on a signal."""
        self.progress.started(self.run, self.losses_before)
        reason = None
        while self.done < self.run.steps and reason is None:
            reason = self._step(self.done + 1)
            if reason is None and (signal_number := self.world.highest(self.stop.signal_number)):
                self._checkpoint()
                self.world.wait()  # torchrun ends all ranks as soon as one has ended
                raise RunStoppedError(self.run.run_id, self.done, self.run.steps, signal_number)
            if reason is None and self._checkpoint_is_due():
                self._checkpoint()
        self._finish(reason)

    def _resume(self) -> Start:
        """Let the first rank restore its tensors, then copy them to the others."""
        settings = (self.folder, self.tensors, self.identity, self.validation_steps, self.progress.said)
        start = self.world.decide(lambda: asdict(resume(*settings)))
        for tensor in self.tensors.values():
            self.world.copy_from_first_(tensor)
        return Start(**start)

    def _step(self, step: int) -> str | None:
        """Do one step and, where due, a validation. Returns why the run diverged; the step is then not applied."""
        begin = time.perf_counter()
        loss, norm = self.job.gradient(step)
        if reason := self.divergence.fault(step, loss, norm):
            return reason
        self.job.update(step, norm)
        self.done = step
        lr = self.run.optimizer.peak_lr * self.job.factor(step)
        speed = self.run.batch_tokens / (time.perf_counter() - begin)
        if self.log:
            self.log.append(
                "train", step, loss_nats=loss, learning_rate=lr, gradient_norm=norm, tokens_per_second=speed
            )
        self.progress.stepped(step, loss, lr)
        return self._validate(step) if step in self.validation_steps else None

    def _validate(self, step: int) -> str | None:
        loss = self.job.held_out_loss(self.job.validation)
        if not math.isfinite(loss):
            return f"the validation loss of step {step} is {loss}"
        if self.log:
            self.log.append("validation", step, loss_nats=loss, bits_per_byte=self._bits_per_byte(loss))
        self.progress.validated(step, loss)
        return None

    def _bits_per_byte(self, loss: float) -> float | None:
        return None if self.job.bytes_per_token is None else bits_per_byte(loss, self.job.bytes_per_token)

    def _checkpoint_is_due(self) -> bool:
        interval = max(self.job.execution.checkpoint_seconds, CHECKPOINT_SHARE * self.checkpoint_cost)
        return self.log is not None and time.monotonic() - self.last_checkpoint >= interval

    def _checkpoint(self) -> None:
        """Write a checkpoint on the first rank; log first, because a checkpoint without its log is of no use."""
        if self.log is None:
            return
        begin = time.monotonic()
        self.log.sync()
        save_checkpoint(self.folder, self.tensors, self.done, self._seconds(), self.identity)
        self.last_checkpoint = time.monotonic()
        self.checkpoint_cost = self.last_checkpoint - begin

    def _seconds(self) -> float:
        return self.seconds_before + time.monotonic() - self.begin

    def _finish(self, reason: str | None) -> None:
        """Evaluate once more on more text, write the outputs and drop the checkpoints."""
        validation = self.job.held_out_loss(self.job.final_validation)
        if self.log is None:
            return
        self.log.close()
        records = read_log(self.folder / LOG_FILE)
        losses = [record.values["loss_nats"] for record in records if record.split == "train"]
        if reason is None and not math.isfinite(validation):
            reason = f"the final validation loss is {validation}"
        if reason is not None:
            self.progress.said(f"diverged: {reason}")
        outcome = Outcome(
            status="finished" if reason is None else "diverged",
            reason=reason,
            steps_done=self.done,
            final_loss_nats=losses[-1] if losses else None,
            final_validation_loss_nats=validation if math.isfinite(validation) else None,
            final_validation_bits_per_byte=self._bits_per_byte(validation) if math.isfinite(validation) else None,
            final_validation_sequences=self.job.final_validation.count,
            epochs=self.job.epochs,
            seconds=self._seconds(),
            bytes_per_token=self.job.bytes_per_token,
            execution=self.job.execution.describe(self.world.size),
            identity=self.identity,
        )
        weights = {name.removeprefix(WEIGHTS): t for name, t in self.tensors.items() if name.startswith(WEIGHTS)}
        write_outputs(self.outputs, self.run, records, weights, outcome)
        discard(self.folder)
        self.progress.finished(outcome)
