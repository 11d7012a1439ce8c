"""Names beside points: each goes where it covers no point, no other name and stays inside the panel, if it can."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.textpath import TextPath

from scaling_collapse.figures import style

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, bottom, right, top [points]

_POINT, _GAP, _ROOM = 3.0, 2.0, 3.0  # points: radius of a dot, then white between it and a name, and between names


def add(
    figure: Figure,
    axes: Axes,
    points: Sequence[Point],
    names: Sequence[str],
    colours: Sequence[style.Colour],
    lines: Sequence[Point],
) -> None:
    """Write `names` in `colours` beside `points`, away from the `lines` sampled as points (all in data units).

    Scales and limits must be set before. Of eight places around each point the one that covers least is taken.
    """
    figure.draw_without_rendering()  # the layout must be known
    points_per_pixel = 72 / figure.dpi

    def on_paper(pair: Point) -> Point:
        x, y = axes.transData.transform(pair)
        return float(x) * points_per_pixel, float(y) * points_per_pixel

    left, bottom, right, top = (float(value) * points_per_pixel for value in axes.get_window_extent().extents)
    spots = [on_paper(point) for point in points]
    taken = [_around(spot, _POINT) for spot in spots] + [_around(on_paper(point), 1.2) for point in lines]
    for point, (x, y), name, colour in zip(points, spots, names, colours, strict=True):
        costs = {
            place: sum(_overlap(place, other) for other in taken) + _outside(place, (left, bottom, right, top))
            for place in _places(x, y, name)
        }
        box = min(costs, key=costs.__getitem__)
        taken.append((box[0] - _ROOM, box[1], box[2] + _ROOM, box[3]))
        axes.annotate(
            name,
            point,
            (box[0] - x, box[1] - y + 1.6),
            textcoords="offset points",
            fontsize=style.TINY,
            color=colour,
            path_effects=[withStroke(linewidth=2, foreground="white")],
        ).set_in_layout(False)


def _around(point: Point, reach: float) -> Box:
    return point[0] - reach, point[1] - reach, point[0] + reach, point[1] + reach


def _places(px: float, py: float, name: str) -> list[Box]:
    """Return the boxes [points] around a point in which the name could stand, best first."""
    width = float(TextPath((0, 0), name, size=style.TINY).get_extents().x1)
    height = style.TINY + 0.5
    beside = _POINT + _GAP
    right, left, centre = px + beside, px - beside - width, px - width / 2
    middle, above, below = py - height / 2, py + _POINT, py - _POINT - height
    spots = [(left, middle), (right, middle), (centre, above), (centre, below)]
    spots += list(product((left + beside, right - beside), (above, below)))
    return [(x, y, x + width, y + height) for x, y in spots]


def _overlap(a: Box, b: Box) -> float:
    """Return the common area [square points]."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _outside(box: Box, panel: Box) -> float:
    """Return the area [square points] that lies outside the panel, with ten times its weight."""
    return 10 * ((box[2] - box[0]) * (box[3] - box[1]) - _overlap(box, panel))
