"""Table 12 on any curves: each form fitted on one set of runs and tested on another, and the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scaling_collapse.surrogate.data import CurveSet
from scaling_collapse.surrogate.evaluate import mae_percent
from scaling_collapse.surrogate.fit import fit_surrogate
from scaling_collapse.surrogate.form import DECAY_ALONE, FREE_DECAY, TABLE_12, Form
from scaling_collapse.surrogate.per_curve import fit_per_curve

if TYPE_CHECKING:
    import pandas as pd

#: The row of Table 12 whose b and q are those of each tested curve itself.
ORACLE = "oracle per curve"

#: The forms of Table 12, and two of ours: no schedule term at all, and m and e2 fitted too.
FORMS = {"no schedule term": DECAY_ALONE, **TABLE_12, "PL(tau), PL(TPP); m, e2 free": FREE_DECAY}


def ablation_table(fitted: CurveSet, tested: CurveSet, forms: Mapping[str, Form] = FORMS) -> pd.DataFrame:
    """Return one row a form: constants, MAE on the `fitted` runs and on the `tested` ones (mean, worst run) [percent].

    The last row is the oracle, whose constants are fitted on each tested curve itself.
    """
    import pandas as pd

    rows = []
    for name, form in forms.items():
        fit = fit_surrogate(fitted, form)
        rows.append((name, len(form.fitted), fit.run_mae_percent, mae_percent(fit.surrogate, tested)))
    rows.append((ORACLE, 2, fit_per_curve(fitted).run_mae_percent, fit_per_curve(tested).run_mae_percent))
    return pd.DataFrame(
        {
            "form": [name for name, *_ in rows],
            "constants": [count for _, count, *_ in rows],
            "fitted_runs": len(fitted.runs),
            "fitted_mae_percent": [inside.mean() for *_, inside, _ in rows],
            "tested_runs": len(tested.runs),
            "tested_mae_percent": [outside.mean() for *_, outside in rows],
            "tested_worst_percent": [outside.max() for *_, outside in rows],
        }
    )
