"""The validation set, the same for every run of a scale, and losses in bits per byte."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from scaling_collapse.errors import CorpusError


def held_out_sequences(
    tokens: npt.NDArray[np.unsignedinteger], sequence_length: int, count: int
) -> npt.NDArray[np.int64]:
    """Fixed validation sequences, evenly spaced over the held-out tokens: (count, S + 1) integers.

    They do not overlap, except that a window's last target may be the next one's first input. Raises CorpusError if the
    held-out tokens do not hold that many.
    """
    possible = max(len(tokens) - 1, 0) // sequence_length
    if not 0 < count <= possible:
        raise CorpusError(
            "held-out split",
            f"{count} sequences of {sequence_length} tokens were asked for, {len(tokens)} tokens hold {possible}",
            "lower validation_sequences or raise corpus.held_out_fraction",
        )
    room = len(tokens) - 1 - count * sequence_length
    numbers = np.arange(count)
    starts = numbers * sequence_length + numbers * room // max(count - 1, 1)
    sequences: npt.NDArray[np.int64] = np.asarray(tokens)[starts[:, None] + np.arange(sequence_length + 1)].astype(
        np.int64
    )
    return sequences


def bits_per_byte(loss_nats: float, bytes_per_token: float) -> float:
    """Convert a loss in nats per token to bits per byte of text.

    bits/byte = (nats/token) / ln 2 / (bytes/token), with the bytes per token of the split that the loss was measured
    on. It lets losses under different tokenizers be compared.
    """
    return loss_nats / (math.log(2) * bytes_per_token)
