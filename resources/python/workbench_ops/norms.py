"""workbench::rms_norm and workbench::add_rms_norm.

y = x * rsqrt(mean(x^2) + eps) over the last dimension, in float32 (Zhang and Sennrich 2019, arXiv:1910.07467). The weight is applied
  before_weight: after y was rounded to the input's dtype, as LlamaRMSNorm does;
  after_weight: in float32 as (weight_offset + weight), then rounded, as Gemma2RMSNorm (offset 1) and Olmo2RMSNorm (offset 0) do.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .library import accumulation_dtype, register, require

CASTS = ("before_weight", "after_weight")


def check_norm(operator: str, input: Tensor, weight: Tensor | None, cast: str) -> None:
    require(input.dim() >= 1, operator, "input must have at least one dimension.")
    require(input.is_floating_point(), operator, f"input must be a floating-point tensor, got {input.dtype}.")
    require(cast in CASTS, operator, f"cast must be one of {', '.join(CASTS)}, got '{cast}'.")
    if weight is not None:
        require(weight.dim() == 1 and weight.size(0) == input.size(-1), operator,
                f"weight must be [{input.size(-1)}] like the input's last dimension, got {list(weight.shape)}.")
        require(weight.dtype == input.dtype, operator, f"weight must have the input's dtype {input.dtype}, got {weight.dtype}.")


def rms_norm_reference(input: Tensor, weight: Tensor | None, *, eps: float, weight_offset: float, cast: str) -> Tensor:
    check_norm("rms_norm", input, weight, cast)
    wide = input.to(accumulation_dtype(input.dtype))
    normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    if weight is None:
        return normed.to(input.dtype).contiguous()
    if cast == "before_weight":
        factor = weight + weight_offset if weight_offset else weight
        return (factor * normed.to(input.dtype)).contiguous()
    return (normed * (weight_offset + weight.to(wide.dtype))).to(input.dtype).contiguous()


def rms_norm_fake(input: Tensor, weight: Tensor | None, *, eps: float, weight_offset: float, cast: str) -> Tensor:
    check_norm("rms_norm", input, weight, cast)
    return input.new_empty(input.shape)


def norm_gradients(input: Tensor, weight: Tensor | None, gradient: Tensor, eps: float, weight_offset: float) -> tuple[Tensor, Tensor | None]:
    """Gradients of input and weight; `gradient` is that of the output. Roundings are treated as the identity."""
    wide = input.to(accumulation_dtype(input.dtype))
    inverse = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    normed = wide * inverse
    outer = gradient.to(wide.dtype)
    normed_grad = outer if weight is None else outer * (weight.to(wide.dtype) + weight_offset)
    input_grad = inverse * (normed_grad - normed * (normed_grad * normed).mean(-1, keepdim=True))
    weight_grad = None
    if weight is not None:
        weight_grad = (outer * normed).reshape(-1, input.size(-1)).sum(0).to(weight.dtype)
    return input_grad.to(input.dtype), weight_grad


def rms_norm_backward(arguments: dict[str, Any], gradients: Sequence[Tensor | None], wanted: set[str]) -> dict[str, Tensor | None]:
    input_grad, weight_grad = norm_gradients(arguments["input"], arguments["weight"], gradients[0], arguments["eps"], arguments["weight_offset"])
    return {"input": input_grad, "weight": weight_grad}


def check_add_norm(input: Tensor, residual: Tensor, weight: Tensor | None, cast: str) -> None:
    check_norm("add_rms_norm", input, weight, cast)
    require(input.shape == residual.shape and input.dtype == residual.dtype, "add_rms_norm",
            f"residual must have the input's shape and dtype, got {list(residual.shape)} {residual.dtype} for {list(input.shape)} {input.dtype}.")


def add_rms_norm_reference(input: Tensor, residual: Tensor, weight: Tensor | None, *, eps: float, weight_offset: float, cast: str) -> tuple[Tensor, Tensor]:
    check_add_norm(input, residual, weight, cast)
    total = (input + residual).contiguous()
    return rms_norm_reference(total, weight, eps=eps, weight_offset=weight_offset, cast=cast), total


def add_rms_norm_fake(input: Tensor, residual: Tensor, weight: Tensor | None, *, eps: float, weight_offset: float, cast: str) -> tuple[Tensor, Tensor]:
    check_add_norm(input, residual, weight, cast)
    return input.new_empty(input.shape), input.new_empty(input.shape)


def add_rms_norm_backward(arguments: dict[str, Any], gradients: Sequence[Tensor | None], wanted: set[str]) -> dict[str, Tensor | None]:
    normed_grad, total_grad = gradients
    total = arguments["input"] + arguments["residual"]
    weight_grad = None
    if normed_grad is not None:
        through, weight_grad = norm_gradients(total, arguments["weight"], normed_grad, arguments["eps"], arguments["weight_offset"])
        total_grad = through if total_grad is None else total_grad + through
    return {"input": total_grad, "residual": total_grad, "weight": weight_grad}


register("rms_norm(Tensor input, Tensor? weight, *, float eps, float weight_offset, str cast) -> Tensor",
         reference=rms_norm_reference, fake=rms_norm_fake, backward=rms_norm_backward)
register("add_rms_norm(Tensor input, Tensor residual, Tensor? weight, *, float eps, float weight_offset, str cast) -> (Tensor normed, Tensor sum)",
         reference=add_rms_norm_reference, fake=add_rms_norm_fake, backward=add_rms_norm_backward)
