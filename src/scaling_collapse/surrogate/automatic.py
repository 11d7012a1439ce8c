"""The fit that first asks what the data can tell: constants are fitted, regularised to published ones, or fixed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scaling_collapse.curves.measures import PERCENT
from scaling_collapse.surrogate.data import CurveSet
from scaling_collapse.surrogate.fit import STARTS, SurrogateFit, fit_surrogate
from scaling_collapse.surrogate.form import PAPER, Form, Surrogate
from scaling_collapse.surrogate.identify import Identifiability, identifiability, prior_widths
from scaling_collapse.surrogate.minimise import Prior
from scaling_collapse.surrogate.problem import MAE, Objective, problem_of


def fit_identified(
    curves: CurveSet,
    published: Surrogate,
    form: Form = PAPER,
    objective: Objective = MAE,
    starts: int = STARTS,
    seed: int = 0,
) -> tuple[SurrogateFit, Identifiability]:
    """Fit `form` freely, judge each constant, and fit again where one has to be held by its `published` value.

    Regularised constants get a normal prior around the published ones, weighted as the noise and the independent
    points of the free fit imply; fixed ones are the published ones at the centre of the data. Both are said in the
    fit's warnings. Errors as `fit_surrogate`.
    """
    free = fit_surrogate(curves, form, objective, None, starts, seed)
    found = identifiability(curves, free)
    confounding = tuple(found.lines())[1:2] if found.confounded else ()
    fixed, regularised = found.named("fixed"), found.named("regularised")
    if not fixed and not regularised:
        return replace(free, warnings=(*free.warnings, *confounding)), found
    held = Form(tuple(name for name in form.fitted if name not in fixed), published if fixed else form.base)
    width_P = np.where(np.isin(held.fitted, regularised), prior_widths(held), np.inf)
    strength = free.mae_percent / PERCENT / found.independent_points
    prior = Prior(problem_of(curves, held).vector(published), width_P, strength) if regularised else None
    fit = fit_surrogate(curves, held, objective, prior, starts, seed)
    notes = [
        f"{constant.name} {constant.verdict}: {constant.reason}"
        for constant in found.constants
        if constant.verdict != "fitted"
    ]
    return replace(fit, warnings=(*fit.warnings, *confounding, *notes)), found
