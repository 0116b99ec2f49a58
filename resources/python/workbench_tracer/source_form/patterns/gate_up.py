"""gate-up: two linears of one input, an activation and a product become one linear and one op.

    self.act_fn(self.gate_proj(x)) * self.up_proj(x)
    ->  torch.ops.workbench.act_and_mul(self.gate_up_proj(x), activation="silu")

The steps may stand in one expression or in statements whose values are read once; the activation may be a module or a function.
"""

from __future__ import annotations

import ast

import torch
from torch.nn import functional

from ..context import Context, require_equal
from ..forward import Forward
from ..function import Function, is_self_attribute
from ..refusal import Refusal
from ..request import Site
from ..rewrite import Merge, Rewrite
from ..source_file import format_call
from .qkv import shared_input

MERGED = "gate_up_proj"
OP = "torch.ops.workbench.act_and_mul"
_MODULES = {"SiLU": "silu", "SiLUActivation": "silu", "GELUActivation": "gelu", "GELUTanh": "gelu_tanh",
            "NewGELUActivation": "gelu_tanh", "ReLU": "relu", "Sigmoid": "sigmoid"}


def rewrite_gate_up(site: Site, context: Context) -> Rewrite:
    weights = site.weights("gate", "up")
    if len(weights) != 2:
        raise Refusal(f"gate-up merges 2 weights, the plan names {len(weights)}")
    forward = context.forward(site.module, site)
    forward.require_torch()
    children = context.child_linears(site.module, weights)
    instance = context.module(site.module)
    _require_equal_widths(instance, children)
    forward.require_private_children(children, instance)
    forward.require_free_attribute(MERGED, instance)
    function, file = forward.function, forward.file
    calls = [function.self_call(child) for child in children]
    for call in calls:
        function.require_runs_once(call)
    name = shared_input([call.args[0] for call in calls], file.where)
    gate, before = _follow(function, calls[0])
    activation, gate_activation = _activation(forward, gate, instance)
    require_equal("the activation", site.params.get("activation"), activation)
    operand, between = _follow(function, gate_activation)
    other, after = _follow(function, calls[1])
    product = function.parent(operand)
    if not _is_product_of(product, operand, other):
        raise Refusal(f"the activated gate at {file.where(operand)} is not multiplied with the value of {children[1]}")
    function.require_runs_once(product)
    consumed = before + between + after
    block, first, last = function.common_block([*calls, product, *consumed])
    function.require_stable_input(name, block[first : last + 1], calls)
    arguments = [f"self.{MERGED}({name})", f'activation="{activation}"']
    call = format_call(OP, arguments, file.line_indent(product), file.outside_columns(product))
    edits = [file.replace(product, call)] + [file.delete_lines(statement) for statement in consumed]
    called = gate_activation.func
    module = (called.attr,) if isinstance(called, ast.Attribute) and is_self_attribute(called, called.attr) else ()
    return Rewrite("gate-up", forward, site.module, tuple(edits), (Merge(MERGED, children),), function.guard(product), module)


def _require_equal_widths(instance: torch.nn.Module, children: tuple[str, ...]) -> None:
    gate, up = (getattr(instance, child).out_features for child in children)
    if gate != up:
        raise Refusal(f"{children[0]} has {gate} rows and {children[1]} has {up}; the product needs equal widths")


def _follow(function: Function, node: ast.expr) -> tuple[ast.expr, list[ast.stmt]]:
    """Where the value of `node` is read: `node` itself, or the only read of the names that it is assigned to."""
    consumed: list[ast.stmt] = []
    while isinstance(function.parent(node), (ast.Assign, ast.AnnAssign)):
        statement = function.statement(node)
        if not function.single_target(statement):
            raise Refusal(f"the value at {function.where(node)} is not assigned to one plain name")
        consumed.append(statement)
        node = function.only_use(statement)
    return node, consumed


def _activation(forward: Forward, gate: ast.expr, instance: torch.nn.Module) -> tuple[str, ast.Call]:
    """(name, call) of the activation whose only tensor argument is `gate`."""
    call = forward.function.parent(gate)
    where = forward.function.where(gate)
    if not isinstance(call, ast.Call) or not call.args or call.args[0] is not gate or len(call.args) != 1:
        raise Refusal(f"the gate's value at {where} does not go straight into an activation")
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    function = call.func
    if isinstance(function, ast.Attribute) and is_self_attribute(function, function.attr):
        name = "" if keywords else _module_activation(getattr(instance, function.attr, None))
    else:
        name = _function_activation(forward.evaluate(function), keywords)
    if not name:
        raise Refusal(f"the activation {forward.file.text(function)} at {where} has no fused form")
    return name, call


def _module_activation(module: object) -> str:
    if isinstance(module, torch.nn.GELU):
        return {"none": "gelu", "tanh": "gelu_tanh"}.get(module.approximate, "")
    own = type(module).__module__
    known = own.startswith("torch.nn.") or own == "transformers.activations"
    if known and isinstance(module, torch.nn.Module) and not getattr(module, "inplace", False):
        return _MODULES.get(type(module).__name__, "")
    return _function_activation(module, {})


def _function_activation(function: object, keywords: dict[str | None, ast.expr]) -> str:
    if function is functional.gelu:
        approximate = keywords.pop("approximate", None)
        if approximate is not None and not isinstance(approximate, ast.Constant):
            return ""
        value = "none" if approximate is None else approximate.value
        return "" if keywords else {"none": "gelu", "tanh": "gelu_tanh"}.get(value, "")
    if keywords:
        return ""
    for known, name in ((functional.silu, "silu"), (functional.relu, "relu"), (torch.relu, "relu"),
                        (torch.sigmoid, "sigmoid"), (functional.sigmoid, "sigmoid")):
        if function is known:
            return name
    return ""


def _is_product_of(product: ast.AST, one: ast.expr, other: ast.expr) -> bool:
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
        return False
    return (product.left is one and product.right is other) or (product.left is other and product.right is one)
