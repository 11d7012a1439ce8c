"""What both residual branches share, forward and backward: affine maps, layer norm, the sum with the input."""

from __future__ import annotations

import torch
from torch import Tensor


def affine(x_NI: Tensor, weight_OI: Tensor, bias_O: Tensor | None) -> Tensor:
    """x W^T + b, (N, I) -> (N, O)."""
    return torch.mm(x_NI, weight_OI.t()) if bias_O is None else torch.addmm(bias_O, x_NI, weight_OI.t())


def affine_backward(
    g_NO: Tensor, x_NI: Tensor, weight_OI: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Gradients of `affine`: input, weight, bias."""
    return torch.mm(g_NO, weight_OI), torch.mm(g_NO.t(), x_NI), g_NO.sum(0) if has_bias else None


def add_projected(x_ND: Tensor, h_NI: Tensor, weight_DI: Tensor, bias_D: Tensor | None, multiplier: float) -> Tensor:
    """x + multiplier * (h W^T + b), the end of a branch."""
    residual_ND = x_ND if bias_D is None else torch.add(x_ND, bias_D, alpha=multiplier)
    return torch.addmm(residual_ND, h_NI, weight_DI.t(), alpha=multiplier)


def add_projected_backward(
    g_ND: Tensor, h_NI: Tensor, weight_DI: Tensor, has_bias: bool, multiplier: float
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Gradients of `add_projected`: h, weight, bias. That of x is g itself."""
    g_weight_DI = torch.mm(g_ND.t(), h_NI).mul_(multiplier)
    g_bias_D = g_ND.sum(0).mul_(multiplier) if has_bias else None
    return torch.mm(g_ND, weight_DI * multiplier), g_weight_DI, g_bias_D


def layer_norm_backward(
    g_ND: Tensor, x_ND: Tensor, mean: Tensor, rstd: Tensor, weight_D: Tensor, bias_D: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Gradients of a layer norm over the last dimension: input, weight, bias."""
    wanted = [True, True, bias_D is not None]
    return torch.ops.aten.native_layer_norm_backward(  # type: ignore[no-any-return]
        g_ND, x_ND, [x_ND.shape[1]], mean, rstd, weight_D, bias_D, wanted
    )
