"""Single wild points are pulled in before anything is averaged, so that one strange batch is no alarm."""

from __future__ import annotations

from dataclasses import dataclass, field

#: A point may lie this many standard deviations of one point from the median of the last five.
CLIP = 5.0

#: Points in the median, and points before the first clip.
MEMORY, FIRST_POINTS = 5, 10

#: So many points in a row that lie too far out on one side are the new course: from then on they pass.
PASSES = 3

#: The scale of a point follows the mean distance of neighbours over about this many points.
SCALE_POINTS = 32

#: E|x - y| of two normal values is 2*sigma/sqrt(pi).
DISTANCE_TO_DEVIATION = 0.886


@dataclass
class RunningClip:
    """Winsorises a stream of values against its own last points.

    One outlier counts as CLIP deviations, a lasting jump passes at its third point. A steep fall passes, since the
    distance of neighbours then holds the fall.
    """

    last: list[float] = field(default_factory=list)
    distance: float = 0.0
    seen: int = 0
    beyond: int = 0

    def __call__(self, value: float) -> float:
        """Return `value`, pulled in where it lies too far out."""
        if self.seen < FIRST_POINTS:
            clipped = value
        else:
            reach = CLIP * DISTANCE_TO_DEVIATION * self.distance
            middle = sorted(self.last)[MEMORY // 2]
            clipped = min(max(value, middle - reach), middle + reach)
            side = int(value > clipped) - int(value < clipped)
            self.beyond = self.beyond + side if side * self.beyond >= 0 and side else side
            if abs(self.beyond) >= PASSES:
                clipped = value
        if self.last:
            self.seen += 1
            self.distance += (abs(clipped - self.last[-1]) - self.distance) / min(self.seen, SCALE_POINTS)
        self.last.append(clipped)
        if len(self.last) > MEMORY:
            del self.last[0]
        return clipped
