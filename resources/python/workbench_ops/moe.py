"""workbench::moe_experts and workbench::moe_route.

y[t] = sum_i w[t, i] * D[e] (act(G[e] x[t]) * U[e] x[t]) with e = indices[t, i], gate_up[e] being G[e] over U[e]. Products, activation and gated
value are rounded to the tokens' dtype; the weighted outputs too, where the routing weights have that dtype.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .activation import ACTIVATIONS, act_and_mul_backward
from .library import accumulation_dtype, register, require

ORDERS = ("softmax_first", "top_k_first")


def check_experts(hidden: Tensor, routing_weights: Tensor, indices: Tensor, gate_up: Tensor, down: Tensor, activation: str) -> None:
    op = "moe_experts"
    require(activation in ACTIVATIONS, op, f"activation must be one of {', '.join(ACTIVATIONS)}, got '{activation}'.")
    require(hidden.is_floating_point() and hidden.dim() == 2, op, f"hidden must be a floating-point tensor [tokens, inputs], got {hidden.dtype} {list(hidden.shape)}.")
    require(indices.dim() == 2 and indices.dtype == torch.int64 and indices.size(0) == hidden.size(0), op,
            f"indices must be int64 [tokens, k], got {indices.dtype} {list(indices.shape)}.")
    require(routing_weights.shape == indices.shape, op, f"routing_weights must be {list(indices.shape)} like indices, got {list(routing_weights.shape)}.")
    wide = routing_weights.dtype == torch.float32 and hidden.dtype != torch.float64
    require(routing_weights.dtype == hidden.dtype or wide, op,
            f"routing_weights must be float32 or of the dtype {hidden.dtype} of hidden, got {routing_weights.dtype}.")
    require(gate_up.dtype == hidden.dtype and down.dtype == hidden.dtype, op,
            f"hidden, gate_up and down must have one dtype, got {hidden.dtype}, {gate_up.dtype} and {down.dtype}.")
    fits = gate_up.dim() == 3 and down.dim() == 3 and gate_up.size(2) == hidden.size(1) and gate_up.size(0) == down.size(0)
    require(fits and gate_up.size(1) == 2 * down.size(2), op,
            f"gate_up must be [experts, 2I, {hidden.size(1)}] and down [experts, outputs, I], got {list(gate_up.shape)} and {list(down.shape)}.")


def expert_indices(indices: Tensor, experts: int) -> Tensor:
    """Negative indices count from the end, as where a tensor is indexed."""
    counted = torch.where(indices < 0, indices + experts, indices)
    if bool(((counted < 0) | (counted >= experts)).any()):
        wrong = indices[(counted < 0) | (counted >= experts)][0].item()
        raise IndexError(f"workbench::moe_experts: index {wrong} is not one of the {experts} experts.")
    return counted


def moe_experts_reference(hidden: Tensor, routing_weights: Tensor, indices: Tensor, gate_up: Tensor, down: Tensor, *, activation: str) -> Tensor:
    check_experts(hidden, routing_weights, indices, gate_up, down, activation)
    tokens, k = indices.shape
    indices = expert_indices(indices, gate_up.size(0))
    outputs = hidden.new_zeros((tokens, k, down.size(1)))
    for expert in range(gate_up.size(0)):
        token, place = (indices == expert).nonzero(as_tuple=True)
        gate, up = F.linear(hidden[token], gate_up[expert]).chunk(2, -1)
        outputs[token, place] = F.linear(ACTIVATIONS[activation](gate) * up, down[expert])
    return (outputs * routing_weights.unsqueeze(-1)).sum(1).to(hidden.dtype)


def moe_experts_fake(hidden: Tensor, routing_weights: Tensor, indices: Tensor, gate_up: Tensor, down: Tensor, *, activation: str) -> Tensor:
    check_experts(hidden, routing_weights, indices, gate_up, down, activation)
    return hidden.new_empty((hidden.size(0), down.size(1)))


def moe_experts_backward(arguments: dict[str, Any], gradients: Sequence[Tensor | None], wanted: set[str]) -> dict[str, Tensor | None]:
    """Through matrices picked for every pair of token and expert, which can be traced: nothing depends on how many pairs an expert has."""
    hidden, indices, activation = arguments["hidden"], arguments["indices"], arguments["activation"]
    wide = accumulation_dtype(hidden.dtype)
    tokens, k = indices.shape
    experts = arguments["down"].size(0)
    chosen = torch.where(indices < 0, indices + experts, indices).reshape(-1)
    rows = hidden.to(wide).repeat_interleave(k, 0).unsqueeze(-1)  # [pairs, H, 1]
    first, second = arguments["gate_up"].to(wide)[chosen], arguments["down"].to(wide)[chosen]
    both = torch.bmm(first, rows).squeeze(-1)
    gate, up = both.chunk(2, -1)
    gated = (ACTIVATIONS[activation](gate) * up).unsqueeze(-1)
    outputs = torch.bmm(second, gated).view(tokens, k, second.size(1))
    outer = gradients[0].to(wide).unsqueeze(1)  # [T, 1, O]
    weights = arguments["routing_weights"]
    each = (outer * weights.to(wide).unsqueeze(-1)).reshape(tokens * k, second.size(1), 1)  # of the outputs
    below = torch.bmm(second.transpose(1, 2), each).squeeze(-1)
    halves = act_and_mul_backward({"gate_up": both, "activation": activation}, [below], {"gate_up"})["gate_up"].unsqueeze(-1)
    found: dict[str, Tensor | None] = {
        "hidden": torch.bmm(first.transpose(1, 2), halves).view(tokens, k, hidden.size(1)).sum(1).to(hidden.dtype),
        "routing_weights": (outputs * outer).sum(-1).to(weights.dtype),
    }
    for name, one in (("gate_up", torch.bmm(halves, rows.transpose(1, 2))), ("down", torch.bmm(each, gated.transpose(1, 2)))):
        if name in wanted:
            weight = arguments[name]
            found[name] = torch.zeros_like(weight, dtype=wide).index_add(0, chosen, one).to(weight.dtype)
    return found


def check_route(logits: Tensor, top_k: int, order: str, dtype: torch.dtype) -> None:
    op = "moe_route"
    require(order in ORDERS, op, f"order must be one of {', '.join(ORDERS)}, got '{order}'.")
    require(logits.is_floating_point(), op, f"logits must be a floating-point tensor, got {logits.dtype}.")
    require(logits.dim() == 2 and 1 <= top_k <= logits.size(1), op,
            f"logits must be [tokens, experts] with at least top_k = {top_k} >= 1 experts, got {list(logits.shape)}.")
    require(dtype.is_floating_point and dtype.itemsize >= 2, op, f"dtype must be a floating-point type, got {dtype}.")


def moe_route_reference(logits: Tensor, *, top_k: int, order: str, renormalize: bool, sorted: bool, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    check_route(logits, top_k, order, dtype)
    wide = logits.to(accumulation_dtype(logits.dtype))
    weights, indices = torch.topk(wide.softmax(-1) if order == "softmax_first" else wide, top_k, -1, sorted=sorted)
    if order == "top_k_first":
        weights = weights.softmax(-1)
    if renormalize:
        weights = weights / weights.sum(-1, keepdim=True)
    return weights.to(dtype), indices


def moe_route_fake(logits: Tensor, *, top_k: int, order: str, renormalize: bool, sorted: bool, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    check_route(logits, top_k, order, dtype)
    shape = (logits.size(0), top_k)
    return logits.new_empty(shape, dtype=dtype), logits.new_empty(shape, dtype=torch.int64)


def moe_route_backward(arguments: dict[str, Any], gradients: Sequence[Tensor | None], wanted: set[str]) -> dict[str, Tensor | None]:
    logits, order = arguments["logits"], arguments["order"]
    if gradients[0] is None:
        return {}
    wide = logits.to(accumulation_dtype(logits.dtype))
    outer = gradients[0].to(wide.dtype)
    scores = wide.softmax(-1) if order == "softmax_first" else wide
    values, indices = torch.topk(scores, arguments["top_k"], -1, sorted=arguments["sorted"])
    weights = values if order == "softmax_first" else values.softmax(-1)
    if arguments["renormalize"]:
        total = weights.sum(-1, keepdim=True)
        outer = (outer - (outer * weights / total).sum(-1, keepdim=True)) / total
    if order == "top_k_first":
        outer = weights * (outer - (outer * weights).sum(-1, keepdim=True))
    spread = torch.zeros_like(scores).scatter(-1, indices, outer)
    if order == "softmax_first":
        spread = scores * (spread - (spread * scores).sum(-1, keepdim=True))
    return {"logits": spread.to(logits.dtype)}


register("moe_experts(Tensor hidden, Tensor routing_weights, Tensor indices, Tensor gate_up, Tensor down, *, str activation) -> Tensor",
         reference=moe_experts_reference, fake=moe_experts_fake, backward=moe_experts_backward)
register("moe_route(Tensor logits, *, int top_k, str order, bool renormalize, bool sorted, ScalarType dtype) -> (Tensor weights, Tensor indices)",
         reference=moe_route_reference, fake=moe_route_fake, backward=moe_route_backward)
