"""Small shapes, and the way to carry the project's weights into the plain decoder."""

from __future__ import annotations

import torch

from benchmarks.reference_decoder import ReferenceDecoder
from scaling_collapse.config.model import Model, Parameterisation
from scaling_collapse.model.decoder import Decoder

PARAMETERISATION = Parameterisation(base_width=16, base_layers=2)


def small(**changes: object) -> Model:
    shape: dict[str, object] = {
        "width": 24,
        "layers": 2,
        "head_size": 8,
        "ffn_hidden": 40,
        "vocabulary": 50,
        "sequence_length": 12,
        "activation": "squared_relu",
    }
    return Model.model_validate(shape | changes)


def decoder(model: Model, parameterisation: Parameterisation = PARAMETERISATION, seed: int = 0) -> Decoder:
    made = Decoder(model, parameterisation)
    made.initialise(seed)
    return made


def reference_of(ours: Decoder, parameterisation: Parameterisation = PARAMETERISATION) -> ReferenceDecoder:
    """A plain decoder with the same weights; `names` pairs them for comparing gradients."""
    reference = ReferenceDecoder(ours.model, parameterisation)
    with torch.no_grad():
        for name, parameter in ours.named_parameters():
            reference.get_parameter(plain_name(name)).copy_(parameter)
    return reference


def plain_name(name: str) -> str:
    """Name in the plain decoder of one of ours: feed_forward.1.norm_bias -> blocks.1.norm2.bias."""
    parts = name.split(".")
    kind = "bias" if parts[-1].endswith("_bias") else "weight"
    leaf = parts[-1].removesuffix("_bias")
    if len(parts) == 1:
        return f"{leaf}.{kind}"
    if leaf == "norm":
        leaf = "norm1" if parts[0] == "attention" else "norm2"
    return f"blocks.{parts[1]}.{leaf}.{kind}"


def batch(model: Model, sequences: int = 3, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, model.vocabulary, (sequences, model.sequence_length + 1), generator=generator)
    return tokens[:, :-1], tokens[:, 1:]
