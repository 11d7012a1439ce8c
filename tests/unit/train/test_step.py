"""One optimiser step against plain torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from scaling_collapse.corpus.open import open_corpus
from scaling_collapse.corpus.sampler import Sampler
from scaling_collapse.model.decoder import Decoder
from scaling_collapse.optim.groups import build_optimizer
from scaling_collapse.optim.schedules import learning_rate
from scaling_collapse.plan.run import Run
from scaling_collapse.train.execution import Execution
from scaling_collapse.train.job import Job, prepare
from scaling_collapse.train.world import World

from .train_room import tiny_run, write_corpus


def job(root: Path, run: Run, micro: int | None = None, world: World | None = None) -> Job:
    corpus = open_corpus(write_corpus(root).corpus)
    return prepare(run, corpus, Execution(micro_batch_sequences=micro), world or World())


def plain_losses(root: Path, run: Run, steps: int) -> tuple[list[float], list[float]]:
    """Losses and gradient norms of the same run, written as a textbook would."""
    decoder = Decoder(run.model, run.parameterisation)
    decoder.initialise(run.seed)
    optimizer = build_optimizer(decoder, run.model, run.parameterisation, run.optimizer)
    sampler = Sampler(open_corpus(write_corpus(root).corpus).train, run.model.sequence_length, run.seed)
    losses, norms = [], []
    for step in range(1, steps + 1):
        rows = [sampler.sequence((step - 1) * run.batch_sequences + j) for j in range(run.batch_sequences)]
        tokens = torch.from_numpy(np.stack(rows))
        logits = decoder.logits(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(decoder.parameters(), run.optimizer.gradient_clip)))
        for group in optimizer.param_groups:
            group["lr"] = group["peak_lr"] * learning_rate(run.schedule, step, run.steps, run.batch_tokens)
        optimizer.step()
        losses.append(loss.item())
    return losses, norms


@pytest.mark.parametrize("micro", [None, 4, 3, 1])
def test_losses_and_norms_equal_a_plain_torch_loop_whatever_the_micro_batch(tmp_path: Path, micro: int | None) -> None:
    run = tiny_run(schedule={"kind": "cosine"})
    trained = job(tmp_path, run, micro)
    losses, norms = [], []
    for step in range(1, 9):
        loss, norm = trained.gradient(step)
        trained.update(step, norm)
        losses.append(loss)
        norms.append(norm)
    expected_losses, expected_norms = plain_losses(tmp_path, run, 8)
    assert min(expected_norms) > run.optimizer.gradient_clip  # every step was clipped
    np.testing.assert_allclose(losses, expected_losses, rtol=2e-6)
    np.testing.assert_allclose(norms, expected_norms, rtol=2e-5)


def test_the_global_batch_is_the_same_for_any_number_of_ranks(tmp_path: Path) -> None:
    whole = torch.cat(list(job(tmp_path, tiny_run()).batches(5)))
    for ranks in (2, 4):
        parts = [b for r in range(ranks) for b in job(tmp_path, tiny_run(), 1, World(r, ranks)).batches(5)]
        assert torch.equal(torch.cat(parts), whole)


def test_gradients_stay_views_of_the_one_buffer(tmp_path: Path) -> None:
    trained = job(tmp_path, tiny_run())
    before = [parameter.grad.data_ptr() for parameter in trained.decoder.parameters()]
    for step in (1, 2):
        _, norm = trained.gradient(step)
        trained.update(step, norm)
    assert [parameter.grad.data_ptr() for parameter in trained.decoder.parameters()] == before
    assert all(address % 64 == before[0] % 64 for address in before)
