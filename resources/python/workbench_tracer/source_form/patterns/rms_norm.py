"""rms-norm: the body of a norm module's forward becomes one op.

    input_dtype = x.dtype; ...; return self.weight * x.to(input_dtype)
    ->  return torch.ops.workbench.rms_norm(x, self.weight, eps=self.variance_epsilon, weight_offset=0.0, cast="before_weight")

Refuses a forward that does anything but the norm, and one whose values differ from the plan's.
"""

from __future__ import annotations

import ast
from typing import Any

import torch

from ..context import Context, require_equal
from ..forward import Forward
from ..norms import Norm, find_norm
from ..refusal import Refusal
from ..request import Site
from ..rewrite import Rewrite
from ..source_file import Edit, format_call


def rewrite_rms_norm(site: Site, context: Context) -> Rewrite:
    path = norm_module(site)
    _, norm = checked_norm(site.params, "weight", path, context)
    forward = context.forward(path, site)
    forward.require_torch()
    return Rewrite("rms-norm", forward, path, (_body_edit(forward, norm),))


def norm_module(site: Site) -> str:
    """The module of the norm: the one that holds its weight, else the one whose lines made the reciprocal square root."""
    weight = site.params.get("weight")
    if weight:
        return str(weight).rpartition(".")[0]
    for node in site.nodes:
        if node.role == "norm" or "rsqrt" in node.op or "rms_norm" in node.op:
            return node.module
    return site.module


def checked_norm(params: dict[str, Any], weight_key: str, path: str, context: Context) -> tuple[Forward, Norm]:
    """The norm in the source of module `path`, equal to the plan's in every value."""
    instance = context.module(path)
    forward, norm = find_norm(instance)
    weight = getattr(instance, norm.weight, None) if norm.weight else None
    if norm.weight and weight is None:
        raise Refusal(f"{path} has no {norm.weight}, so the width that it normalises over is not known")
    if weight is not None and (not isinstance(weight, torch.nn.Parameter) or weight.dim() != 1):
        raise Refusal(f"{path}.{norm.weight} is not a parameter with one dimension")
    found = f"{path}.{norm.weight}" if weight is not None else None
    if weight_key in params and (params[weight_key] or None) != found:
        raise Refusal(f"the plan says that the weight is {params[weight_key]}, the source of {path} says {found}")
    require_equal("eps", params.get("eps"), norm.epsilon_of(instance))
    require_equal("weight_offset", params.get("weight_offset"), norm.weight_offset)
    if weight is not None and context.dtype not in ("", "float32"):  # float32 rounds nowhere, so the plan cannot know the order
        require_equal("cast", params.get("cast"), norm.cast)
    return forward, norm


def _body_edit(forward: Forward, norm: Norm) -> Edit:
    body = [node for node in forward.node.body
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    indent = forward.file.indent(body[0])
    arguments = [norm.input, norm.weight_text("self."), *norm.keywords("self.")]
    call = format_call("torch.ops.workbench.rms_norm", arguments, indent, len(indent) + len("return "))
    start, _ = forward.file.span(body[0])
    _, end = forward.file.span(body[-1])
    return Edit(start, end, f"return {call}")
