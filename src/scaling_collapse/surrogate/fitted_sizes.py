"""Which sizes a surrogate is fitted on, so that the others are left to test it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scaling_collapse.errors import ConfigError
from scaling_collapse.surrogate.data import CurveSet
from scaling_collapse.surrogate.form import Form
from scaling_collapse.surrogate.identify import LEAST_SPREAD


def choose_sizes(
    curves: CurveSet, size_params: Mapping[str, float], asked: Sequence[str], form: Form
) -> tuple[tuple[str, ...], str]:
    """Return the sizes to fit, smallest first, and why: those `asked` for, else the smallest one with enough runs.

    Enough are more runs than `form` fits constants, as only runs are independent (information.py), with tau or TPP
    that differ. Where no size has enough, all are fitted. `size_params` by run. Raises ConfigError for an unknown size.
    """
    counts = {size: curves.sizes.count(size) for size in sizes_of(curves, size_params)}
    unknown = [size for size in asked if size not in counts]
    if unknown:
        listed = ", ".join(f"{size} ({count} run{'s' * (count != 1)})" for size, count in counts.items())
        raise ConfigError("size", f"no run of size {unknown[0]!r} can be fitted.", f"use one of: {listed}")
    if asked:
        return tuple(size for size in counts if size in asked), "as asked for"
    least = len(form.fitted) + 1
    for size, count in counts.items():
        if count >= least and _varies(curves.of_size(size)):
            return (size,), f"the smallest size with {least} or more runs, over which tau or TPP differ"
    return tuple(counts), f"all sizes, since none has {least} runs over which tau or TPP differ"


def sizes_of(curves: CurveSet, size_params: Mapping[str, float]) -> list[str]:
    """Return the names of the sizes by their number of parameters; those that are not known come last."""
    params = np.array([size_params[run] for run in curves.runs], dtype=float)
    return list(dict.fromkeys(curves.sizes[index] for index in np.argsort(params, kind="stable")))


def _varies(curves: CurveSet) -> bool:
    return max(float(np.log(curves.tau).std()), float(np.log(curves.tpp).std())) >= LEAST_SPREAD
