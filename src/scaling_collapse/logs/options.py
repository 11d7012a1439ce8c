"""What a user may say about logs; whatever is not said is guessed, and the guess is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scaling_collapse.curves.table import COMMON_COLUMNS
from scaling_collapse.errors import LogError

#: Columns of the table that hold for a whole run.
FACTS = ("size_params", "tokens_total", "batch_tokens", "lr_peak", "weight_decay", "schedule", "seed")


#: What `step` is when records are to be numbered, for want of a column of steps.
NUMBERED = "row"


@dataclass(frozen=True)
class Options:
    """How to read logs; None is "guess".

    `loss`, `validation`, `step`, `run_column` name columns (or keys, tags) of the log; `step` NUMBERED counts the
    records instead. `run` names the one run that all files are parts of. `tokens_per_step` [tokens] fills
    tokens = step * tokens_per_step. `facts` fills columns of FACTS for all runs. `all_losses` keeps every loss column,
    under its own name where it is neither of the two.
    """

    format: str | None = None
    loss: str | None = None
    validation: str | None = None
    step: str | None = None
    run: str | None = None
    run_column: str | None = None
    tokens_per_step: float | None = None
    all_losses: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def named(self) -> tuple[str, ...]:
        """Columns that the user says are losses."""
        return tuple(name for name in (self.loss, self.validation) if name is not None)


def parse_facts(words: list[str]) -> dict[str, Any]:
    """Return {column: value} of words like tokens_total=2.5e9. Raises LogError for an unknown column or no number."""
    facts: dict[str, Any] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in FACTS or not value:
            raise LogError(f"--fact {word}", "expected COLUMN=VALUE.", f"columns: {', '.join(FACTS)}")
        try:
            facts[name] = value if COMMON_COLUMNS[name].kind == "text" else float(value)
        except ValueError:
            raise LogError(f"--fact {word}", f"{value!r} is not a number.") from None
    return facts
