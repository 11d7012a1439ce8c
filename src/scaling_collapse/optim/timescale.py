"""The AdamW timescale tau = B/(eta*lambda*D) (Eq. 2), and what follows from it for each of its four ingredients.

tau is the memory of AdamW's weights as a fraction of training: weights are an exponential moving average of
updates over 1/(eta*lambda) steps, and a run has T = D/B steps. eta is the peak learning rate of the hidden
matrices (after width scaling), B and D are counted in tokens, tau has no unit.
"""

from __future__ import annotations

import math

from scaling_collapse.errors import ConfigError


def timescale(batch_tokens: float, lr: float, weight_decay: float, tokens: float) -> float:
    """Return tau of a run of `tokens` D in batches of `batch_tokens` B at peak hidden `lr` eta and decay lambda.

    Raises ConfigError for values that are not finite and positive, or a batch larger than the run. Without
    weight decay there is no timescale: that is an error too, never infinity.
    """
    _check(batch_tokens=batch_tokens, lr=lr, weight_decay=weight_decay, tokens=tokens)
    return batch_tokens / (lr * weight_decay * tokens)


def weight_decay_for(tau: float, batch_tokens: float, lr: float, tokens: float) -> float:
    """Return the weight decay lambda that gives `tau` (section 5: the ingredient that Celerity adjusts)."""
    _check(tau=tau, batch_tokens=batch_tokens, lr=lr, tokens=tokens)
    return batch_tokens / (lr * tau * tokens)


def lr_for(tau: float, batch_tokens: float, weight_decay: float, tokens: float) -> float:
    """Return the peak learning rate eta of the hidden matrices that gives `tau`."""
    _check(tau=tau, batch_tokens=batch_tokens, weight_decay=weight_decay, tokens=tokens)
    return batch_tokens / (weight_decay * tau * tokens)


def batch_tokens_for(tau: float, lr: float, weight_decay: float, tokens: float) -> float:
    """Return the batch B [tokens] that gives `tau`; not rounded. Raises ConfigError where B would exceed D."""
    _check(tau=tau, lr=lr, weight_decay=weight_decay, tokens=tokens)
    batch_tokens = tau * lr * weight_decay * tokens
    _check(batch_tokens=batch_tokens, tokens=tokens)
    return batch_tokens


def _check(**values: float) -> None:
    """Raise ConfigError for the first value that cannot be."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            fix = "set weight_decay above 0, or leave tau out" if name == "weight_decay" else f"give a positive {name}"
            raise ConfigError(
                "timescale", f"{name} is {value}, but tau = B/(eta*lambda*D) needs a positive finite one.", fix
            )
    batch_tokens, tokens = values.get("batch_tokens"), values.get("tokens")
    if batch_tokens is not None and tokens is not None and batch_tokens > tokens:
        raise ConfigError(
            "timescale", f"a batch of {batch_tokens:g} tokens is larger than the run's {tokens:g}.", "shrink the batch"
        )
