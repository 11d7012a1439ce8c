"""Everything that a run needs in memory, checked before the first step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from scaling_collapse.config.recipe import Restart
from scaling_collapse.corpus.open import Corpus
from scaling_collapse.corpus.sampler import Sampler
from scaling_collapse.errors import RunError
from scaling_collapse.model.cross_entropy import LossKernel, unembedding_loss
from scaling_collapse.model.decoder import Decoder
from scaling_collapse.model.saturating_loss import saturating_loss
from scaling_collapse.optim.groups import build_optimizer
from scaling_collapse.optim.schedules import learning_rate
from scaling_collapse.plan.run import Run
from scaling_collapse.train.execution import Execution
from scaling_collapse.train.held_out import HeldOut
from scaling_collapse.train.step import FlatGradients, update
from scaling_collapse.train.world import World

#: Held-out sequences of the evaluation at the end, or all that there are; the same ones for every run.
FINAL_VALIDATION_SEQUENCES = 2048


@dataclass
class Job:
    """Decoder, optimiser, gradients and data of one run on one rank."""

    run: Run
    execution: Execution
    world: World
    sampler: Sampler
    validation: HeldOut
    final_validation: HeldOut
    bytes_per_token: float | None
    decoder: Decoder
    optimizer: torch.optim.Optimizer
    gradients: FlatGradients

    @property
    def rank_sequences(self) -> int:
        """This rank's share of a batch [sequences]."""
        return self.run.batch_sequences // self.world.size

    @property
    def micro_batch(self) -> int:
        """Sequences that pass through the decoder at once, unless a restart says otherwise."""
        return min(self.execution.micro_batch_sequences or self.rank_sequences, self.rank_sequences)

    def restart(self, step: int) -> Restart | None:
        """The restart after which a step comes, if there was one."""
        restart = self.run.restart
        return restart if restart is not None and step > restart.step(self.run.steps) else None

    def batches(self, step: int) -> Iterator[Tensor]:
        """This rank's micro-batches (b, T+1) of a step: sequence j of step s is sample (s-1)*B + j of the run."""
        first = (step - 1) * self.run.batch_sequences + self.world.rank * self.rank_sequences
        restart = self.restart(step)
        micro_batch = restart.micro_batch if restart else self.micro_batch
        for start in range(0, self.rank_sequences, micro_batch):
            count = min(micro_batch, self.rank_sequences - start)
            yield torch.from_numpy(self.sampler.batch(first + start, count)).to(self.execution.device)

    def gradient(self, step: int) -> tuple[float, float]:
        """Compute the gradient of a step; return the global batch's loss [nats/token] and gradient norm."""
        restart = self.restart(step)
        wrong_at = restart.wrong_kernel_at if restart else None

        def kernel_of(sequences: int) -> LossKernel:
            return saturating_loss if sequences == wrong_at else unembedding_loss

        self.gradients.accumulate(self.decoder, self.batches(step), self.run.batch_sequences, self.world, kernel_of)
        return self.gradients.loss_and_norm()

    def factor(self, step: int) -> float:
        """Learning rate of a step relative to its peak."""
        return learning_rate(self.run.schedule, step, self.run.steps, self.run.batch_tokens)

    def update(self, step: int, gradient_norm: float) -> None:
        """Clip the gradient and move the weights."""
        self.gradients.clip(gradient_norm, self.run.optimizer.gradient_clip)
        update(self.optimizer, self.factor(step))

    def held_out_loss(self, held_out: HeldOut) -> float:
        """Mean loss [nats/token] on held-out sequences."""
        return held_out.loss(self.decoder, self.execution.device, self.micro_batch, self.world)

    @property
    def epochs(self) -> float:
        """How often the run sees the corpus; 1.0 = each sequence once."""
        return self.run.steps * self.run.batch_sequences / self.sampler.windows


def prepare(run: Run, corpus: Corpus, execution: Execution, world: World) -> Job:
    """Build a run's job. Raises RunError if corpus, batch or ranks do not fit the run."""
    check(run, corpus, world)
    sampler = Sampler(corpus.train, run.model.sequence_length, run.seed, run.max_epochs)
    needed = run.steps * run.batch_sequences
    if needed > len(sampler):
        epochs = "1 epoch of the corpus holds" if run.max_epochs == 1 else f"{run.max_epochs} epochs of the corpus hold"
        problem = f"needs {needed} sequences, but {epochs} {len(sampler)}."
        raise RunError(run.run_id, problem, "use more text, fewer tokens, or more max_epochs (at most 4).")
    decoder = Decoder(run.model, run.parameterisation)
    decoder.initialise(run.seed)
    decoder.to(execution.device)
    held_out = (corpus.held_out, run.model.sequence_length)
    return Job(
        run=run,
        execution=execution,
        world=world,
        sampler=sampler,
        validation=HeldOut(*held_out, run.validation_sequences),
        final_validation=HeldOut(*held_out, FINAL_VALIDATION_SEQUENCES),
        bytes_per_token=corpus.info.bytes_per_token["held_out"] if corpus.info.bytes_per_token else None,
        decoder=decoder,
        optimizer=build_optimizer(decoder, run.model, run.parameterisation, run.optimizer),
        gradients=FlatGradients(decoder.parameters()),
    )


def check(run: Run, corpus: Corpus, world: World) -> None:
    """Raise RunError if the corpus has other tokens than the model, or the batch cannot be shared out."""
    if run.data != "corpus":
        problem = f"it reads the external data {run.data!r}, which training cannot open yet."
        raise RunError(run.run_id, problem, "train a run of the scale's own corpus.")
    if corpus.info.vocabulary > run.model.vocabulary:
        problem = f"the corpus has {corpus.info.vocabulary} kinds of token, the model {run.model.vocabulary}."
        raise RunError(run.run_id, problem, "give model and corpus the same vocabulary.")
    if run.batch_sequences % world.size:
        problem = f"a batch of {run.batch_sequences} sequences cannot be shared out to {world.size} processes."
        raise RunError(run.run_id, problem, "use a number of processes that divides the batch.")
