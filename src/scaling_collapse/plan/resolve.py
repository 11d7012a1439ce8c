"""From a case to a run: every default filled in, and tokens, batch, learning rate, weight decay and tau computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scaling_collapse.config.family import Family, Size
from scaling_collapse.config.group import Case, Of
from scaling_collapse.config.model import Model, Parameterisation
from scaling_collapse.config.recipe import Optimizer, Restart
from scaling_collapse.config.scale import Scale
from scaling_collapse.errors import ConfigError
from scaling_collapse.model.count import parameters
from scaling_collapse.model.parameterisation import base_weight_decay, hidden_lr
from scaling_collapse.optim.laws import BATCH_LAW_SEQUENCE_TOKENS
from scaling_collapse.optim.timescale import timescale, weight_decay_for
from scaling_collapse.plan.name import run_id, significant
from scaling_collapse.plan.run import Run
from scaling_collapse.scaling.flops import training_flops

# Digits of derived numbers: enough for every use, few enough that two ways to one value meet.
DECAY_DIGITS, TAU_DIGITS = 12, 9


@dataclass(frozen=True)
class Recipe:
    """What a case comes down to; the same fields for a run and for the plain recipe of its size."""

    batch: int
    steps: int
    tokens: int
    peak_lr: float
    hidden_lr: float
    weight_decay: float
    tau: float | None


def resolve(scale: Scale, case: Case, group: str) -> Run:
    """The run of a case. Raises ConfigError for a run that cannot be, e.g. a batch larger than the run."""
    family, size = scale.find_size(str(case.size))
    model = family.model(size, case.experts or 1)
    parameterisation = _parameterisation(family, case)
    tokens, tpp = _budget(family, size, case)
    recipe = _recipe(scale, case, model, parameterisation)
    settings: dict[str, Any] = {
        "family": family.name,
        "size": size.name,
        "data": case.data or family.data,
        "model": model,
        "parameterisation": parameterisation,
        "optimizer": _optimizer(family, case, recipe),
        "schedule": family.schedule.model_copy(update={"kind": case.schedule or family.schedule.kind}),
        "restart": _restart(case, recipe),
        "seed": case.seed or 0,
        "batch_sequences": recipe.batch,
        "steps": recipe.steps,
        "max_epochs": scale.corpus.max_epochs,
        "validations": scale.validation.points,
        "validation_sequences": scale.validation.sequences,
        "params": parameters(model),
        "tokens": recipe.tokens,
        "tpp": tpp,
        "batch_tokens": recipe.batch * model.sequence_length,
        "hidden_lr": recipe.hidden_lr,
        "tau": recipe.tau,
        "flops": training_flops(model, parameters(model), recipe.tokens),
    }
    usual = (_batch(scale, Case(size=size.name), family, size, tokens), _law_tau(family, tpp))
    return Run(run_id=run_id(settings, family, *usual), groups=(group,), **settings)


def _recipe(scale: Scale, case: Case, model: Model, parameterisation: Parameterisation) -> Recipe:
    """Batch, steps, learning rate, weight decay and tau of a case."""
    family, size = scale.find_size(str(case.size))
    wanted, tpp = _budget(family, size, case)
    batch = _batch(scale, case, family, size, wanted)
    batch_tokens = batch * model.sequence_length
    steps = round(wanted / batch_tokens)
    if steps < 1:
        raise ConfigError(
            "batch", f"a batch of {batch_tokens:,} tokens is larger than the run's {wanted:,.0f}", "lower batch"
        )
    tokens = steps * batch_tokens
    peak_lr = case.peak_lr or family.optimizer.peak_lr
    eta = hidden_lr(peak_lr, model, parameterisation)
    if case.weight_decay is None:
        tau = _law_tau(family, tpp) if case.tau in (None, "law") else float(case.tau or 0)
        decay = weight_decay_for(tau, batch_tokens, eta, tokens)
    elif isinstance(case.weight_decay, Of):
        decay = _decay_of(scale, case.weight_decay, case) / base_weight_decay(1.0, model, parameterisation)
    else:
        decay = case.weight_decay
    decay = significant(decay, DECAY_DIGITS)
    tau_or_none = significant(timescale(batch_tokens, eta, decay, tokens), TAU_DIGITS) if decay else None
    return Recipe(batch, steps, tokens, peak_lr, eta, decay, tau_or_none)


def _decay_of(scale: Scale, of: Of, case: Case) -> float:
    """Weight decay, before width scaling, of another size's own recipe at the case's TPP or tokens."""
    family, size = scale.find_size(of.of)
    model, parameterisation = family.model(size), family.parameterisation
    plain = Case(size=of.of, tpp=case.tpp, tokens=case.tokens)
    return base_weight_decay(_recipe(scale, plain, model, parameterisation).weight_decay, model, parameterisation)


def _budget(family: Family, size: Size, case: Case) -> tuple[float, float]:
    """Wanted training tokens and nominal TPP, counted on the dense model."""
    params = parameters(family.model(size))
    if case.tokens is not None:
        return case.tokens, significant(case.tokens / params, 4)
    return float(case.tpp or 0) * params, float(case.tpp or 0)


def _batch(scale: Scale, case: Case, family: Family, size: Size, tokens: float) -> int:
    """Batch [sequences]: the case's, else the size's, else the law's (rounded, at least 1)."""
    if isinstance(case.batch, Of):
        other_family, other = scale.find_size(case.batch.of)
        other_tokens, _ = _budget(other_family, other, case)
        return _batch(scale, Case(size=other.name), other_family, other, other_tokens)
    if isinstance(case.batch, int):
        return case.batch
    if case.batch is None and size.batch is not None:
        return size.batch
    law = family.batch_law
    sequences: float = (
        law.coefficient * tokens**law.exponent * BATCH_LAW_SEQUENCE_TOKENS / family.architecture.sequence_length
    )
    return max(1, round(sequences))


def _law_tau(family: Family, tpp: float) -> float:
    """tau of the family at `tpp`: the table's value where there is one, else the law's."""
    law = family.tau_law
    at_law: float = law.coefficient * tpp**law.exponent
    table = {entry.tpp: entry.tau for entry in law.table}
    return table.get(tpp, at_law)


def _optimizer(family: Family, case: Case, recipe: Recipe) -> Optimizer:
    given = {"beta1": case.beta1, "beta2": case.beta2, "peak_lr": recipe.peak_lr, "weight_decay": recipe.weight_decay}
    return Optimizer(**family.optimizer.model_dump() | {k: v for k, v in given.items() if v is not None})


def _restart(case: Case, recipe: Recipe) -> Restart | None:
    """The case's restart. Raises ConfigError for one at no step of the run, or micro-batches larger than its batch."""
    restart = case.restart
    if restart is None:
        return None
    if not 0 < restart.step(recipe.steps) < recipe.steps:
        problem = f"at {restart.at:g} of {recipe.steps} steps is no step between the first and the last"
        raise ConfigError("restart.at", problem, "train for longer, or restart further inside")
    if restart.micro_batch > recipe.batch:
        problem = f"{restart.micro_batch} sequences at once are more than the batch of {recipe.batch}"
        raise ConfigError("restart.micro_batch", problem, f"use at most {recipe.batch}")
    return restart


def _parameterisation(family: Family, case: Case) -> Parameterisation:
    changes = {
        "kind": case.parameterisation,
        "init_std": case.init_std,
        "input_multiplier": case.input_multiplier,
        "output_multiplier": case.output_multiplier,
    }
    return family.parameterisation.model_copy(update={k: v for k, v in changes.items() if v is not None})
