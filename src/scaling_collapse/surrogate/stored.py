"""A fit as a file: what `collapse fit` writes, and what predictions with a surrogate of one's own read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scaling_collapse.errors import CurveError
from scaling_collapse.surrogate.fit import range_notes
from scaling_collapse.surrogate.form import CONSTANTS, Form, Surrogate
from scaling_collapse.surrogate.published import TAU_RANGE, TPP_RANGE, published_of
from scaling_collapse.surrogate.study import SurrogateStudy
from scaling_collapse.whole_file import appearing

#: Numbers are written with so many significant digits: more are noise of the machine.
DIGITS = 6


@dataclass(frozen=True)
class StoredSurrogate:
    """Constants to predict with, and what they were fitted on: tau, TPP, and how well [percent of L(T)].

    `foreign` says that those runs are of another family than the runs that are to be predicted, `split` which losses
    they were (empty where that does not matter).
    """

    surrogate: Surrogate
    mae_percent: float
    tau_range: tuple[float, float]
    tpp_range: tuple[float, float]
    foreign: bool = False
    split: str = ""

    def range_notes(self, tau: float, tpp: float) -> Iterator[str]:
        """Yield a note for each of tau and TPP that lies outside what was fitted."""
        return range_notes(tau, tpp, self.tau_range, self.tpp_range)


def published_surrogate(form: Form, split: str) -> StoredSurrogate:
    """Return the published constants of a form for losses of `split`: those of another family for all other runs."""
    known = published_of(form, split)
    return StoredSurrogate(known.surrogate, known.mae_percent, TAU_RANGE, TPP_RANGE, foreign=True)


def study_as_json(study: SurrogateStudy) -> dict[str, Any]:
    """Return what `collapse fit` writes and prints as JSON. Numbers that are not known are None."""
    fit, found = study.fit, study.identifiability
    constants = {
        constant.name: {
            "value": _rounded(constant.value),
            "interval": None if constant.interval is None else [_rounded(end) for end in constant.interval],
            "verdict": constant.verdict,
            "reason": constant.reason,
        }
        for constant in study.constants
    }
    return {
        "form": study.form,
        "split": study.split,
        "sizes": list(study.sizes),
        "choice": study.choice,
        "objective": fit.objective.kind,
        "objective_percent": _rounded(fit.objective_percent),
        "constants": constants,
        "mae_percent": _rounded(fit.mae_percent),
        "run_mae_percent": {run: _rounded(mae) for run, mae in zip(fit.runs, fit.run_mae_percent, strict=True)},
        "tau_range": [_rounded(end) for end in fit.tau_range],
        "tpp_range": [_rounded(end) for end in fit.tpp_range],
        "log_correlation_of_tau_and_tpp": _rounded(found.log_correlation),
        "confounded": bool(found.confounded),
        "held_out": [
            {name: _rounded(value) if isinstance(value, float) else value for name, value in asdict(error).items()}
            for error in study.held_out
        ],
        "left_out": dict(study.left_out),
        "warnings": list(study.warnings),
    }


def write_surrogate(study: SurrogateStudy, path: Path) -> None:
    """Write a study as JSON: beside its place first, then moved there whole. Raises CurveError where it cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with appearing(path) as partial:
            partial.write_text(json.dumps(study_as_json(study), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise CurveError(str(path), f"it could not be written: {error.strerror}.", "choose another place") from error


def read_surrogate(path: Path) -> StoredSurrogate:
    """Return the surrogate of a file that `collapse fit` wrote. Raises CurveError for any other file."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        values = {name: float(record["constants"][name]["value"]) for name in CONSTANTS}
        tau, tpp = (tuple(map(float, record[name])) for name in ("tau_range", "tpp_range"))
        mae, split = float(record["mae_percent"]), str(record["split"])
    except FileNotFoundError:
        raise CurveError(str(path), "there is no such file.", "collapse fit writes it") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CurveError(
            str(path), f"it is not what `collapse fit` writes ({type(error).__name__}: {error}).", "fit it again"
        ) from error
    if not np.isfinite([*values.values(), mae, *tau, *tpp]).all() or len(tau) != 2 or len(tpp) != 2:
        raise CurveError(str(path), "a constant or a range is not a finite number.", "fit it again")
    return StoredSurrogate(Surrogate(**values), mae, (tau[0], tau[1]), (tpp[0], tpp[1]), split=split)


def _rounded(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
