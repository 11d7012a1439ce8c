"""Lengths of the windows that the tests look through."""

from __future__ import annotations

import numpy as np

#: Bins, about a factor of sqrt(2) apart: no drift falls between two lengths by more than 10% of its strength.
LENGTHS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])

#: A window that accuses must hold this many points: a single one out of heavy tails is no fault.
FEWEST_POINTS = 3

#: Bins that must be there before anything is judged.
FIRST_BINS = 4
