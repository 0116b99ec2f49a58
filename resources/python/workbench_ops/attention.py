"""workbench::attention and workbench::mask.

A call holds the tokens of all sequences side by side. A sequence is a maximal run with positions[t + 1] == positions[t] + 1, so the op
needs no other description of who may see whom.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .library import accumulation_dtype, register, require

MASK_KINDS = ("causal", "sliding", "chunked", "full")


def visible(positions: Tensor, kind: str, window: int) -> Tensor:
    """[T] positions -> bool [T, T]: may token i (row) see token j (column)?"""
    starts = torch.ones_like(positions, dtype=torch.bool)
    starts[1:] = positions[1:] != positions[:-1] + 1
    run = torch.cumsum(starts, 0)
    allowed = run[:, None] == run[None, :]
    distance = positions[:, None] - positions[None, :]
    if kind == "full":
        return allowed
    allowed = allowed & (distance >= 0)
    if kind == "sliding":
        allowed = allowed & (distance < window)
    if kind == "chunked":
        chunk = torch.div(positions, window, rounding_mode="floor")
        allowed = allowed & (chunk[:, None] == chunk[None, :])
    return allowed


def check_mask(operator: str, kind: str, window: int) -> None:
    require(kind in MASK_KINDS, operator, f"mask kind must be one of {', '.join(MASK_KINDS)}, got '{kind}'.")
    windowed = kind in ("sliding", "chunked")
    require(window >= 1 if windowed else window == 0, operator,
            f"window must be {'at least 1' if windowed else '0'} for mask kind '{kind}', got {window}.")


def check_attention(query: Tensor, key: Tensor, value: Tensor, positions: Tensor, sinks: Tensor | None, slopes: Tensor | None) -> None:
    op = "attention"
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        require(tensor.dim() == 4 and tensor.size(0) == 1, op, f"{name} must be [1, heads, tokens, width], got {list(tensor.shape)}.")
    require(query.dtype == key.dtype == value.dtype, op, f"query, key and value must have one dtype, got {query.dtype}, {key.dtype} and {value.dtype}.")
    require(positions.dim() == 2 and positions.dtype == torch.int64, op, f"positions must be [1, tokens] int64, got {list(positions.shape)} {positions.dtype}.")
    require(query.size(3) == key.size(3), op, f"query and key must have one width, got {query.size(3)} and {key.size(3)}.")
    require(key.size(1) == value.size(1), op, f"key and value must have equally many heads, got {key.size(1)} and {value.size(1)}.")
    require(key.size(1) > 0 and query.size(1) % key.size(1) == 0, op,
            f"the number of query heads must be a multiple of the key heads, got {query.size(1)} and {key.size(1)}.")
    for name, tensor in (("sinks", sinks), ("slopes", slopes)):
        require(tensor is None or (tensor.dim() == 1 and tensor.size(0) == query.size(1)), op, f"{name} must be [{query.size(1)}], one number per query head.")
    same_tokens = query.size(2) == key.size(2) and query.size(2) == value.size(2) and query.size(2) == positions.size(1)
    require(same_tokens, op, "query, key, value and positions must have equally many tokens.")


def _scores(query: Tensor, key: Tensor, positions: Tensor, arguments: dict[str, Any]) -> tuple[Tensor, Tensor, Tensor]:
    """Raw scaled scores, tanh of the softcap (or the scores), probabilities; all [Hq, T, T] in the accumulation dtype.

    The probabilities of a row sum to less than one when there are sinks.
    """
    scores = (query @ key.transpose(1, 2)) * arguments["scale"]
    capped = torch.tanh(scores / arguments["softcap"]) if arguments["softcap"] else scores
    logits = capped * arguments["softcap"] if arguments["softcap"] else scores
    if arguments["slopes"] is not None:
        logits = logits + arguments["slopes"].to(logits.dtype)[:, None, None] * (positions[None, :] - positions[:, None])
    logits = logits.masked_fill(~visible(positions, arguments["mask"], arguments["window"]), -torch.inf)
    if arguments["sinks"] is None:
        return scores, capped, torch.softmax(logits, -1)
    sinks = arguments["sinks"].to(logits.dtype)[:, None, None].expand(-1, logits.size(1), 1)
    return scores, capped, torch.softmax(torch.cat([logits, sinks], -1), -1)[..., :-1]


def _widened(arguments: dict[str, Any]) -> tuple[Tensor, Tensor, Tensor, int]:
    """query [Hq, T, D], key [Hq, T, D] and value [Hq, T, Dv] in the accumulation dtype, key heads repeated; the repeat count."""
    query, key, value = (arguments[name] for name in ("query", "key", "value"))
    dtype = accumulation_dtype(query.dtype)
    groups = query.size(1) // key.size(1)
    return query[0].to(dtype), key[0].to(dtype).repeat_interleave(groups, 0), value[0].to(dtype).repeat_interleave(groups, 0), groups


def attention_reference(query: Tensor, key: Tensor, value: Tensor, positions: Tensor, *, layer: int, scale: float, mask: str, window: int,
                        softcap: float, sinks: Tensor | None, slopes: Tensor | None) -> Tensor:
    check_mask("attention", mask, window)
    check_attention(query, key, value, positions, sinks, slopes)
    arguments = dict(query=query, key=key, value=value, scale=scale, mask=mask, window=window, softcap=softcap, sinks=sinks, slopes=slopes)
    wide_query, wide_key, wide_value, _ = _widened(arguments)
    _, _, probabilities = _scores(wide_query, wide_key, positions[0], arguments)
    output = query.new_empty((1, query.size(2), query.size(1), value.size(3)))
    output.copy_((probabilities @ wide_value).transpose(0, 1)[None])
    return output


def attention_fake(query: Tensor, key: Tensor, value: Tensor, positions: Tensor, *, layer: int, scale: float, mask: str, window: int,
                   softcap: float, sinks: Tensor | None, slopes: Tensor | None) -> Tensor:
    check_mask("attention", mask, window)
    check_attention(query, key, value, positions, sinks, slopes)
    return query.new_empty((1, query.size(2), query.size(1), value.size(3)))


def attention_backward(arguments: dict[str, Any], gradients: Sequence[Tensor | None], wanted: set[str]) -> dict[str, Tensor | None]:
    query, key, value, groups = _widened(arguments)
    positions = arguments["positions"][0]
    _, capped, probabilities = _scores(query, key, positions, arguments)
    output_grad = gradients[0][0].transpose(0, 1).to(query.dtype)
    probabilities_grad = output_grad @ value.transpose(1, 2)
    expected = (probabilities_grad * probabilities).sum(-1, keepdim=True)
    logits_grad = probabilities * (probabilities_grad - expected)
    found: dict[str, Tensor | None] = {}
    if "slopes" in wanted:
        found["slopes"] = (logits_grad * (positions[None, :] - positions[:, None])).sum((1, 2)).to(arguments["slopes"].dtype)
    if "sinks" in wanted:
        sink_probability = 1 - probabilities.sum(-1, keepdim=True)
        found["sinks"] = -(sink_probability * expected).sum((1, 2)).to(arguments["sinks"].dtype)
    scores_grad = logits_grad * (1 - capped * capped) if arguments["softcap"] else logits_grad
    scores_grad = scores_grad * arguments["scale"]
    found["query"] = (scores_grad @ key)[None].to(arguments["query"].dtype)
    found["key"] = _sum_groups(scores_grad.transpose(1, 2) @ query, groups).to(arguments["key"].dtype)
    found["value"] = _sum_groups(probabilities.transpose(1, 2) @ output_grad, groups).to(arguments["value"].dtype)
    return found


def _sum_groups(gradient: Tensor, groups: int) -> Tensor:
    """[Hq, T, D] -> [1, Hkv, T, D]: the gradient of repeating each key head."""
    return gradient.unflatten(0, (-1, groups)).sum(1)[None]


def mask_reference(positions: Tensor, *, kind: str, window: int) -> Tensor:
    check_mask("mask", kind, window)
    require(positions.dim() == 2 and positions.size(0) == 1, "mask", f"positions must be [1, tokens], got {list(positions.shape)}.")
    return visible(positions[0], kind, window)[None, None]


def mask_fake(positions: Tensor, *, kind: str, window: int) -> Tensor:
    check_mask("mask", kind, window)
    require(positions.dim() == 2 and positions.size(0) == 1, "mask", f"positions must be [1, tokens], got {list(positions.shape)}.")
    return positions.new_empty((1, 1, positions.size(1), positions.size(1)), dtype=torch.bool)


register(
    "attention(Tensor query, Tensor key, Tensor value, Tensor positions, *, int layer, float scale, str mask, int window, float softcap, "
    "Tensor? sinks, Tensor? slopes) -> Tensor",
    reference=attention_reference, fake=attention_fake, backward=attention_backward,
)
register("mask(Tensor positions, *, str kind, int window) -> Tensor", reference=mask_reference, fake=mask_fake)
