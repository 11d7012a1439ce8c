"""The surrogate of normalised loss curves (section 2, Eq. 4 and 5): its formula, its constants, its ablations.

    l(t) = ((1+e1)/(t+e1))^m + b*(eta(t)+e2)^q, divided by its value at t = 1
    b = b_c * tau^b_e * TPP^b_tpp,   q = q_c * TPP^q_e * tau^q_tau

t is the fraction of training, eta the learning rate over its peak. The paper's form has b_tpp = q_tau = 0 and fixes
m, e1 and e2; its four constants b_c, b_e, q_c, q_e are not printed. Arrays: R runs, G points of t.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import ArrayLike

from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.schedule import RateCurve

#: Fixed constants of the paper (section 2).
DECAY_EXPONENT, E1, E2 = 0.05, 0.001, 0.1


@dataclass(frozen=True)
class Surrogate:
    """The constants, in the formula above. The defaults are the decay alone, without the schedule term (b = 0)."""

    b_c: float = 0.0
    b_e: float = 0.0
    q_c: float = 1.0
    q_e: float = 0.0
    b_tpp: float = 0.0
    q_tau: float = 0.0
    m: float = DECAY_EXPONENT
    e2: float = E2

    def b(self, tau: ArrayLike, tpp: ArrayLike) -> np.ndarray:
        """Return the weight of the schedule term."""
        tau, tpp = np.asarray(tau, dtype=float), np.asarray(tpp, dtype=float)
        return np.asarray(self.b_c * tau**self.b_e * tpp**self.b_tpp)

    def q(self, tau: ArrayLike, tpp: ArrayLike) -> np.ndarray:
        """Return the exponent of the schedule term."""
        tau, tpp = np.asarray(tau, dtype=float), np.asarray(tpp, dtype=float)
        return np.asarray(self.q_c * tpp**self.q_e * tau**self.q_tau)

    def evaluate(self, t_hat: np.ndarray, tau: float, tpp: float, schedule: RateCurve) -> np.ndarray:
        """Return the normalised curve l at `t_hat` (G,) in (0, 1] for one run, shape (G,); l(1) = 1.

        `schedule` must reach to the end of training, however short `t_hat` is. Raises CurveError for a tau or TPP
        that is not positive and finite, or t_hat outside (0, 1].
        """
        t = np.asarray(t_hat, dtype=float)
        for name, value in (("tau", tau), ("TPP", tpp)):
            if not (np.isfinite(value) and value > 0):
                raise CurveError("surrogate", f"{name} is {value}; must be positive and finite.")
        if t.size == 0 or not (t.min() > 0 and t.max() <= 1):
            raise CurveError("surrogate", "t_hat must be fractions of training above 0 and up to 1.")
        end = np.atleast_1d(schedule(np.ones(1)))
        b, q = np.atleast_1d(self.b(tau, tpp)), np.atleast_1d(self.q(tau, tpp))
        return np.asarray(shape(t, schedule(t)[None, :], end, b, q, self.m, self.e2)[0])


@dataclass(frozen=True)
class Form:
    """Which constants a fit may move (`fitted`); the others stay as in `base`."""

    fitted: tuple[str, ...]
    base: Surrogate = field(default_factory=Surrogate)

    def __post_init__(self) -> None:
        unknown = [name for name in self.fitted if name not in CONSTANTS]
        if unknown or len(set(self.fitted)) != len(self.fitted):
            raise CurveError("surrogate", f"fitted constants {', '.join(self.fitted)}; known: {', '.join(CONSTANTS)}.")


#: Larger exponents of e are cut: absurd constants, which a search may try, then give a large number, not infinity.
_MOST = 100.0

#: Names of all constants, in the order in which the fit holds them.
CONSTANTS = tuple(item.name for item in fields(Surrogate))

#: The paper's form: b from tau, q from tokens per parameter (Eq. 5).
PAPER = Form(("b_c", "b_e", "q_c", "q_e"))

#: Both laws from both variables: the last fitted form of Table 12.
BOTH_LAWS = Form((*PAPER.fitted, "b_tpp", "q_tau"))

#: The forms of Table 12, in its order.
TABLE_12 = {
    "b, q fixed": Form(("b_c", "q_c")),
    "b fixed, q = PL(TPP)": Form(("b_c", "q_c", "q_e")),
    "b = PL(tau), q fixed": Form(("b_c", "b_e", "q_c")),
    "b = PL(tau), q = PL(TPP)": PAPER,
    "b, q = PL(tau, TPP)": BOTH_LAWS,
}

#: Without the schedule term, b = 0: no constant is fitted.
DECAY_ALONE = Form(())

#: Ours, a deviation: m and e2, which the paper fixed for 111M to 3.3B, are fitted too.
FREE_DECAY = Form((*PAPER.fitted, "m", "e2"))


def shape(
    t_G: np.ndarray, eta_RG: np.ndarray, end_R: np.ndarray, b_R: np.ndarray, q_R: np.ndarray, m: float, e2: float
) -> np.ndarray:
    """Return l_RG at t_G for learning rates eta_RG that end at end_R, weights b_R and exponents q_R of each run."""
    return slopes(log_decay(t_G), np.log(eta_RG + e2), np.log(end_R + e2), b_R, q_R, m, e2, wanted=())[0]


def log_decay(t_G: np.ndarray) -> np.ndarray:
    """Return log((1+e1)/(t+e1)), which m multiplies; 0 at the end of training."""
    return np.asarray(np.log((1 + E1) / (t_G + E1)))


def slopes(
    log_decay_G: np.ndarray,
    log_rate_RG: np.ndarray,
    log_end_R: np.ndarray,
    b_R: np.ndarray,
    q_R: np.ndarray,
    m: float,
    e2: float,
    wanted: Collection[str],
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return l_RG, and its `wanted` derivatives by log b ("b"), log q ("q"), log m ("m") and log e2 ("e2").

    `log_rate_RG`, `log_end_R` are log(eta+e2) along the run and at its end; the rest as in `shape`.
    """
    b, q, log_end = b_R[:, None], q_R[:, None], log_end_R[:, None]
    term, term_end = np.exp(np.minimum(q * log_rate_RG, _MOST)), np.exp(np.minimum(q * log_end, _MOST))
    decay = np.exp(m * log_decay_G)
    scale = 1 / (1 + b * term_end)
    l_RG = (decay + b * term) * scale
    by: dict[str, np.ndarray] = {}
    if "b" in wanted:
        by["b"] = b * scale * (term - l_RG * term_end)
    if "q" in wanted:
        by["q"] = b * q * scale * (term * log_rate_RG - l_RG * (term_end * log_end))
    if "m" in wanted:
        by["m"] = m * log_decay_G * decay * scale
    if "e2" in wanted:
        by["e2"] = b * q * e2 * scale * (term * np.exp(-log_rate_RG) - l_RG * (term_end * np.exp(-log_end)))
    return l_RG, by
