"""A small valid scale, and the writing of changed copies of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from scaling_collapse.config.load import load_scale
from scaling_collapse.config.scale import Scale


def small() -> dict[str, Any]:
    """A scale of two sizes and three groups, as read from YAML."""
    return {
        "name": "small",
        "corpus": {"source": {"kind": "context_tree", "tokens": 2_000_000}, "vocabulary": 64},
        "families": [
            {
                "name": "tiny",
                "architecture": {"vocabulary": 64, "sequence_length": 32, "head_size": 8, "ffn_multiplier": 4},
                "parameterisation": {"base_width": 16, "base_layers": 1},
                "optimizer": {"peak_lr": 0.01},
                "tau_law": {"coefficient": 0.9, "exponent": -0.5, "table": [{"tpp": 20, "tau": 0.2}]},
                "sizes": [
                    {"name": "4k", "width": 16, "layers": 1, "batch": 8},
                    {"name": "16k", "width": 32, "layers": 1, "batch": 16},
                ],
            }
        ],
        "groups": [
            {"name": "family", "sizes": ["4k", "16k"], "tpp": 20},
            {"name": "sweep", "sizes": ["4k"], "tpp": 20, "grid": {"tau": [0.1, 0.2, 0.4]}},
            {"name": "seeds", "sizes": ["4k"], "tpp": 20, "seeds": [0, 1]},
        ],
    }


def write(folder: Path, scale: dict[str, Any]) -> Path:
    """Write a scale as config/scale/<name>.yaml below `folder`."""
    path = folder / "config" / "scale" / "small.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(scale, sort_keys=False), encoding="utf-8")
    return path


def loaded(folder: Path, **changes: Any) -> Scale:
    """The small scale with other top-level keys, written and read."""
    return load_scale(write(folder, small() | changes))
