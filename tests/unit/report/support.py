"""Families with known truths as tables, and a strict look at HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd

from scaling_collapse.curves.table import checked
from scaling_collapse.logs.given import Given
from tests.unit.curves.support import rows, shape

STEPS = 400
T = np.arange(1, STEPS + 1) / STEPS
SIZES = {"small": 1e5, "middle": 2e5, "large": 4e5}
FINAL = {"small": 3.4, "middle": 3.2, "large": 3.0}
NOISE = 0.005
VOID = {"meta", "br", "link", "img", "input", "hr"}


def noise(run: str, seed: int = 0) -> np.ndarray:
    """Return factors that are the same each time a run of this name is made."""
    rng = np.random.default_rng([seed, *map(ord, run)])
    return np.asarray(np.exp(NOISE * rng.standard_normal(STEPS)))


def run(name: str, until: float = 1.0, fault: np.ndarray | float = 1.0, **columns: Any) -> pd.DataFrame:
    """Return the rows of a run of a collapsing family up to fraction `until`, its losses times `fault`."""
    size = columns.pop("size_params", SIZES.get(name, 1e5))
    tau = columns.pop("tau", 0.2)
    loss = columns.pop("final", FINAL.get(name, 3.3)) * shape(T, tau) * noise(name) * fault
    facts = {"size_params": size, "tau": tau, "tpp": 20.0, "weight_decay": 0.02 / tau, "status": "finished"} | columns
    made = rows(name, loss, **facts)
    return made[made["step"] <= until * STEPS]


def unknown(name: str, fault: np.ndarray | float = 1.0, tau: float = 0.2) -> pd.DataFrame:
    """Return the rows of a run of which steps and losses alone are known."""
    made = run(name, fault=fault, tau=tau, tokens_total=np.nan, tpp=np.nan, status="")
    return made.assign(tau=np.nan, weight_decay=np.nan, tokens=np.nan)


def family(**runs: pd.DataFrame) -> pd.DataFrame:
    """Return the checked table of three sizes that collapse; `runs` replace or join them by name."""
    parts = {name: run(name) for name in SIZES} | runs
    return checked(pd.concat(parts.values(), ignore_index=True), "family")


def given(frame: pd.DataFrame, **more: Any) -> Given:
    """Return a table as if it had been read."""
    return Given(frame, **more)


def drift(begin: float = 0.6, size: float = 0.05) -> np.ndarray:
    """Return the factors of a fault that begins at a fraction of training and grows to `size` at the end."""
    return np.asarray(1 + size * np.clip((T - begin) / (1 - begin), 0, None))


def step(begin: float = 0.6, size: float = 0.03) -> np.ndarray:
    """Return the factors of a fault that is there at once."""
    return np.where(begin < T, 1 + size, 1.0)


@dataclass
class Look(HTMLParser):
    """Reads a page strictly: what opens must close in order. Collects what tests ask about."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    handlers: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._see(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._see(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script") and data.strip():
            self.words.append(" ".join(data.split()))

    def _see(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "src", "xlink:href", "action", "data"):
                self.links.append(value or "")
            elif name.startswith("on"):
                self.handlers.append(name)


def look(html: str) -> Look:
    """Return what a page holds, after checking that it is well-formed and needs nothing but itself."""
    found = Look()
    found.feed(html)
    found.close()
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)  # each leads to a place on the page
    assert not found.tags & {"script", "link", "iframe", "object", "embed", "img", "form", "base"}
    assert found.handlers == []
    assert "@import" not in html
    assert html.count("url(") == html.count("url(#")
    return found
