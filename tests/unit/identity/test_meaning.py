from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling_collapse.identity.meaning import meaning

SOURCE = '''
"""A module."""
from math import pi

RATE = 0.1


class Law:
    """A law."""

    exponent: float = 0.5

    def area(self, radius: float, *, scale: float = 1.0) -> float:
        """Return an area."""
        if radius < 0:
            raise ValueError(f"negative: {radius!r}")
        return scale * pi * radius**2  # of a circle
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # of a circle", ""),
        ('"""A module."""', '"""Another module."""'),
        ('"""Return an area."""', '"""Say something else."""'),
        ("RATE = 0.1", "RATE   =   (0.1)"),
        ("def area(self, radius: float, *, scale", "def area(\n        self, radius: float,\n        *, scale"),
        ("RATE = 0.1", '__version__ = "2.0"\n__all__ = ["RATE"]\nRATE = 0.1'),
    ],
)
def test_comments_docstrings_layout_and_version_mean_nothing(old: str, new: str) -> None:
    assert old in SOURCE
    assert meaning(SOURCE.replace(old, new)) == meaning(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.1", "0.2"),
        ("0.1", "1"),
        ("radius < 0", "radius <= 0"),
        ("radius**2", "radius**3"),
        ("scale: float = 1.0", "scale: float = 2.0"),
        ("*, scale", "scale"),
        ("from math import pi", "from numpy import pi"),
        ("{radius!r}", "{radius}"),
        ("exponent: float = 0.5", "exponent: float = 0.25"),
    ],
)
def test_whatever_can_change_a_number_means_something(old: str, new: str) -> None:
    assert old in SOURCE
    assert meaning(SOURCE.replace(old, new)) != meaning(SOURCE)


def test_a_string_that_is_no_docstring_counts() -> None:
    assert meaning("def f():\n    x = 'a'\n    return x") != meaning("def f():\n    x = 'b'\n    return x")


def test_a_number_of_another_type_is_another_number() -> None:
    assert len({meaning("x = 1"), meaning("x = 1.0"), meaning("x = True"), meaning("x = '1'")}) == 4


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=6))
def test_equal_trees_and_no_others_are_equal(assignments: list[tuple[str, int]]) -> None:
    source = "\n".join(f"{name} = {value}" for name, value in assignments)
    other = "\n".join(f"{name} = {value}" for name, value in sorted(assignments))
    assert (meaning(source) == meaning(other)) == (ast.dump(ast.parse(source)) == ast.dump(ast.parse(other)))
