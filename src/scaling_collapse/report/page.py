"""A page as one HTML file: everything inside, nothing fetched, no script."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from scaling_collapse.report.parts import Page


def to_html(page: Page) -> str:
    """Return the page as HTML: the same text for the same page."""
    return _environment().get_template("page.html").render(page=page)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("scaling_collapse.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
