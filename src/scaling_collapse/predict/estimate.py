"""Everything that one part says about its final loss: each method's value, and back-tests of the part on itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scaling_collapse.predict.kriging import UNLIKELY_STRETCH, Covariances, krige, stretch_found
from scaling_collapse.predict.match import Match
from scaling_collapse.predict.methods import KRIGING, POWER_LAW, aligned, power_law
from scaling_collapse.predict.part import Part
from scaling_collapse.predict.prediction import NINETY_PERCENT
from scaling_collapse.predict.template import Template

#: Fractions of the part after which a back-test pretends to know nothing, and from where on its truth is taken.
CUTS, TRUTH_FROM = (0.5, 0.6, 0.7, 0.8), 0.8

#: Nothing says how well another family's template foresees the fall that is left: the 90% interval of the kriged value
#: reaches from no further fall to twice as much.
FOREIGN_STRETCH = 1 / NINETY_PERCENT


@dataclass(frozen=True)
class Estimates:
    """Values [nats] of the final loss by method (NaN where a method has none), and what to expect of them.

    `deviation` is the relative standard deviation of the kriged value, that of L(T) as it will be read off included.
    `back_tests` hold each cut's errors by method in units of the deviation expected there. `stretch_z` is the
    unexpected stretch of the part in standard deviations.
    """

    part: Part
    values: dict[str, float]
    deviation: float
    back_tests: tuple[dict[str, float], ...]
    stretch: float
    stretch_z: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the part's shape says against the template."""
        if abs(self.stretch_z) <= UNLIKELY_STRETCH:
            return ()
        text = f"the part falls {1 + self.stretch:.2f} times as steeply as expected of the template"
        return (f"{text}, {abs(self.stretch_z):.1f} standard deviations off: another recipe?",)


def estimate(part: Part, template: Template, matched: Match) -> Estimates:
    """Return the estimates of all methods for one part."""
    covariances = Covariances.of(template, part.t_hat)
    covariance_HMM = covariances.hypotheses(matched)
    window = slice(part.window, len(part.t_hat))
    kriged, deviation = krige(part, covariance_HMM, matched.stretch, window)
    values = {KRIGING: kriged} | aligned(part, window, 1.0) | {POWER_LAW: power_law(part)}
    extra, its_deviation = stretch_found(part, covariance_HMM[-1], matched.stretch)
    foreign = FOREIGN_STRETCH * float(part.template[-1] - 1) if template.foreign else 0.0
    return Estimates(
        part=part,
        values=values,
        deviation=float(np.sqrt(deviation**2 + part.final_noise**2 + foreign**2)),
        back_tests=tuple(_back_tests(part, covariance_HMM, matched.stretch)),
        stretch=extra,
        stretch_z=extra / its_deviation if its_deviation > 0 and matched.comparable else 0.0,
    )


def _back_tests(part: Part, covariance_HMM: np.ndarray, stretch: float) -> list[dict[str, float]]:
    """Pretend that only a first piece of the part were known, and predict its end."""
    found = []
    for cut in CUTS:
        stop = int(np.searchsorted(part.t_hat, cut * part.progress, side="right"))
        first = max(int(np.searchsorted(part.t_hat, cut * part.progress / 2)), _after_warmup(part))
        target = slice(int(np.searchsorted(part.t_hat, max(cut, TRUTH_FROM) * part.progress, side="right")), None)
        if stop - first < 2 or target.start >= len(part.t_hat):
            continue
        known, count = slice(first, stop), part.count[target]
        value, deviation = krige(part, covariance_HMM, stretch, known, target)
        truth = float(np.average(part.loss[target], weights=count))
        expected = float(np.hypot(deviation, part.noise / np.sqrt(count.sum())))
        predicted = {KRIGING: value} | aligned(part, known, float(part.template[target].mean()))
        found.append({method: float(np.log(x / truth)) / expected for method, x in predicted.items() if x > 0})
    return found


def _after_warmup(part: Part) -> int:
    """Return the first point after warm-up: the window begins later than half of the part only because of it."""
    half = int(np.searchsorted(part.t_hat, part.progress / 2 - 1e-9))
    return part.window if part.window > half else 0
