"""Fits of power laws y = E + A*x^b, with or without the offset E, with errors, intervals and honest warnings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scaling_collapse.errors import ConfigError

#: Exponents that the fit with offset tries before it zooms in; losses of language models have 0.03 to 0.5.
EXPONENTS = -np.geomspace(3.0, 0.003, 400)

#: An exponent whose sum of squares is at most this many times the best counts as fitting about as well.
NEARLY_AS_GOOD = 1.2


@dataclass(frozen=True)
class PowerLawFit:
    """y = offset + coefficient * x^exponent, with standard errors (NaN where nothing tests the fit).

    `coefficient_error` and `rmse` are relative. `warnings` says in words what speaks against trusting the fit.
    """

    coefficient: float
    exponent: float
    offset: float
    coefficient_error: float
    exponent_error: float
    offset_error: float
    rmse: float
    points: int
    warnings: tuple[str, ...] = ()

    def __call__(self, x: ArrayLike) -> np.ndarray:
        """Return y at `x`."""
        return np.asarray(self.offset + self.coefficient * np.asarray(x, dtype=float) ** self.exponent)


def fit_power_law(x: ArrayLike, y: ArrayLike) -> PowerLawFit:
    """Fit y = A*x^b by least squares of log y on log x.

    Raises ConfigError for fewer than two different x, or values that are not positive and finite.
    """
    xs, ys = _checked(x, y, least=2)
    design = np.column_stack([np.ones_like(xs), np.log(xs)])
    (intercept, exponent), *_ = np.linalg.lstsq(design, np.log(ys), rcond=None)
    residual = np.log(ys) - design @ np.array([intercept, exponent])
    errors = _standard_errors(design, residual)
    rmse = float(np.sqrt(np.mean(residual**2)))
    notes = tuple(_notes(xs, parameters=2))
    return PowerLawFit(float(np.exp(intercept)), float(exponent), 0.0, errors[0], errors[1], 0.0, rmse, len(xs), notes)


def fit_power_law_with_offset(x: ArrayLike, y: ArrayLike) -> PowerLawFit:
    """Fit y = E + A*x^b with E >= 0 (for losses: irreducible) and b < 0, by least squares of relative residuals.

    For a given b the best E and A are linear least squares, so only b is searched: over a grid that covers every
    plausible value, then by zooming in. There is no start to depend on. Raises ConfigError for fewer than three
    different x, values that are not positive and finite, or all the same.
    """
    xs, ys = _checked(x, y, least=3)
    if np.ptp(ys) == 0:
        raise ConfigError("power law", f"all {len(ys)} values are {ys[0]:g}, so nothing falls.", "give other values")
    centre = float(np.exp(np.log(xs).mean()))  # decouples A from b
    exponents = EXPONENTS
    for _ in range(6):
        best = int(_profile(xs / centre, ys, exponents)[2].argmin())
        low, high = exponents[max(best - 1, 0)], exponents[min(best + 1, len(exponents) - 1)]
        exponents = np.linspace(low, high, 41)
    offset, amplitude, cost = (float(part[20]) for part in _profile(xs / centre, ys, exponents))
    exponent = float(exponents[20])
    power = (xs / centre) ** exponent
    residual = (ys - offset - amplitude * power) / ys
    jacobian = np.column_stack([np.ones_like(xs), power, amplitude * power * np.log(xs / centre)]) / ys[:, None]
    errors = _standard_errors(jacobian, residual)
    notes = tuple(_offset_notes(xs, ys, centre, cost, offset, errors[0]))
    relative = float(np.hypot(errors[1] / amplitude, errors[2] * np.log(centre)))
    coefficient = amplitude * centre**-exponent
    rmse = float(np.sqrt(np.mean(residual**2)))
    return PowerLawFit(coefficient, exponent, offset, relative, errors[2], errors[0], rmse, len(xs), notes)


def bootstrap_interval(
    x: ArrayLike, y: ArrayLike, with_offset: bool = False, level: float = 0.95, draws: int = 1000, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """Return percentile intervals of coefficient, exponent and offset from `draws` resamples of the residuals.

    Log residuals, scaled up for the parameters spent, are drawn with replacement onto the fitted curve, so few
    points still work where drawing pairs would lose x. Deterministic in `seed`.
    """
    if not 0 < level < 1 or draws < 2:
        raise ConfigError("bootstrap", f"level {level}, {draws} draws; need 0 < level < 1 and at least 2 draws.")
    fit_function, parameters = (fit_power_law_with_offset, 3) if with_offset else (fit_power_law, 2)
    fitted = np.log(fit_function(x, y)(x))
    residual = np.log(np.asarray(y, dtype=float)) - fitted
    free = len(residual) - parameters
    if free <= 0:
        raise ConfigError("bootstrap", f"{len(residual)} points leave no residual to draw from.", "add points")
    residual = (residual - residual.mean()) * np.sqrt(len(residual) / free)
    rng = np.random.default_rng(seed)
    fits = [fit_function(x, np.exp(fitted + rng.choice(residual, len(residual)))) for _ in range(draws)]
    tails = (50 * (1 - level), 50 * (1 + level))

    def interval(name: str) -> tuple[float, float]:
        low, high = np.percentile([getattr(fit, name) for fit in fits], tails)
        return float(low), float(high)

    return {name: interval(name) for name in ("coefficient", "exponent", "offset")}


def _checked(x: ArrayLike, y: ArrayLike, least: int) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y as float vectors, or raise ConfigError."""
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if xs.ndim != 1 or xs.shape != ys.shape:
        raise ConfigError("power-law fit", f"shapes {xs.shape} and {ys.shape}; need two vectors of one length.")
    for name, values in (("x", xs), ("y", ys)):
        if not (np.isfinite(values).all() and (values > 0).all()):
            raise ConfigError("power-law fit", f"{name} has values that are not positive and finite.")
    if len(np.unique(xs)) < least:
        raise ConfigError("power-law fit", f"{len(np.unique(xs))} different x; this fit needs at least {least}.")
    return xs, ys


def _profile(x: np.ndarray, y: np.ndarray, exponents: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the best offset >= 0, the best amplitude and the sum of squared relative residuals of each exponent."""
    basis = x ** exponents[:, None] / y  # (exponents, points), divided by y as the residuals are
    ones = 1 / y
    basis_basis, basis_one, one_one = (basis**2).sum(1), basis @ ones, ones @ ones
    determinant = basis_basis * one_one - basis_one**2
    offset = np.clip((basis_basis * ones.sum() - basis_one * basis.sum(1)) / determinant, 0, None)
    amplitude = (basis.sum(1) - offset * basis_one) / basis_basis
    residual = 1 - offset[:, None] * ones - amplitude[:, None] * basis
    return offset, amplitude, (residual**2).sum(1)


def _standard_errors(jacobian: np.ndarray, residual: np.ndarray) -> list[float]:
    """Return the standard error of each parameter; NaN where no degree of freedom is left."""
    free = len(residual) - jacobian.shape[1]
    if free <= 0:
        return [float("nan")] * jacobian.shape[1]
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * (residual @ residual) / free
    return [float(error) for error in np.sqrt(np.diag(covariance))]


def _notes(x: np.ndarray, parameters: int) -> Iterator[str]:
    """Warn of too few points, and of an x that hardly varies."""
    if len(x) <= parameters:
        yield f"{len(x)} points fix the {parameters} parameters exactly, so nothing tests them"
    if x.max() < 3 * x.min():
        yield f"x spans only a factor of {x.max() / x.min():.2g}"


def _offset_notes(
    x: np.ndarray, y: np.ndarray, centre: float, cost: float, offset: float, offset_error: float
) -> Iterator[str]:
    """Warn also of exponents that fit about as well (offset and exponent trade), and of an offset that may be 0."""
    yield from _notes(x, parameters=3)
    floor = 1e-12 * len(x)  # exact data: rounding must not look like a difference
    as_good = EXPONENTS[_profile(x / centre, y, EXPONENTS)[2] <= NEARLY_AS_GOOD * cost + floor]
    if len(as_good) and as_good.min() < 1.5 * as_good.max():
        yield f"ill-conditioned: exponents from {as_good.min():.2g} to {as_good.max():.2g} fit about as well"
    if offset == 0 or offset < 2 * offset_error:
        yield f"the offset {offset:.3g} (standard error {offset_error:.2g}) is not distinguishable from 0"
