"""Losses on held-out text in bits per byte."""

from __future__ import annotations

import math


def bits_per_byte(loss_nats: float, bytes_per_token: float) -> float:
    """Convert a loss in nats per token to bits per byte of text.

    bits/byte = (nats/token) / ln 2 / (bytes/token), with the bytes per token of the split that the loss was measured
    on. It lets losses under different tokenizers be compared.
    """
    return loss_nats / (math.log(2) * bytes_per_token)
