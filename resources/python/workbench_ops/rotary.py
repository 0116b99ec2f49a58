"""workbench::rope and workbench::qk_norm_rope.

out = x * cos + rot(x) * sin in x's dtype, every step rounded, as apply_rotary_pos_emb of transformers does (Su et al. 2021, arXiv:2104.09864).
  half: rot(x) = cat(-x[R/2:R], x[:R/2])
  interleaved: rot(x)[2i] = -x[2i + 1], rot(x)[2i + 1] = x[2i]
Dimensions from R on, R being the width of cos, pass through.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .library import register, require
from .norms import check_norm, norm_gradients, rms_norm_reference

STYLES = ("half", "interleaved")


def rotate(x: Tensor, style: str) -> Tensor:
    if style == "half":
        low, high = x.chunk(2, -1)
        return torch.cat([-high, low], -1)
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)


def unrotate(x: Tensor, style: str) -> Tensor:
    """The transpose of rotate(), which is its inverse: a quarter turn the other way."""
    return -rotate(x, style)


def check_rope(operator: str, query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, style: str, token_dim: int) -> None:
    require(style in STYLES, operator, f"style must be one of {', '.join(STYLES)}, got '{style}'.")
    layout = "[batch, heads, tokens, width]" if token_dim == 2 else "[batch, tokens, heads, width]"
    for name, tensor in (("query", query), ("key", key)):
        require(tensor.dim() == 4 and tensor.is_floating_point(), operator, f"{name} must be {layout} of floating point, got {list(tensor.shape)} {tensor.dtype}.")
    require(query.dtype == key.dtype == cos.dtype == sin.dtype, operator,
            f"query, key, cos and sin must have one dtype, got {query.dtype}, {key.dtype}, {cos.dtype} and {sin.dtype}.")
    require(query.size(3) == key.size(3), operator, f"query and key must have one width, got {query.size(3)} and {key.size(3)}.")
    require(cos.dim() == 3 and cos.shape == sin.shape, operator, f"cos and sin must both be [batch, tokens, width], got {list(cos.shape)} and {list(sin.shape)}.")
    require(cos.size(2) % 2 == 0 and cos.size(2) <= query.size(3), operator,
            f"the width of cos must be even and at most the head width {query.size(3)}, got {cos.size(2)}.")
    require(query.size(0) == key.size(0) and query.size(token_dim) == key.size(token_dim), operator, "query and key must have one batch and one token count.")
    require(cos.size(1) == query.size(token_dim) and (cos.size(0) == 1 or cos.size(0) == query.size(0)), operator,
            f"cos must be [1 or batch, tokens, width] for query {list(query.shape)}, got {list(cos.shape)}.")


def apply(x: Tensor, cos: Tensor, sin: Tensor, style: str) -> Tensor:
    """x [B, H, T, D], cos and sin [B, T, R]."""
    width = cos.size(-1)
    turned, rest = x[..., :width], x[..., width:]
    turned = turned * cos.unsqueeze(1) + rotate(turned, style) * sin.unsqueeze(1)
    return (turned if rest.size(-1) == 0 else torch.cat([turned, rest], -1)).contiguous()


def apply_backward(gradient: Tensor, cos: Tensor, sin: Tensor, style: str) -> Tensor:
    width = cos.size(-1)
    turned, rest = gradient[..., :width], gradient[..., width:]
    turned = turned * cos.unsqueeze(1) + unrotate(turned * sin.unsqueeze(1), style)
    return turned if rest.size(-1) == 0 else torch.cat([turned, rest], -1)


def table_gradients(x: Tensor, gradient: Tensor, cos: Tensor, style: str) -> tuple[Tensor, Tensor]:
    """Gradients of cos and sin from one of query and key."""
    width = cos.size(-1)
    turned, outer = x[..., :width], gradient[..., :width]
    shape = cos.shape
    return (outer * turned).sum(1).sum_to_size(shape), (outer * rotate(turned, style)).sum(1).sum_to_size(shape)


def rope_reference(query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, *, style: str) -> tuple[Tensor, Tensor]:
    check_rope("rope", query, key, cos, sin, style, 2)
    return apply(query, cos, sin, style), apply(key, cos, sin, style)


def rope_fake(query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, *, style: str) -> tuple[Tensor, Tensor]:
    check_rope("rope", query, key, cos, sin, style, 2)
    return query.new_empty(query.shape), key.new_empty(key.shape)


def _rope_gradients(query: Tensor, key: Tensor, gradients: Sequence[Tensor | None], cos: Tensor, sin: Tensor, style: str,
                    wanted: set[str]) -> dict[str, Tensor | None]:
    found: dict[str, Tensor | None] = {}
    tables = [cos.new_zeros(cos.shape), sin.new_zeros(sin.shape)]
    for name, x, gradient in (("query", query, gradients[0]), ("key", key, gradients[1])):
        if gradient is None:
            continue
        found[name] = apply_backward(gradient, cos, sin, style)
        if wanted & {"cos", "sin"}:
            tables = [total + part for total, part in zip(tables, table_gradients(x, gradient, cos, style), strict=True)]
    found["cos"], found["sin"] = tables
    return found


def rope_backward(arguments: dict[str, Any], gradients: Sequence[Tensor | None], wanted: set[str]) -> dict[str, Tensor | None]:
    query, key, cos, sin = (arguments[name] for name in ("query", "key", "cos", "sin"))
    return _rope_gradients(query, key, gradients, cos, sin, arguments["style"], wanted)


def check_qk_norm_rope(query: Tensor, key: Tensor, query_weight: Tensor | None, key_weight: Tensor | None, cos: Tensor, sin: Tensor,
                       cast: str, style: str) -> None:
    check_rope("qk_norm_rope", query, key, cos, sin, style, 1)
    check_norm("qk_norm_rope", query, query_weight, cast)
    check_norm("qk_norm_rope", key, key_weight, cast)


def qk_norm_rope_reference(query: Tensor, key: Tensor, query_weight: Tensor | None, key_weight: Tensor | None, cos: Tensor, sin: Tensor, *,
                           eps: float, weight_offset: float, cast: str, style: str) -> tuple[Tensor, Tensor]:
    check_qk_norm_rope(query, key, query_weight, key_weight, cos, sin, cast, style)
    turned = [
        apply(rms_norm_reference(x, weight, eps=eps, weight_offset=weight_offset, cast=cast).transpose(1, 2), cos, sin, style)
        for x, weight in ((query, query_weight), (key, key_weight))
    ]
    return turned[0], turned[1]


def qk_norm_rope_fake(query: Tensor, key: Tensor, query_weight: Tensor | None, key_weight: Tensor | None, cos: Tensor, sin: Tensor, *,
                      eps: float, weight_offset: float, cast: str, style: str) -> tuple[Tensor, Tensor]:
    check_qk_norm_rope(query, key, query_weight, key_weight, cos, sin, cast, style)
    return query.new_empty(query.transpose(1, 2).shape), key.new_empty(key.transpose(1, 2).shape)


def qk_norm_rope_backward(arguments: dict[str, Any], gradients: Sequence[Tensor | None], wanted: set[str]) -> dict[str, Tensor | None]:
    eps, offset, cast = (arguments[name] for name in ("eps", "weight_offset", "cast"))
    sides = [(arguments[name], arguments[f"{name}_weight"]) for name in ("query", "key")]
    normed = [rms_norm_reference(x, weight, eps=eps, weight_offset=offset, cast=cast).transpose(1, 2) for x, weight in sides]
    found = _rope_gradients(normed[0], normed[1], gradients, arguments["cos"], arguments["sin"], arguments["style"], wanted)
    for name, (x, weight) in zip(("query", "key"), sides, strict=True):
        if name in found:
            found[name], found[f"{name}_weight"] = norm_gradients(x, weight, found[name].transpose(1, 2), eps, offset)
    return found


register("rope(Tensor query, Tensor key, Tensor cos, Tensor sin, *, str style) -> (Tensor, Tensor)",
         reference=rope_reference, fake=rope_fake, backward=rope_backward)
register("qk_norm_rope(Tensor query, Tensor key, Tensor? query_weight, Tensor? key_weight, Tensor cos, Tensor sin, *, float eps, "
         "float weight_offset, str cast, str style) -> (Tensor, Tensor)",
         reference=qk_norm_rope_reference, fake=qk_norm_rope_fake, backward=qk_norm_rope_backward)
