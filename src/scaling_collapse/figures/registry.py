"""The figures by name: each is a module of this package with one function `draw`."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from scaling_collapse.errors import FigureError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from scaling_collapse.figures.context import FigureContext

    Draw = Callable[[dict[str, pd.DataFrame], FigureContext], tuple[Figure, pd.DataFrame]]

#: What a module that draws a figure is called; others are shared.
NAME = re.compile(r"fig_\d{2}_[a-z0-9_]+|headline|back_test")


def figure_modules() -> list[str]:
    """Return the names of the modules that draw a figure, sorted."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if NAME.fullmatch(path.stem))


def find_draw(name: str) -> Draw:
    """Return the function that draws a figure. Raises FigureError where it has no module."""
    if name not in figure_modules():
        folder = "src/scaling_collapse/figures"
        raise FigureError(
            f"figure {name}", "config/figures.yaml lists it, but it has no module.", f"add it to {folder}"
        )
    draw: Draw = import_module(f"scaling_collapse.figures.{name}").draw
    return draw
