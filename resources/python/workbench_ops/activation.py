"""workbench::act_and_mul: act(x[..., :D]) * x[..., D:], the activation rounded to the input's dtype before the product, as eager does."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .library import accumulation_dtype, register, require

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": lambda gate: F.gelu(gate, approximate="tanh"),
    "relu": F.relu,
    "sigmoid": torch.sigmoid,
}


def check_act(gate_up: Tensor, activation: str) -> None:
    op = "act_and_mul"
    require(activation in ACTIVATIONS, op, f"activation must be one of {', '.join(ACTIVATIONS)}, got '{activation}'.")
    require(gate_up.is_floating_point(), op, f"gate_up must be a floating-point tensor, got {gate_up.dtype}.")
    require(gate_up.dim() >= 1 and gate_up.size(-1) % 2 == 0, op, f"the last dimension of gate_up must be even, got {list(gate_up.shape)}.")


def act_and_mul_reference(gate_up: Tensor, *, activation: str) -> Tensor:
    check_act(gate_up, activation)
    gate, up = gate_up.chunk(2, -1)
    return ACTIVATIONS[activation](gate) * up


def act_and_mul_fake(gate_up: Tensor, *, activation: str) -> Tensor:
    check_act(gate_up, activation)
    return gate_up.new_empty((*gate_up.shape[:-1], gate_up.size(-1) // 2))


def derivative(gate: Tensor, activation: str) -> Tensor:
    """d act(gate) / d gate, written out so that it can be traced."""
    if activation == "relu":
        return (gate > 0).to(gate.dtype)
    if activation == "sigmoid":
        value = torch.sigmoid(gate)
        return value * (1 - value)
    if activation == "silu":
        value = torch.sigmoid(gate)
        return value * (1 + gate * (1 - value))
    if activation == "gelu":
        density = torch.exp(-0.5 * gate * gate) / math.sqrt(2 * math.pi)
        return 0.5 * (1 + torch.erf(gate / math.sqrt(2))) + gate * density
    # The tanh form is that of torch.nn.GELU: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
    root = math.sqrt(2 / math.pi)
    inner = torch.tanh(root * (gate + 0.044715 * gate**3))
    return 0.5 * (1 + inner) + 0.5 * gate * (1 - inner * inner) * root * (1 + 3 * 0.044715 * gate * gate)


def act_and_mul_backward(arguments: dict[str, Any], gradients: Sequence[Tensor | None], wanted: set[str]) -> dict[str, Tensor | None]:
    gate_up, activation = arguments["gate_up"], arguments["activation"]
    gate, up = gate_up.to(accumulation_dtype(gate_up.dtype)).chunk(2, -1)
    outer = gradients[0].to(gate.dtype)
    both = torch.cat([outer * up * derivative(gate, activation), outer * ACTIVATIONS[activation](gate)], -1)
    return {"gate_up": both.to(gate_up.dtype)}


register("act_and_mul(Tensor gate_up, *, str activation) -> Tensor",
         reference=act_and_mul_reference, fake=act_and_mul_fake, backward=act_and_mul_backward)
