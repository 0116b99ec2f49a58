"""add-rms-norm: a residual sum and the norm of it become one op with two results.

    hidden = residual + hidden
    residual = hidden                     ->   hidden, residual = torch.ops.workbench.add_rms_norm(hidden, residual, ...)
    hidden = self.norm(hidden)

Only where one forward holds both: the sum that the next layer's norm reads has no source form, its norm alone is rewritten.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from ..context import Context
from ..forward import Forward, find_forward
from ..norms import Norm
from ..refusal import Refusal
from ..request import Node, Site
from ..rewrite import Rewrite
from ..source_file import Edit, format_call
from .rms_norm import checked_norm, norm_module, rewrite_rms_norm

OP = "torch.ops.workbench.add_rms_norm"


@dataclass
class _Sum:
    """`statement` sets the sum, `total` is its expression, `copies` are the plain copies of it before the norm."""

    statement: ast.stmt
    total: ast.BinOp
    copies: list[ast.stmt]


def rewrite_add_rms_norm(site: Site, context: Context) -> Rewrite:
    path = norm_module(site)
    parent, _, child = path.rpartition(".")
    apart = _different_functions(site, context, path, parent)
    if apart:
        norm_only = rewrite_rms_norm(site, context)
        return Rewrite(norm_only.pattern, norm_only.forward, norm_only.instance, norm_only.edits, partial=apart)
    _, norm = checked_norm(site.params, "weight", path, context)
    forward = context.forward(parent, site)
    forward.require_torch()
    call = forward.function.self_call(child)
    forward.function.require_runs_once(call)
    total = _find_sum(forward, call)
    _require_planned_sum(residual_add(site, path), total, forward)
    edits = _edits(forward, call, total, norm, f"self.{child}.")
    return Rewrite("add-rms-norm", forward, parent, tuple(edits), (), forward.function.guard(call), (child,))


def residual_add(site: Site, norm_path: str) -> Node | None:
    """The node that adds the residual: named by its role, else the add outside of the norm's own module."""
    adds = [node for node in site.nodes if node.op.startswith("aten.add")]
    named = [node for node in adds if node.role in ("add", "sum", "residual_add")]
    outside = [node for node in adds if node.module != norm_path]
    return (named or outside or [None])[0]


def _require_planned_sum(add: Node | None, total: _Sum, forward: Forward) -> None:
    if add is not None and add.line and not total.total.lineno <= add.line <= total.total.end_lineno:
        raise Refusal(f"the norm reads the sum at {forward.file.where(total.total)}, but the plan's sum is at line {add.line}")


def _different_functions(site: Site, context: Context, norm_path: str, parent: str) -> str:
    """Why no forward holds both the sum and the norm; empty when `parent` does."""
    add = residual_add(site, norm_path)
    if add is None or add.module == parent:
        return ""
    adder = f"{type(context.module(add.module)).__name__}.forward of {add.module}"
    line = f" ({Path(add.file).name}:{add.line})" if add.file else ""
    return (f"the add and the norm are in different modules: {adder}{line} makes the sum, {_caller(context, norm_path)} calls the "
            "norm; the norm alone is rewritten")


def _caller(context: Context, norm_path: str) -> str:
    parent, _, child = norm_path.rpartition(".")
    module = context.module(parent)
    name = f"{type(module).__name__}.forward" + (f" of {parent}" if parent else "")
    try:
        forward = find_forward(module)
    except Refusal:
        return name
    uses = forward.function.self_attributes(child)
    return name + (f" ({forward.file.where(uses[0])})" if uses else "")


def _find_sum(forward: Forward, call: ast.Call) -> _Sum:
    """`name = a + b` before the norm reads `name`, with nothing between but copies of it."""
    function, file = forward.function, forward.file
    value, statement = call.args[0], function.statement(call)
    if not function.single_target(statement) or statement.value is not call:
        raise Refusal(f"the norm at {file.where(call)} is not assigned to a plain name")
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return _Sum(statement, value, [])
    if not isinstance(value, ast.Name):
        raise Refusal(f"the norm at {file.where(call)} does not read a plain name")
    source = function.reaching(value.id, statement)
    total = source.value
    if not isinstance(total, ast.BinOp) or not isinstance(total.op, ast.Add):
        raise Refusal(f"{value.id}, which the norm at {file.where(call)} reads, is not set by a sum at {file.where(source)}")
    block = function.block(statement)
    copies = block[block.index(source) + 1 : block.index(statement)]
    for copy in copies:
        is_copy = isinstance(getattr(copy, "value", None), ast.Name) and copy.value.id == value.id
        if not function.single_target(copy) or not is_copy:
            raise Refusal(f"the statement at {file.where(copy)} stands between the sum and its norm")
    return _Sum(source, total, copies)


def _edits(forward: Forward, call: ast.Call, total: _Sum, norm: Norm, prefix: str) -> list[Edit]:
    function, file = forward.function, forward.file
    statement = function.statement(call)
    normed = function.single_target(statement)
    name = function.single_target(total.statement) if total.statement is not statement else ""
    copies = [function.single_target(copy) for copy in total.copies]
    if name != normed and name:  # the sum keeps its name, so copies of it stay as they are
        kept, place, gone = name, total.statement, [statement]
        if normed in copies or any(isinstance(n, ast.Name) and n.id == normed for copy in total.copies for n in ast.walk(copy)):
            raise Refusal(f"{normed} is set between the sum and the norm at {file.where(statement)}")
    elif len(copies) <= 1:
        kept, place = (copies or ["_"])[0], statement
        gone = [total.statement, *total.copies] if total.statement is not statement else []
    else:
        raise Refusal(f"the sum at {file.where(total.statement)} is copied to several names before the norm overwrites it")
    if kept == normed:
        raise Refusal(f"the sum and its norm have the same name at {file.where(place)}")
    indent = file.indent(place)
    # The op's first input is the branch, its second the residual: the sum is the same either way.
    left, right = file.text(total.total.left), file.text(total.total.right)
    arguments = [right, left, norm.weight_text(prefix), *norm.keywords(prefix)]
    targets = f"{normed}, {kept} = "
    text = targets + format_call(OP, arguments, indent, len(indent) + len(targets))
    return [file.replace(place, text)] + [file.delete_lines(node) for node in gone]
