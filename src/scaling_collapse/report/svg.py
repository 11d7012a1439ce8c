"""Figures as SVG within a page: text stays text, the same bytes each time, names of runs where the pointer rests."""

from __future__ import annotations

import re
import warnings
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.text import Text

from scaling_collapse.figures.panels import RUN_GID

_HREF = "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d+")
_WITH_NUMBERS = ("d", "transform", "x", "y", "width", "height")

#: Digits after the point: a hundredth of a point is a tenth of a pixel on paper.
DIGITS = 2


def inline(figure: Figure, name: str, label: str) -> Markup:
    """Return a figure as an <svg> element. `name` is unique on the page, `label` says in words what is shown.

    Halos around text are left to the page's style, as matplotlib turns text with halos into outlines. Inside
    `style.style` only.
    """
    for text in figure.findobj(Text):
        text.set_path_effects([])
    buffer = BytesIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": name}
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # browsers have them
        figure.savefig(buffer, format="svg", metadata=metadata)
    root = ElementTree.fromstring(buffer.getvalue())
    _clean(root)
    box = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update({"viewBox": box, "role": "img", "aria-label": label, "style": f"--width:{box.split()[2]}"})
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _clean(element: ElementTree.Element) -> None:
    """Leave out what a page does not need: name spaces, metadata, global styles, ids that nothing refers to."""
    for child in list(element):
        if child.tag.rpartition("}")[2] in ("metadata", "style"):
            element.remove(child)
        else:
            _clean(child)
    element.tag = element.tag.rpartition("}")[2]
    if _HREF in element.attrib:
        element.set("href", element.attrib.pop(_HREF))
    if element.tag == "g":
        name = element.attrib.pop("id", "")
        if name.startswith(RUN_GID):
            title = ElementTree.Element("title")
            title.text = name.removeprefix(RUN_GID)
            element.insert(0, title)
    for attribute in _WITH_NUMBERS:
        if attribute in element.attrib:
            element.set(attribute, _NUMBER.sub(_shorter, element.attrib[attribute].strip().replace("\n", "")))
    element.tail = None
    if element.text is not None and not element.text.strip():
        element.text = None


def _shorter(number: re.Match[str]) -> str:
    short = f"{float(number[0]):.{DIGITS}f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short
