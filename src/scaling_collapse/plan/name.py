"""Run ids: `132k-tpp20-base-s0`, or instead of `base` what differs from the size's own recipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scaling_collapse.config.family import Family

_SCHEDULES = {"linear_to_zero": "zero", "linear_10x": "x10", "constant": "constant", "cosine": "cosine", "wsd": "wsd"}


def significant(value: float, digits: int) -> float:
    """`value` rounded to significant digits."""
    return float(f"{value:.{digits}g}")


def short(value: float, digits: int = 3) -> str:
    """Few significant digits without an exponent, as a file name may hold them: 0.0525, 1280."""
    text = f"{significant(value, digits):.12f}" if abs(value) < 1 else f"{significant(value, digits):.6f}"
    return text.rstrip("0").rstrip(".")


def run_id(settings: Mapping[str, Any], family: Family, usual_batch: int, usual_tau: float) -> str:
    """`{size}-tpp{tpp}-{variant}-s{seed}` of a resolved run.

    The variant names what differs from the family's recipe: it depends on the run's numbers only, not on the group
    that asked for it, so a run keeps its id when groups come and go. tau stands for the weight decay, which follows.
    """
    variant = "-".join(_variant(settings, family, usual_batch, usual_tau)) or "base"
    return f"{settings['size'].lower()}-tpp{short(settings['tpp'], 4)}-{variant}-s{settings['seed']}"


def _variant(settings: Mapping[str, Any], family: Family, usual_batch: int, usual_tau: float) -> list[str]:
    model, optimizer, shape = settings["model"], settings["optimizer"], settings["parameterisation"]
    usual, usual_shape = family.optimizer, family.parameterisation
    tau, restart = settings["tau"], settings["restart"]
    parts = {
        settings["data"]: settings["data"] != family.data,
        shape.kind: shape.kind != usual_shape.kind,
        _SCHEDULES[settings["schedule"].kind]: settings["schedule"].kind != family.schedule.kind,
        f"e{model.experts}": model.experts != 1,
        f"beta{optimizer.beta1:g}-{optimizer.beta2:g}": (optimizer.beta1, optimizer.beta2)
        != (usual.beta1, usual.beta2),
        f"init{short(shape.init_std)}": shape.init_std != usual_shape.init_std,
        f"in{short(shape.input_multiplier)}": shape.input_multiplier != usual_shape.input_multiplier,
        f"out{short(shape.output_multiplier)}": shape.output_multiplier != usual_shape.output_multiplier,
        f"b{settings['batch_sequences']}": settings["batch_sequences"] != usual_batch,
        f"lr{short(optimizer.peak_lr)}": optimizer.peak_lr != usual.peak_lr,
        "wd0": tau is None,
        f"tau{short(tau or 1)}": tau is not None and short(tau) != short(usual_tau),
        restart.name if restart else "": restart is not None,
    }
    return [text.replace("_", "") for text, differs in parts.items() if differs]
