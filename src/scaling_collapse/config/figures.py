"""The list of figures: what each one reproduces and which curves it reads (config/figures.yaml)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from scaling_collapse.config.base import Block
from scaling_collapse.config.explain import did_you_mean, explain
from scaling_collapse.config.yaml_file import read_yaml
from scaling_collapse.errors import ConfigError
from scaling_collapse.paths import Paths

Category = Literal[
    "Collapse", "Curve shape", "Hyperparameters", "Schedules", "Prediction", "Diagnosis", "Compute efficiency"
]


class FigureEntry(Block):
    """One figure. Its name is also that of its module, its caption and its rule."""

    name: str = Field(
        pattern=r"^(fig_\d{2}_[a-z0-9_]+|headline|back_test)$",
        description="Name, e.g. fig_06_celerity_collapse, or one of ours: headline, back_test",
    )
    title: str = Field(min_length=1, description="What it shows, in a few words")
    paper: str = Field(min_length=1, description="Figure of the paper that it reproduces, e.g. Fig 6 left, middle")
    category: Category = Field(description="Heading that the report lists it under")
    groups: tuple[str, ...] = Field((), description="Run groups whose curves it reads")
    all_runs: bool = Field(False, description="It reads the curves of all runs of the scale")
    published: tuple[str, ...] = Field((), description="Tables of data/published that it reads, e.g. models.csv")
    tables: tuple[str, ...] = Field((), description="Tables of the scale that it reads, e.g. back_test")
    analytic: bool = Field(False, description="It is drawn from formulas alone, without any run")

    @model_validator(mode="after")
    def _has_a_source(self) -> Self:
        reads = bool(self.groups or self.all_runs or self.published or self.tables)
        if self.analytic and reads:
            raise ValueError("an analytic figure reads nothing; drop groups, all_runs, published, tables or analytic")
        if not (self.analytic or reads):
            raise ValueError("it reads nothing; name its groups or tables, set all_runs, or say analytic: true")
        return self

    @model_validator(mode="after")
    def _names_each_group_once(self) -> Self:
        twice = sorted({group for group in self.groups if self.groups.count(group) > 1})
        if twice:
            raise ValueError(f"group {twice[0]} is named twice")
        return self


class FigureList(Block):
    """The contents of config/figures.yaml."""

    figures: tuple[FigureEntry, ...] = Field(min_length=1, description="All figures, in the order of the paper")

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [figure.name for figure in self.figures]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two figures are named {twice[0]}")
        return self


def load_figures(root: Path = Path()) -> tuple[FigureEntry, ...]:
    """Read and check config/figures.yaml below `root`. Raises ConfigError with file, line, key and a fix."""
    path = Paths("", root).figures_file
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise ConfigError(str(path), "expected one key, figures, with a list below it", "start with figures:")
    try:
        return FigureList.model_validate_json(json.dumps(data, default=str), strict=True).figures
    except ValidationError as error:
        raise explain(error, data, FigureList, path) from error


def find_figure(name: str, root: Path = Path()) -> FigureEntry:
    """Return the figure called `name`. Raises ConfigError, with the nearest name, where there is none."""
    figures = {figure.name: figure for figure in load_figures(root)}
    if name not in figures:
        raise ConfigError(str(Paths("", root).figures_file), f"unknown figure {name!r}", did_you_mean(name, figures))
    return figures[name]
