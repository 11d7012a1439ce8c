"""The parameterisation: printed values, coordinate check over width and depth, learning-rate transfer."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import torch

from scaling_collapse.config.model import Model, Parameterisation
from scaling_collapse.config.recipe import Optimizer
from scaling_collapse.model.decoder import Decoder
from scaling_collapse.model.parameterisation import base_weight_decay, hidden_lr, scaling
from scaling_collapse.optim.groups import build_optimizer
from tests.unit.model.support import batch, small

WIDTHS, DEPTHS = (16, 32, 64, 128), (2, 4, 8, 16)


def shape(width: int = 32, layers: int = 2) -> Model:
    return small(width=width, layers=layers, head_size=16, ffn_hidden=4 * width, sequence_length=16)


def parameterisation(kind: str) -> Parameterisation:
    return Parameterisation.model_validate(
        {"kind": kind, "base_width": 16, "base_layers": 2, "init_std": 0.1, "input_multiplier": 5.0}
    )


def trained(model: Model, kind: str, peak_lr: float, steps: int) -> tuple[list[float], float]:
    """Losses, and how far the final states moved from those at initialisation (root mean square)."""
    tokens, targets = batch(model, 8)
    decoder = Decoder(model, parameterisation(kind))
    decoder.initialise(0)
    optimizer = build_optimizer(
        decoder, model, parameterisation(kind), Optimizer(peak_lr=peak_lr, weight_decay=0.0, eps=1e-12)
    )
    before, losses = blocks_output(decoder, tokens), []
    for _ in range(steps):
        loss = decoder(tokens, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses, (blocks_output(decoder, tokens) - before).square().mean().sqrt().item()


def blocks_output(decoder: Decoder, tokens: torch.Tensor) -> torch.Tensor:
    """What the blocks add to the embeddings, before the final norm hides its size."""
    with torch.no_grad():
        x = start = torch.nn.functional.embedding(tokens.reshape(-1), decoder.embedding) * decoder.scaling.input
        for attention, feed_forward in zip(decoder.attention, decoder.feed_forward, strict=True):
            x = feed_forward(attention(x, decoder.attention_bias(*tokens.shape)), tokens.reshape(-1))
        return x - start


def slope(sizes: tuple[int, ...], values: list[float]) -> float:
    """Exponent of values against sizes, end to end."""
    return math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0])


def test_the_papers_learning_rate() -> None:
    """Eta of the 610M proxy, 1.62e-2 * 256 / 2048, gives its tau of 0.105 (section 3)."""
    model = small(width=2048, head_size=64)
    eta = hidden_lr(1.62e-2, model, Parameterisation(kind="mup"))
    assert eta == pytest.approx(1.62e-2 * 256 / 2048)
    assert 504 * 2048 / (eta * 0.1 * 80 * 606.2e6) == pytest.approx(0.105, rel=0.01)


def test_completep_factors() -> None:
    """The CompleteP table with alpha = 1 (section 3) at four times the base width and twice the base depth."""
    model = small(width=64, head_size=16, layers=4)
    got = scaling(model, Parameterisation(base_width=16, base_layers=2, output_multiplier=2.0))
    assert (got.residual, got.output, got.hidden_lr, got.eps) == (1 / 2, 2.0 / 4, 1 / 4, 1 / 8)
    assert got.attention == 1 / 16
    assert got.hidden_std == pytest.approx(0.0867 / 2)
    assert base_weight_decay(0.4, model, Parameterisation(base_width=16)) == pytest.approx(0.1)


def test_mup_ignores_depth_and_standard_ignores_both() -> None:
    deep = small(width=64, head_size=16, layers=64)
    assert scaling(deep, Parameterisation(kind="mup", base_width=16)).residual == 1.0
    plain = scaling(deep, Parameterisation(kind="standard", base_width=16))
    assert (plain.residual, plain.hidden_lr, plain.eps, plain.attention) == (1.0, 1.0, 1.0, 0.25)


@pytest.mark.parametrize("kind", ["mup", "completep"])
def test_coordinates_do_not_grow_with_width(kind: str) -> None:
    moves = [trained(shape(width=w), kind, 0.01, 4)[1] for w in WIDTHS]
    standard = [trained(shape(width=w), "standard", 0.01, 4)[1] for w in WIDTHS]
    assert abs(slope(WIDTHS, moves)) < 0.25, moves
    assert slope(WIDTHS, standard) > 0.5, standard


def test_coordinates_do_not_grow_with_depth() -> None:
    moves = [trained(shape(layers=n), "completep", 0.01, 4)[1] for n in DEPTHS]
    mup = [trained(shape(layers=n), "mup", 0.01, 4)[1] for n in DEPTHS]
    assert abs(slope(DEPTHS, moves)) < 0.25, moves
    assert slope(DEPTHS, mup) > 0.5, mup


def test_learning_rate_transfers_over_width() -> None:
    rates = [0.0025 * 2**i for i in range(7)]

    def best(width: int, kind: str) -> int:
        finals = [sum(trained(shape(width=width), kind, rate, 30)[0][-5:]) for rate in rates]
        return min(range(len(rates)), key=lambda i: finals[i] if math.isfinite(finals[i]) else math.inf)

    assert abs(best(16, "completep") - best(128, "completep")) <= 1
    assert best(16, "standard") - best(128, "standard") >= 2


def test_the_documented_lines_are_the_lines_of_the_code() -> None:
    root = Path(__file__).parents[3]
    code = (root / "src/scaling_collapse/model/parameterisation.py").read_text().splitlines()
    rows = re.findall(r"\| `([^`]+)` \| (\d+) \|", (root / "docs/parameterisation.md").read_text())
    fenced = [line.strip() for line in code if " = " in line and ("if depth_aware" in line or "if width_aware" in line)]
    assert [text for text, _ in rows] == fenced
    assert [code[int(number) - 1].strip() for _, number in rows] == fenced
