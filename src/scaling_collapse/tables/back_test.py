"""back_test.csv: finished runs predicted as if only a part of each were known, by every method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from scaling_collapse.config.scale import Analysis
from scaling_collapse.curves.analysis import normalisation_of
from scaling_collapse.curves.build import TRAIN, VALIDATION
from scaling_collapse.curves.curve import Curve, curves_of
from scaling_collapse.predict.back_test import back_test, smallest
from scaling_collapse.predict.predict import Settings
from scaling_collapse.predict.sweep_templates import sweep_templates
from scaling_collapse.predict.table import warmup_ends
from scaling_collapse.predict.template import Template
from scaling_collapse.tables.groups import FAMILIES, SWEEPS, TEMPLATES

if TYPE_CHECKING:
    import pandas as pd

#: Fractions of training at which the runs are cut. Warm-up ends at 10%: up to there predictions are refused.
CUTS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)

FAMILY, SWEEP = "family", "sweep"


def back_test_table(
    curves: Mapping[str, pd.DataFrame],
    analysis: Analysis,
    sequence_length: int | None = None,
    cuts: Sequence[float] = CUTS,
) -> pd.DataFrame:
    """Return one row a group, split, run, progress and method (columns of `predict.back_test`, and `kind`, `split`).

    `curves` are checked tables by run group. In families, larger runs are predicted from the smallest one, and the
    choice among methods may look at smaller siblings; in sweeps, templates are those of Fig 9 and 23, and there are
    no siblings.
    """
    import pandas as pd

    every = pd.concat(list(curves.values()), ignore_index=True).drop_duplicates(["run", "split", "step"])
    pool = pd.concat([curves[group] for group in (*SWEEPS, *TEMPLATES)], ignore_index=True)
    warmup, parts = warmup_ends(every), []
    for split in (TRAIN, VALIDATION):
        normalisation = normalisation_of(analysis.model_copy(update={"offset": "zero"}), split, sequence_length)
        settings = Settings(normalisation=normalisation, warmup=warmup)
        families = {group: list(curves_of(curves[group], split)) for group in FAMILIES}
        rows = back_test(families, cuts, smallest, "smaller", settings=settings)
        parts.append(rows.assign(kind=FAMILY, split=split))
        for group in SWEEPS:
            templates = sweep_templates(curves[group], pool, split, normalisation=normalisation)
            sweep = {group: list(curves_of(curves[group], split))}
            rows = back_test(sweep, cuts, partial(_own, templates.by_run), settings=settings)
            parts.append(rows.assign(kind=SWEEP, split=split))
    table = pd.concat(parts, ignore_index=True)
    return table[["kind", "split", *(name for name in table.columns if name not in ("kind", "split"))]]


def _own(templates: Mapping[str, Template], _curves: Sequence[Curve], run: Curve) -> Template | None:
    return templates.get(run.run)
