"""Speed of the training step, as ratios within one process and one thread.

    python -m benchmarks.step_speed [--scale cpu] [--rounds 15]

For every size of the scale's collapsed family: the FLOP/s of one training step (counted as in Table 9, attention
included), over the FLOP/s of torch's matrix products of the same shapes, and over those of the plain reference step
(`reference_decoder.py` with torch's AdamW), twice: within this process, whose memory allocator is set as for training,
and in a process of its own as most people would run it. All are timed in turn, round after round, so that a machine
whose speed drifts slows all alike; medians are compared.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from statistics import median

import torch

from benchmarks.reference_decoder import ReferenceDecoder
from scaling_collapse.config.load import load_scale
from scaling_collapse.config.model import Model
from scaling_collapse.model.count import parameters
from scaling_collapse.model.decoder import Decoder
from scaling_collapse.optim.groups import build_optimizer
from scaling_collapse.plan.expand import expand
from scaling_collapse.plan.run import Run
from scaling_collapse.scaling.flops import training_flops
from scaling_collapse.train.execution import Execution
from scaling_collapse.train.step import FlatGradients, update
from scaling_collapse.train.world import World

WARM_UP = 3  # rounds that are not counted


def step_of(run: Run, tokens: torch.Tensor) -> Callable[[], object]:
    """The project's own step: gradients, norm, update."""
    decoder = Decoder(run.model, run.parameterisation)
    decoder.initialise(0)
    optimizer = build_optimizer(decoder, run.model, run.parameterisation, run.optimizer)
    gradients, world = FlatGradients(decoder.parameters()), World()

    def step() -> None:
        gradients.accumulate(decoder, [tokens], len(tokens), world)
        gradients.loss_and_norm()
        update(optimizer, 0.1)

    return step


def plain_step_of(run: Run, tokens: torch.Tensor) -> Callable[[], object]:
    """The step as most people would write it."""
    decoder = ReferenceDecoder(run.model, run.parameterisation)
    optimizer = torch.optim.AdamW(decoder.parameters(), lr=1e-4)

    def step() -> None:
        loss = decoder(tokens[:, :-1], tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(decoder.parameters(), float("inf"))
        optimizer.step()
        loss.item()

    return step


def products_of(model: Model, sequences: int) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """All matrix products of a step as (how often, left shape, right shape), forward and both backward ones."""
    n, d, t = sequences * model.sequence_length, model.width, model.sequence_length
    up = model.ffn_hidden * (2 if model.activation == "swiglu" else 1)
    linear = [(d, 3 * d), (d, d), (d, up), (model.ffn_hidden, d)]
    pairs, size = sequences * model.heads, model.head_size
    products: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
    for count, (fan_in, fan_out) in [(model.layers, shape) for shape in linear] + [(1, (d, model.vocabulary))]:
        products += [
            (count, (n, fan_in), (fan_in, fan_out)),
            (count, (n, fan_out), (fan_out, fan_in)),
            (count, (fan_out, n), (n, fan_in)),
        ]
    products += [
        (2 * model.layers, (pairs, t, size), (pairs, size, t)),
        (4 * model.layers, (pairs, t, t), (pairs, t, size)),
    ]
    return products


def products_step(model: Model, sequences: int) -> Callable[[], object]:
    """Only the matrix products of a step, on contiguous operands, into results that exist."""
    made = []
    for count, left, right in products_of(model, sequences):
        a, b = torch.randn(left), torch.randn(right)
        made.append((count, a, b, torch.matmul(a, b)))

    def step() -> None:
        for count, a, b, out in made:
            for _ in range(count):
                torch.matmul(a, b, out=out)

    return step


def serve_plain_steps(connection: Connection, run: Run) -> None:
    """In a process of its own: take a plain step for each message, answer with its seconds, end at None."""
    torch.set_num_threads(1)
    step = plain_step_of(run, batch_of(run))
    while connection.recv() is not None:
        connection.send(seconds_of(step))


def batch_of(run: Run) -> torch.Tensor:
    """Random tokens of the run's batch shape (B, T+1)."""
    shape = (run.batch_sequences, run.model.sequence_length + 1)
    return torch.randint(0, run.model.vocabulary, shape, generator=torch.Generator().manual_seed(0))


def seconds_of(action: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def measure(run: Run, rounds: int) -> list[float]:
    """Median seconds of our step, of the products alone, of the plain step here and in its own process, in turn."""
    tokens = batch_of(run)
    actions = [step_of(run, tokens), products_step(run.model, run.batch_sequences), plain_step_of(run, tokens)]
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    child = context.Process(target=serve_plain_steps, args=(there, run))
    child.start()
    columns: list[list[float]] = [[] for _ in range(4)]
    for _ in range(rounds + WARM_UP):
        for column, action in zip(columns, actions, strict=False):
            column.append(seconds_of(action))
        here.send("step")
        columns[3].append(here.recv())
    here.send(None)
    child.join()
    return [median(column[WARM_UP:]) for column in columns]


def wide(run: Run) -> Run:
    """The same run at width 256, the shape of the second bar."""
    ratio = run.model.ffn_hidden // run.model.width
    return run.model_copy(
        update={
            "size": "width 256",
            "model": run.model.model_copy(update={"width": 256, "head_size": 64, "ffn_hidden": 256 * ratio}),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="cpu")
    parser.add_argument("--group", default="celerity_20tpp")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    Execution().prepare_torch()
    runs = [run for run in expand(load_scale(arguments.scale)) if arguments.group in run.groups and run.seed == 0]
    print(f"{'size':>10} {'GFLOP/s':>8} {'of products':>12} {'over plain':>11} {'over plain, own process':>24}")
    rows = []
    for run in [*runs, wide(runs[-1])]:
        ours, *others = measure(run, arguments.rounds)
        # Table 9's FLOPs a token do not depend on how many tokens there are
        flops = training_flops(run.model, parameters(run.model), run.batch_tokens)
        ratios = [seconds / ours for seconds in others]
        print(
            f"{run.size:>10} {flops / ours / 1e9:8.1f} {ratios[0]:12.3f} {ratios[1]:11.2f} {ratios[2]:24.2f}",
            flush=True,
        )
        if run in runs:
            rows.append((run.flops, ratios))
    weights = sum(flops for flops, _ in rows)
    total = [weights / sum(flops / ratios[k] for flops, ratios in rows) for k in range(3)]
    print(f"{'family':>10} {'':>8} {total[0]:12.3f} {total[1]:11.2f} {total[2]:24.2f}   weighted by FLOPs")


if __name__ == "__main__":
    main()
