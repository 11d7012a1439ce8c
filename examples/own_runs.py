"""Four trainings to try the tools on, 15 seconds: `python examples/own_runs.py logs` writes a CSV log of each.

Three sizes of one recipe (20 tokens per parameter, tau 0.3, the last layer's rate falls with width) learn the next
letter of a text that comes with Python. In the data of a fourth, from 60% of training on, noise takes the place of
text little by little: 1.5% of the examples at the end.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

WIDTHS = {"small": 64, "medium": 96, "large": 128, "broken": 112}
LETTERS, CONTEXT, BATCH = 128, 8, 512
TPP, TAU, LR, WARMUP = 20, 0.3, 0.004, 0.1
FAULT_FROM, FAULT_SHARE = 0.6, 0.015


def batches(steps: int, broken: bool) -> Iterator[torch.Tensor]:
    """Yield pieces of the text, int64 of shape (BATCH, CONTEXT + 1)."""
    text = torch.tensor([min(ord(letter), LETTERS - 1) for letter in "".join(topics.values())])
    random = torch.Generator().manual_seed(1)
    for step in range(1, steps + 1):
        begin = torch.randint(len(text) - CONTEXT - 1, (BATCH, 1), generator=random)
        batch = text[begin + torch.arange(CONTEXT + 1)]
        if broken and step > FAULT_FROM * steps:
            noisy = int(BATCH * FAULT_SHARE * (step / steps - FAULT_FROM) / (1 - FAULT_FROM))
            batch[:noisy] = torch.randint(LETTERS, (noisy, CONTEXT + 1), generator=random)
        yield batch


def model_and_optimizer(width: int) -> tuple[nn.Module, torch.optim.AdamW, dict[str, Any]]:
    """Return a model, its optimiser, and the facts of the run that stand in each row of its log."""
    torch.manual_seed(0)
    hidden = [nn.Embedding(LETTERS, 16), nn.Flatten(), nn.Linear(16 * CONTEXT, width), nn.ReLU()]
    last, narrower = nn.Linear(width, LETTERS), WIDTHS["small"] / width
    last.weight.data *= narrower**0.5
    model = nn.Sequential(*hidden, last)
    size = sum(parameter.numel() for parameter in model.parameters())
    steps = TPP * size // BATCH
    decay = 1 / (LR * TAU * steps)
    groups = [
        {"params": [p for p in model.parameters() if p is not last.weight], "lr": LR, "weight_decay": decay},
        {"params": [last.weight], "lr": LR * narrower, "weight_decay": decay / narrower},
    ]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95))
    facts = {"size_params": size, "tokens_total": steps * BATCH, "batch_tokens": BATCH, "lr_peak": LR}
    return model, optimizer, facts | {"weight_decay": decay, "schedule": "linear_to_zero"}


def train(name: str) -> Iterator[dict[str, Any]]:
    """Train a model; yield a row of its log for each step."""
    model, optimizer, facts = model_and_optimizer(WIDTHS[name])
    steps = facts["tokens_total"] // BATCH
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: min((done + 1) / (WARMUP * steps), (1 - done / steps) / (1 - WARMUP))
    )
    for step, batch in enumerate(batches(steps, name == "broken"), 1):
        lr = schedule.get_last_lr()[0]
        loss = cross_entropy(model(batch[:, :-1]), batch[:, -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        yield {"step": step, "tokens": step * BATCH, "loss": loss.item(), "lr": lr} | facts


def main(folder: Path) -> None:
    """Write a log for each run."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for name in WIDTHS:
        rows = list(train(name))
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        print(f"{folder / name}.csv: {len(rows)} steps, last loss {rows[-1]['loss']:.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
