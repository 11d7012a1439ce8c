"""A family of models: sizes that share one recipe and differ in width and depth only."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from scaling_collapse.config.base import Block
from scaling_collapse.config.model import Model, Parameterisation
from scaling_collapse.config.recipe import AdamW, Schedule

MAIN_CORPUS = "corpus"  # the name by which families and groups mean the scale's own corpus


class TauAt(Block):
    """A rounded timescale, such as the paper prints, which takes precedence over the law."""

    tpp: float = Field(gt=0, description="Tokens per parameter", examples=[20.0])
    tau: float = Field(gt=0, description="AdamW timescale tau at that TPP", examples=[0.175])


class TauLaw(Block):
    """tau = coefficient * TPP^exponent, the timescale of a run that does not set its own (section 3)."""

    coefficient: float = Field(gt=0, description="tau at one token per parameter", examples=[0.8945])
    exponent: float = Field(description="Exponent of TPP", examples=[-0.5])
    table: tuple[TauAt, ...] = Field((), description="Rounded values that replace the law's at their TPP (section 5)")


class BatchLaw(Block):
    """B = coefficient * D^exponent, the batch of a size that does not set its own (Power Lines, 2505.13738)."""

    coefficient: float = Field(0.0306, gt=0, description="B at one token [sequences of 2048 tokens]")
    exponent: float = Field(0.383, description="Exponent of the training tokens D")


class Architecture(Block):
    """What the sizes of a family share (sections 4 and 5)."""

    vocabulary: int = Field(gt=1, description="Vocabulary size V [tokens]", examples=[1024])
    sequence_length: int = Field(gt=1, description="Context S [tokens]", examples=[128])
    head_size: int = Field(gt=0, description="Size of one attention head; must divide width", examples=[16])
    ffn_multiplier: float | None = Field(
        None, gt=0, description="Hidden size of the feed-forward network over width; null = each size sets ffn_hidden"
    )
    activation: Literal["swiglu", "squared_relu"] = Field("swiglu", description="Feed-forward activation")
    tied_embeddings: bool = Field(True, description="Unembedding shares the embedding's weights")
    biases: bool = Field(False, description="Linear layers and layer norms have biases")
    layer_norm_eps: float = Field(1e-5, gt=0, description="Layer norm epsilon (section 5)")
    alibi_slopes: Literal["standard", "steep"] = Field(
        "standard", description="ALiBi slopes: 2^(-8i/n) of its paper, or our steeper ones for few heads"
    )


class Size(Block):
    """One size of a family; what is null here comes from the family."""

    name: str = Field(pattern=r"^[0-9A-Za-z.]+$", description="Name, its parameters by custom", examples=["132k"])
    width: int = Field(gt=0, description="Model width d, the residual stream's size", examples=[48])
    layers: int = Field(gt=0, description="Number of blocks L", examples=[3])
    head_size: int | None = Field(None, gt=0, description="Size of one attention head; null = the family's")
    ffn_hidden: int | None = Field(
        None, gt=0, description="Hidden size of the feed-forward network; null = ffn_multiplier * width", examples=[192]
    )
    batch: int | None = Field(None, gt=0, description="Batch B [sequences]; null = the family's batch law")


class Family(Block):
    """Architecture, parameterisation and recipe of sizes that are meant to collapse onto one curve."""

    name: str = Field(pattern=r"^[a-z0-9_]+$", description="Name of the family", examples=["ours"])
    description: str = Field("", description="What it is, and where it comes from")
    data: str = Field(MAIN_CORPUS, description="Data it trains on: 'corpus', or a name of external_data")
    architecture: Architecture = Field(description="What the sizes share")
    parameterisation: Parameterisation = Field(
        default_factory=Parameterisation, description="Scaling of initialisation, learning rates and multipliers"
    )
    optimizer: AdamW = Field(description="Optimiser of every run that does not set its own")
    schedule: Schedule = Field(default_factory=Schedule, description="Learning-rate schedule")
    tau_law: TauLaw = Field(description="AdamW timescale by tokens per parameter; sets weight decay")
    batch_law: BatchLaw = Field(default_factory=BatchLaw, description="Batch by training tokens")
    sizes: tuple[Size, ...] = Field(min_length=1, description="The sizes, smallest first")

    def model(self, size: Size, experts: int = 1) -> Model:
        """Shape of a size. Raises pydantic's ValidationError where the numbers are no model."""
        shared = self.architecture
        hidden = size.ffn_hidden or round((shared.ffn_multiplier or 0) * size.width)
        settings = shared.model_dump(exclude={"head_size", "ffn_multiplier"})
        return Model(
            width=size.width,
            layers=size.layers,
            head_size=size.head_size or shared.head_size,
            ffn_hidden=hidden,
            experts=experts,
            **settings,
        )
