"""A decoder's shape and its parameterisation."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from scaling_collapse.config.base import Block


class Model(Block):
    """Shape of a decoder-only transformer (sections 4 and 5 of the paper)."""

    width: int = Field(gt=0, description="Model width d, the residual stream's size")
    layers: int = Field(gt=0, description="Number of blocks L")
    head_size: int = Field(gt=0, description="Size of one attention head; must divide width")
    ffn_hidden: int = Field(gt=0, description="Hidden size of the feed-forward network")
    vocabulary: int = Field(gt=1, description="Vocabulary size V [tokens]")
    sequence_length: int = Field(gt=1, description="Context S [tokens]")
    activation: Literal["swiglu", "squared_relu"] = Field("swiglu", description="Feed-forward activation")
    tied_embeddings: bool = Field(True, description="Unembedding shares the embedding's weights")
    biases: bool = Field(False, description="Linear layers and layer norms have biases")
    layer_norm_eps: float = Field(1e-5, gt=0, description="Layer norm epsilon (section 5)")
    alibi_slopes: Literal["standard", "steep"] = Field(
        "standard", description="ALiBi slopes: 2^(-8i/n) of its paper, or our steeper ones for few heads"
    )
    experts: int = Field(1, ge=1, description="Experts of a hash-routed top-1 mixture (Fig 13); 1 = dense")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        if self.width % self.head_size:
            raise ValueError(
                f"head_size {self.head_size} does not divide width {self.width}; make width a multiple of it"
            )
        return self

    @property
    def heads(self) -> int:
        """Attention heads."""
        return self.width // self.head_size


class Parameterisation(Block):
    """How initialisation, learning rates and multipliers depend on width and depth (section 3)."""

    kind: Literal["standard", "mup", "completep"] = Field("completep", description="Parameterisation")
    base_width: int = Field(256, gt=0, description="Width of the tuned proxy (Table 5)")
    base_layers: int = Field(32, gt=0, description="Depth of the tuned proxy (section 5)")
    init_std: float = Field(0.0867, gt=0, description="sigma_W at the base width (Table 5)")
    input_multiplier: float = Field(9.17, gt=0, description="alpha_input (Table 5)")
    output_multiplier: float = Field(1.095, gt=0, description="alpha_output (Table 5)")
    attention_multiplier: float = Field(
        1.0, gt=0, description="Attention scale is this over head size (muP, CompleteP); 1 in the paper"
    )
