"""Smoothing of loss curves: moving averages, and the local-linear smoother that is the default.

`position` is any increasing measure of training (t_hat, steps, sequences or tokens), and windows are measured in it,
so the same code smooths over 100 steps or over 12,288 sequences (sections 2 and 3). Everything is O(n log n), works
on points at uneven distances, and smooths many curves of one position at once: losses have shape (..., n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from scaling_collapse.errors import CurveError

#: Widest window of the automatic smoothing, as a fraction of training, and the points up to which it is used.
#: With more points the window shrinks as 1/sqrt(points): bias and noise then both fall (docs/lab-notebook.md).
AUTOMATIC_WINDOW = 0.1
AUTOMATIC_POINTS = 2500

#: The one-sided window at the end over the centred one: a one-sided line has 4 times the variance of a centred mean.
END_OVER_CENTRED = 2.0


@dataclass(frozen=True)
class Smoothing:
    """How to smooth: `kind`, and the `window` in the given `unit` (sequences: use tokens, i.e. times their length).

    `window` None is automatic, which needs the unit "fraction": 0.1 of training up to 2,500 points, beyond that
    0.1*sqrt(2500/points). `end_window` None is twice the window.
    """

    kind: Literal["local_linear", "centred", "trailing", "none"] = "local_linear"
    unit: Literal["fraction", "steps", "tokens"] = "fraction"
    window: float | None = None
    end_window: float | None = None

    def widths(self, points: int) -> tuple[float, float]:
        """Return window and end window for a curve of `points` points. Raises CurveError if they cannot be used."""
        if self.window is None and self.unit != "fraction":
            raise CurveError("smoothing", f"the automatic window is a fraction of training, not {self.unit}.")
        automatic = AUTOMATIC_WINDOW * min(1.0, (AUTOMATIC_POINTS / points) ** 0.5)
        window = automatic if self.window is None else self.window
        return window, END_OVER_CENTRED * window if self.end_window is None else self.end_window

    def __call__(self, loss: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Return smoothed `loss` (..., n) at `position` (n,), which must be in this smoothing's unit."""
        window, end_window = self.widths(len(position))
        if self.kind == "none":
            return loss
        if self.kind == "local_linear":
            return local_linear(loss, position, window, end_window)
        return moving_average(loss, position, window, align=self.kind)


AUTOMATIC = Smoothing()
RAW = Smoothing(kind="none")


def moving_average(
    loss: np.ndarray, position: np.ndarray, window: float, align: Literal["centred", "trailing"] = "centred"
) -> np.ndarray:
    """Return the mean of `loss` (..., n) over a `window` around (centred) or before (trailing) each `position` (n,).

    Centred takes points closer than half a window; towards either end the window shrinks on both sides alike, so
    that a straight line stays what it is, at the price of no smoothing at the end points. Trailing takes points
    less than a window back and lags half a window behind. Raises CurveError for a window or position out of order.
    """
    _check(loss, position, window)
    tiny = 1e-9 * (position[-1] - position[0])
    if align == "trailing":
        first = np.searchsorted(position, position - window + tiny, side="left")
        stop = np.arange(1, len(position) + 1)
    else:
        to_edge = np.minimum(position - position[0], position[-1] - position)
        shrunk = to_edge < window / 2
        reach = np.where(shrunk, to_edge + tiny, window / 2 - tiny)
        first, stop = _range(position, reach, reach)
    centre = loss.mean(axis=-1, keepdims=True)
    return np.asarray(centre + _window_sums(loss - centre, first, stop) / (stop - first))


def local_linear(loss: np.ndarray, position: np.ndarray, window: float, end_window: float) -> np.ndarray:
    """Return the value at each `position` (n,) of the straight line fitted to `loss` (..., n) around it.

    Inside, this is the centred moving average over `window`. At the start the window shrinks on both sides alike,
    for the loss falls too steeply there for lines. Towards the end it loses its right half and grows to the left,
    up to `end_window` at the last point: a moving average there would lag, a line does not. The last value is the
    estimate of the final loss L(T); its noise is 2*sigma/sqrt(points in the end window).
    """
    _check(loss, position, window)
    if end_window < window / 2:
        raise CurveError("smoothing", f"end window {end_window:g} is below half the window {window:g}.", "widen it")
    tiny = 1e-9 * (position[-1] - position[0])
    half, to_start, to_end = window / 2, position - position[0], position[-1] - position
    right = np.minimum(np.minimum(half, to_end), to_start) + tiny
    growth = np.clip(half - to_end, 0, None) * (end_window - half) / half
    left = np.minimum(np.minimum(half, to_start) + growth, to_start) + tiny
    first, stop = _range(position, left, right)
    points = stop - first
    x, y_mean = position - position.mean(), loss.mean(axis=-1, keepdims=True)
    y = loss - y_mean  # centred first: prefix sums then keep their digits
    mean_x, mean_y = _window_sums(x, first, stop) / points, _window_sums(y, first, stop) / points
    variance = _window_sums(x * x, first, stop) / points - mean_x**2
    covariance = _window_sums(x * y, first, stop) / points - mean_x * mean_y
    fits_line = (points > 2) & (variance > 0)
    slope = np.where(fits_line, covariance / np.where(fits_line, variance, 1), 0)
    single = np.where(points > 2, mean_y, y)  # two points or one: the raw value
    return np.asarray(y_mean + single + slope * (x - mean_x))


def _range(position: np.ndarray, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first index and the one after the last of the points from `left` before to `right` after each."""
    first = np.searchsorted(position, position - left, side="left")
    return first, np.searchsorted(position, position + right, side="right")


def _window_sums(values: np.ndarray, first: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Return sums of `values` (..., n) over [first, stop) for each pair."""
    sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)
    return np.asarray(sums[..., stop] - sums[..., first])


def _check(loss: np.ndarray, position: np.ndarray, window: float) -> None:
    """Raise CurveError unless loss and position fit together, position increases and the window is positive."""
    if position.ndim != 1 or loss.shape[-1:] != position.shape or len(position) < 2:
        raise CurveError("smoothing", f"losses {loss.shape} at positions {position.shape}; need two or more of each.")
    if not (np.diff(position) > 0).all():
        raise CurveError("smoothing", "positions do not increase from point to point.", "sort the curve by step")
    if not (np.isfinite(window) and window > 0):
        raise CurveError("smoothing", f"window {window}; must be positive and finite.")
