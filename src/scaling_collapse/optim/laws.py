"""Power laws of recipes: the best timescale from tokens per parameter, the best and critical batch from tokens."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass

from scaling_collapse.errors import ConfigError

#: Sequences in the batch laws are this long (Power Lines, 2505.13738).
BATCH_LAW_SEQUENCE_TOKENS = 2048


@dataclass(frozen=True)
class PowerLaw:
    """y = coefficient * x^exponent. `source` says where the numbers come from."""

    coefficient: float
    exponent: float
    x: str
    y: str
    source: str

    def __call__(self, x: float) -> float:
        """Return the law's value at `x`. Raises ConfigError unless x is positive and finite."""
        if not (math.isfinite(x) and x > 0):
            raise ConfigError("power law", f"{self.x} is {x}, but must be positive and finite.")
        return float(self.coefficient * x**self.exponent)

    def inverse(self, y: float) -> float:
        """Return the x whose value is `y`. Raises ConfigError unless y is positive and finite."""
        if not (math.isfinite(y) and y > 0):
            raise ConfigError("power law", f"{self.y} is {y}, but must be positive and finite.")
        return float((y / self.coefficient) ** (1 / self.exponent))


#: R^2 = 0.975 there; gives 0.224, 0.108, 0.061 at 20, 80, 234 tokens per parameter.
TAU_POWER_LINES = PowerLaw(1.084, -0.527, "tokens per parameter", "tau", "Power Lines, 2505.13738")

#: tau = 0.175*sqrt(20/TPP): our arithmetic from the three printed values below, which it meets within 0.6%.
TAU_CELERITY = PowerLaw(0.7826, -0.5, "tokens per parameter", "tau", "fitted to the printed values of section 5")

#: tau of Celerity by tokens per parameter, as printed in section 5.
CELERITY_TAU_PRINTED = {20.0: 0.175, 80.0: 0.087, 234.0: 0.051}

TAU_LAWS = {"power_lines": TAU_POWER_LINES, "celerity": TAU_CELERITY}

#: The batch of lowest loss, in sequences of 2048 tokens. The coefficient is recalled, not checked against the source.
BATCH_OPTIMAL = PowerLaw(0.0306, 0.383, "tokens", "batch in sequences of 2048", "Power Lines, 2505.13738")

#: The critical batch, above which doubling it saves few steps. The coefficient is recalled, not checked.
BATCH_CRITICAL = PowerLaw(0.0471, 0.462, "tokens", "batch in sequences of 2048", "Power Lines, 2505.13738")


def tau_law(name: str) -> PowerLaw:
    """Return the tau law called `name`. Raises ConfigError for an unknown name."""
    if name not in TAU_LAWS:
        near = difflib.get_close_matches(name, TAU_LAWS, n=1)
        fix = f"did you mean {near[0]}?" if near else f"use one of {', '.join(TAU_LAWS)}"
        raise ConfigError("tau law", f"there is no law {name!r}.", fix)
    return TAU_LAWS[name]


def optimal_batch_tokens(tokens: float) -> float:
    """Return the batch of lowest loss [tokens] of a run of `tokens`; not rounded."""
    return BATCH_LAW_SEQUENCE_TOKENS * BATCH_OPTIMAL(tokens)


def critical_batch_tokens(tokens: float) -> float:
    """Return the critical batch [tokens] of a run of `tokens`; not rounded."""
    return BATCH_LAW_SEQUENCE_TOKENS * BATCH_CRITICAL(tokens)
