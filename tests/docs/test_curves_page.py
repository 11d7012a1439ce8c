"""docs/curves.md names every column of the tidy table, with its meaning."""

from __future__ import annotations

import re
from pathlib import Path

from scaling_collapse.curves.table import COLUMNS

PAGE = Path(__file__).parents[2] / "docs" / "curves.md"


def test_the_page_lists_the_columns_of_the_schema() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    expected = [(n, c.kind, c.meaning + (" **(needed)**" if c.required else "")) for n, c in COLUMNS.items()]
    assert rows == expected
