"""A scale: the same study at one budget. Lists throughout: merging dicts would mix one scale's runs into another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from scaling_collapse.config.base import Block
from scaling_collapse.config.corpus import Corpus
from scaling_collapse.config.family import Family, Size
from scaling_collapse.config.group import Group


class ExternalData(Block):
    """Data that runs name but that is not the scale's own corpus: such runs are planned, not trained here."""

    name: str = Field(pattern=r"^[a-z0-9_]+$", description="Name", examples=["slimpajama"])
    description: str = Field("", description="What it is")
    vocabulary: int = Field(gt=1, description="Vocabulary of its tokeniser [tokens]", examples=[50257])


class Validation(Block):
    """Loss on held-out text during training (Fig 21)."""

    points: int = Field(20, ge=1, description="Evenly spaced points of each run; 20 = every 5% (Fig 21)")
    sequences: int = Field(256, gt=0, description="Held-out sequences at each point")


class Analysis(Block):
    """How loss curves become normalised curves and collapse measures (section 1)."""

    smoothing_sequences: int | None = Field(
        None, gt=0, description="Smoothing window [sequences]; 12288 in the paper's fits; null = smoothing_steps"
    )
    smoothing_steps: int | None = Field(
        None, gt=0, description="Smoothing window [steps]; 100 in the paper's plots; null = a fraction of training"
    )
    offset: Literal["zero", "irreducible"] = Field(
        "zero", description="Subtracted from the loss before dividing: 0 (paper) or L0 (Qiu et al.)"
    )
    t_hat_min: float = Field(0.2, ge=0, lt=1, description="Start of the compared part; 0.2 in the paper's fits")
    t_hat_max: float = Field(1.0, gt=0, le=1, description="End of the compared part")
    grid_points: int = Field(200, ge=2, description="Points of the common grid over the compared part")

    @model_validator(mode="after")
    def _range_is_not_empty(self) -> Self:
        if self.t_hat_min >= self.t_hat_max:
            raise ValueError(f"t_hat_min {self.t_hat_min} must be below t_hat_max {self.t_hat_max}")
        return self


class Figures(Block):
    """What all pictures share."""

    dpi: int = Field(200, gt=0, description="Resolution of bitmap output [dots per inch]")
    width_inches: float = Field(6.75, gt=0, description="Width of a full figure [inches]")


class Scale(Block):
    """Everything that decides the numbers of a study. Execution (cores, folders, devices) is not part of it."""

    name: str = Field(pattern=r"^[a-z0-9_]+$", description="Name, equal to the file's", examples=["default"])
    description: str = Field("", description="What it is for")
    claims: bool = Field(True, description="Its pictures claim something; false is said on the picture")
    corpus: Corpus = Field(default_factory=Corpus, description="Text, split and tokeniser")
    corpus_tokens: int | None = Field(
        None, gt=0, description="Training tokens of the corpus, if known before it is built [tokens]"
    )
    external_data: tuple[ExternalData, ...] = Field((), description="Other data that runs name (Table 7)")
    families: tuple[Family, ...] = Field(min_length=1, description="Families of sizes with their recipes")
    validation: Validation = Field(default_factory=Validation, description="Held-out loss during training")
    analysis: Analysis = Field(default_factory=Analysis, description="Normalisation and collapse measures")
    figures: Figures = Field(default_factory=Figures, description="What all pictures share")
    groups: tuple[Group, ...] = Field(min_length=1, description="Run groups; a run may belong to several")

    _file: Path | None = PrivateAttr(None)

    @property
    def file(self) -> Path | None:
        """The file it was read from, for error messages."""
        return self._file

    def sizes(self) -> Iterator[tuple[Family, Size]]:
        """Every size with its family, in the file's order."""
        return ((family, size) for family in self.families for size in family.sizes)

    def size_names(self) -> list[str]:
        """Names of all sizes."""
        return [size.name for _, size in self.sizes()]

    def find_size(self, name: str) -> tuple[Family, Size]:
        """The size called `name`. Raises KeyError."""
        for family, size in self.sizes():
            if size.name == name:
                return family, size
        raise KeyError(name)

    def find_group(self, name: str) -> Group:
        """The group called `name`. Raises KeyError."""
        for group in self.groups:
            if group.name == name:
                return group
        raise KeyError(name)
