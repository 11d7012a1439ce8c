"""Nested objects as flat ones."""

from __future__ import annotations

from typing import Any

#: Deeper objects are left out: no known logger nests losses deeper.
MAX_DEPTH = 4


def flattened(record: dict[str, Any], depth: int = MAX_DEPTH) -> dict[str, Any]:
    """Return {"train": {"loss": 1}} as {"train/loss": 1}."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if not isinstance(value, dict):
            flat[key] = value
        elif depth > 1:
            flat.update({f"{key}/{name}": inner for name, inner in flattened(value, depth - 1).items()})
    return flat
