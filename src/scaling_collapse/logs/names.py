"""What a column (key, tag) of a log is, judged by its name. Names come from the tools listed in docs/import.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

#: Between a column and the split that the record itself names.
SPLIT_MARK = "\x1f"

#: Longest name that is looked at.
MAX_NAME = 400

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_LOSS = {"loss", "losses", "nll", "crossentropy", "xent"}
#: Words that make a number something else than a loss, although "loss" is in its name.
_NO_LOSS = {"scale", "scaler", "scaling", "weight", "weights", "coef", "coeff", "ratio", "mask", "best", "min", "max"}
_NO_LOSS |= {"time", "count", "std", "var", "spike", "spikes", "delta", "diff", "target", "ppl", "perplexity"}
_NO_LOSS |= {"predicted"}
_VALIDATION = {"val", "valid", "validation", "eval", "evaluation", "test", "dev", "heldout", "held", "holdout", "vali"}
_PLAIN = {"loss", "losses", "train", "training", "lm", "avg", "average", "mean", "global", "metrics", "metric", "step"}
_PLAIN |= {"cross", "entropy", "crossentropy", "ce", "nll", "final", "token", "per", "model", "objective", "main"}
#: Parts of a training loss, regularisers, and means over an epoch: taken only if there is nothing else.
_AUXILIARY = {"aux", "auxiliary", "balance", "balancing", "router", "moe", "z", "kl", "recon", "reg", "mtp", "epoch"}
_AUXILIARY |= {"regularization", "distill", "distillation", "ema", "estimated", "commit", "vq", "policy", "value"}

#: What `plainness` says of them.
PART = 2

#: Optimiser steps first, then what counts something near them.
STEPS: tuple[str, ...] = (
    "optimizer_step",
    "trainer/global_step",
    "train/global_step",
    "global_step",
    "step",
    "steps",
    "iteration",
)
STEPS += ("iterations", "iter", "iter_num", "iters", "train/step", "train_step", "global step", "num_updates")
STEPS += ("update", "updates", "train/iter", "_step", "batch", "epoch")
TOKENS: tuple[str, ...] = ("tokens", "total_tokens", "throughput/total_tokens", "tokens_seen", "num_tokens", "n_tokens")
TOKENS += ("ntokens_seen", "n_tokens_seen", "consumed_tokens", "train/tokens", "train/total_tokens")
TOKENS += ("train_tokens", "train/tokens_seen", "num_input_tokens_seen", "train/num_input_tokens_seen")
RUNS = ("run", "run_name", "run_id", "runname", "run name", "experiment", "experiment_name", "exp_name", "trial_id")
SPLITS = ("split", "subset")
LEARNING_RATES: tuple[str, ...] = (
    "lr",
    "learning_rate",
    "train/lr",
    "train/learning_rate",
    "learning rate",
    "train/learning rate",
)
LEARNING_RATES += ("optim/learning_rate_group0", "optim/lr", "lr-adam", "lr-adamw", "lr/group0", "current_lr")

#: Columns that tell a fact of the whole run, by the name of the fact.
FACT_NAMES = {
    "size_params": ("size_params", "n_params", "num_params", "num_parameters", "n_parameters", "params_active_precise"),
    "tokens_total": ("tokens_total",),
    "batch_tokens": ("batch_tokens", "batch_size_in_tokens", "tokens_per_step", "tokens_per_batch"),
    "lr_peak": ("lr_peak", "peak_lr", "max_lr"),
    "weight_decay": ("weight_decay", "wd"),
    "schedule": ("schedule", "lr_schedule", "lr_scheduler_type", "lr_decay_style"),
    "seed": ("seed",),
}

#: What counts as one step, for the columns where it may not be an optimiser step.
UNITS = {
    "_step": "calls of wandb.log, perhaps not optimiser steps",
    "epoch": "epochs, not optimiser steps",
    "batch": "batches, perhaps not optimiser steps",
    "step": "",
}


@lru_cache(maxsize=4096)
def words(name: str) -> frozenset[str]:
    """Return the lower-case words of a name: eval/CrossEntropyLoss gives eval, cross, entropy, loss."""
    return frozenset(word.lower() for word in _WORD.findall(name[:MAX_NAME]))


def is_loss(name: str) -> bool:
    """Whether a column holds a loss."""
    found = words(name)
    named = bool(found & _LOSS) or {"cross", "entropy"} <= found or any(word.endswith("loss") for word in found)
    return named and not found & _NO_LOSS


def is_validation(name: str) -> bool:
    """Whether a loss is of text that is not trained on."""
    found = words(name)
    return bool(found & _VALIDATION) or any(word[:-4] in _VALIDATION for word in found if word.endswith("loss"))


def plainness(name: str) -> int:
    """Return 0 for a name that says no more than "loss", 1 for one with other words, PART for a part of a loss."""
    found = words(name)
    if found & _AUXILIARY:
        return PART
    rest = found - _PLAIN - _VALIDATION
    return int(any(not (word.endswith("loss") or word.isdigit()) for word in rest))


def first_of(known: tuple[str, ...], names: Iterable[str]) -> str | None:
    """Return the one of `names` that comes first in `known`, in whatever case."""
    present = {name.lower(): name for name in reversed(list(names))}
    return next((present[name] for name in known if name in present), None)
