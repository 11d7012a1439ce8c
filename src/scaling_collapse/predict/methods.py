"""The single methods: each extrapolates the part to its final loss, or to any later point.

Early-align (section 1) finds the divisor that best aligns the part with the template: by L1, by least squares or as
the mean ratio. Affine alignment finds L = a*l + b. The power law is fitted to the part itself and knows no template.
"""

from __future__ import annotations

import numpy as np

from scaling_collapse.errors import CurveError
from scaling_collapse.predict.part import Part
from scaling_collapse.scaling.power_law import fit_power_law_with_offset

L1, LEAST_SQUARES, RATIO = "early_align_l1", "early_align_least_squares", "early_align_ratio"
AFFINE, POWER_LAW, KRIGING = "affine", "power_law", "kriging"

#: All methods; "auto" chooses among them (predict/choose.py).
METHODS = (KRIGING, L1, LEAST_SQUARES, RATIO, AFFINE, POWER_LAW)
ALIGNMENTS = (L1, LEAST_SQUARES, RATIO, AFFINE)


def divisor_l1(loss: np.ndarray, template: np.ndarray, count: np.ndarray) -> float:
    """Return the divisor c that minimises sum(count * |loss - c*l|), a weighted median of loss/l. Arrays are (m,)."""
    ratio = loss / template
    order = np.argsort(ratio)
    weight = np.cumsum((count * template)[order])
    return float(ratio[order][np.searchsorted(weight, weight[-1] / 2)])


def divisor_least_squares(loss: np.ndarray, template: np.ndarray, count: np.ndarray) -> float:
    """Return the divisor c that minimises sum(count * (loss - c*l)^2)."""
    return float((count * loss) @ template / ((count * template) @ template))


def divisor_ratio(loss: np.ndarray, template: np.ndarray, count: np.ndarray) -> float:
    """Return the mean of loss/l, weighted by count."""
    return float(count @ (loss / template) / count.sum())


def affine(loss: np.ndarray, template: np.ndarray, count: np.ndarray) -> tuple[float, float]:
    """Return (a, b) of the least squares of loss = a*l + b. Raises CurveError where l does not vary."""
    if np.ptp(template) == 0:
        raise CurveError("affine alignment", "the template is flat over the part.", "use early-align")
    root, design = np.sqrt(count), np.stack([template, np.ones_like(template)], axis=1)
    a, b = np.linalg.lstsq(design * root[:, None], loss * root, rcond=None)[0]
    return float(a), float(b)


def aligned(part: Part, known: slice, target: float) -> dict[str, float]:
    """Return what each alignment predicts where the template is `target` (1: the end), from the points `known`."""
    arrays = part.loss[known], part.template[known], part.count[known]
    found = {
        L1: divisor_l1(*arrays) * target,
        LEAST_SQUARES: divisor_least_squares(*arrays) * target,
        RATIO: divisor_ratio(*arrays) * target,
        AFFINE: float("nan"),
    }
    if len(arrays[0]) >= 2 and np.ptp(arrays[1]) > 0:
        a, b = affine(*arrays)
        found[AFFINE] = a * target + b
    return found


def power_law(part: Part) -> float:
    """Return L(T) of the power law with offset through the part; NaN where it has fewer than three points or is flat.

    Right under a constant learning rate (Eq. 6-9) only: it foresees no decay.
    """
    if len(part.t_hat) < 3 or np.ptp(part.loss) == 0:
        return float("nan")
    return float(fit_power_law_with_offset(part.t_hat, part.loss)(1.0))
