"""A run group: the runs behind one picture, table or sweep, as axes and explicit cases."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    create_model,
    model_validator,
)

from scaling_collapse.config.base import Block
from scaling_collapse.config.recipe import Restart, ScheduleKind


def _as_tuple(value: Any) -> Any:
    """One value where a list is expected means a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


TppList = Annotated[
    tuple[PositiveFloat, ...],
    BeforeValidator(_as_tuple, json_schema_input_type=PositiveFloat | tuple[PositiveFloat, ...]),
]
SeedList = Annotated[
    tuple[NonNegativeInt, ...],
    BeforeValidator(_as_tuple, json_schema_input_type=NonNegativeInt | tuple[NonNegativeInt, ...]),
    Field(min_length=1),
]


Beta = Annotated[float, Field(ge=0, lt=1)]


class Of(Block):
    """The value that another size has by its own recipe, at the same tokens per parameter (or tokens).

    Weight decay is carried over before width scaling: eta*lambda is the other size's, so tau falls as 1/D.
    """

    of: str = Field(description="Name of the size whose value is used", examples=["132k"])


class Settings(Block):
    """What a group, a grid or a case can set. Null sets nothing: a case has its group's value, else its family's."""

    tokens: PositiveFloat | None = Field(None, description="Training tokens D [tokens], the same for all sizes")
    tau: PositiveFloat | Literal["law"] | None = Field(
        None, description="AdamW timescale (Eq. 2); sets weight decay; 'law' = the family's law"
    )
    weight_decay: NonNegativeFloat | Of | None = Field(
        None, description="lambda of the hidden matrices instead of tau: a number, or {of: SIZE}"
    )
    batch: PositiveInt | Literal["law"] | Of | None = Field(
        None, description="Batch B [sequences]: a number, 'law' or {of: SIZE}; null = the size's, else the law's"
    )
    peak_lr: PositiveFloat | None = Field(None, description="Peak base learning rate, before width scaling")
    schedule: ScheduleKind | None = Field(None, description="Kind of learning-rate schedule (Fig 10)")
    beta1: Beta | None = Field(None, description="AdamW beta1 (Fig 14)")
    beta2: Beta | None = Field(None, description="AdamW beta2 (Fig 14)")
    experts: PositiveInt | None = Field(None, description="Experts of a hash-routed mixture (Fig 13)")
    parameterisation: Literal["standard", "mup", "completep"] | None = Field(
        None, description="Kind of parameterisation (Fig 15)"
    )
    init_std: PositiveFloat | None = Field(None, description="sigma_W at the base width (Table 5)")
    input_multiplier: PositiveFloat | None = Field(None, description="alpha_input (Table 5)")
    output_multiplier: PositiveFloat | None = Field(None, description="alpha_output (Table 5)")
    data: str | None = Field(None, description="'corpus', or a name of external_data (Table 7)")

    restart: Restart | None = Field(None, description="Restart in mid-course, and the fault planted there (section 7)")

    @model_validator(mode="after")
    def _tau_or_weight_decay(self) -> Self:
        if self.tau is not None and self.weight_decay is not None:
            raise ValueError("tau and weight_decay are both set, but one follows from the other; keep one")
        return self


class Case(Settings):
    """One run but for its family's defaults."""

    size: str | None = Field(None, description="Name of the size")
    tpp: PositiveFloat | None = Field(None, description="Tokens per parameter; sets the training tokens")
    seed: NonNegativeInt | None = Field(None, description="Seed of initialisation and of the order of the data")

    @model_validator(mode="after")
    def _tpp_or_tokens(self) -> Self:
        if self.tpp is not None and self.tokens is not None:
            raise ValueError("tpp and tokens are both set, but one follows from the other; keep one")
        return self


def _grid_axes() -> dict[str, Any]:
    """Every setting of a case, as a list of values."""
    return {
        name: (tuple[field.annotation, ...], Field((), description=f"Values of {name}"))  # type: ignore[name-defined]
        for name, field in Case.model_fields.items()
    }


# Built from Case, so that an axis exists for each setting and has the same limits.
Grid = create_model(
    "Grid",
    __base__=Block,
    __doc__="Lists of values; all combinations are run, later axes vary fastest.",
    **_grid_axes(),
)


class Interval(Block):
    """Bounds of a log-uniform draw."""

    low: float = Field(gt=0, description="Smallest value", examples=[0.001])
    high: float = Field(gt=0, description="Largest value", examples=[0.1])

    @model_validator(mode="after")
    def _low_is_below_high(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"low {self.low} must be below high {self.high}; swap them")
        return self


class Search(Block):
    """Random search: log-uniform draws, the same for the same seed, kept to three digits (Table 5)."""

    count: int = Field(gt=0, description="Number of random configurations", examples=[10])
    seed: int = Field(0, ge=0, description="Seed of the draws")
    peak_lr: Interval | None = Field(None, description="Bounds of the peak base learning rate")
    init_std: Interval | None = Field(None, description="Bounds of sigma_W")
    input_multiplier: Interval | None = Field(None, description="Bounds of alpha_input")
    output_multiplier: Interval | None = Field(None, description="Bounds of alpha_output")


class Group(Settings):
    """Runs that belong together. Sizes, TPP, grid, cases, search and seeds multiply; a case overrides the rest."""

    name: str = Field(pattern=r"^[a-z0-9_]+$", description="Name of the group", examples=["celerity_20tpp"])
    description: str = Field("", description="What the runs show")
    source: str = Field("", description="Figure or table of the paper")
    ours: bool = Field(False, description="The values are our choice: the paper does not print them")
    sizes: tuple[str, ...] = Field((), description="Names of sizes", examples=[["132k"]])
    tpp: TppList = Field((), description="Tokens per parameter, one or a list", examples=[[20.0]])
    seeds: SeedList = Field((0,), description="Seeds, one run for each")
    grid: Grid = Field(default_factory=Grid, description="Axes of values; all combinations are run")
    cases: tuple[Case, ...] = Field((), description="Explicit settings, one run each")
    search: Search | None = Field(None, description="Random search")
    take: int | None = Field(None, gt=0, description="Keep only the first so many runs")
    fill_to: int | None = Field(
        None, gt=0, description="Add runs until the scale has so many of this size and TPP (Table 4)"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        axes = dict(self.grid)
        for first, second, given in (
            ("tpp", "tokens", self.tpp and self.tokens),
            ("tpp", "tokens", axes["tpp"] and axes["tokens"]),
            ("tau", "weight_decay", axes["tau"] and axes["weight_decay"]),
        ):
            if given:
                raise ValueError(f"{first} and {second} are both set, but one follows from the other; keep one")
        if self.fill_to is not None and not (len(self.sizes) == len(self.tpp) == 1):
            raise ValueError("fill_to counts runs of one size and one TPP; give exactly one of each")
        return self
