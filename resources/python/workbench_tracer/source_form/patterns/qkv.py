"""qkv: three linears of one input become one, split by rows.

    query = self.q_proj(x).view(shape)          q, k, v = self.qkv_proj(x).split(self.qkv_sizes, dim=-1)
    key = self.k_proj(x).view(shape)       ->   query = q.view(shape)
    value = self.v_proj(x).view(shape)          key = k.view(shape)
                                                value = v.view(shape)

Refuses projections that are used twice or otherwise than in a call, whose inputs are spelled differently, that stand in different
branches, or between which the input may change.
"""

from __future__ import annotations

import ast
from typing import Callable

from ..context import Context
from ..refusal import Refusal
from ..request import Site
from ..rewrite import Merge, Rewrite

MERGED, SIZES = "qkv_proj", "qkv_sizes"


def rewrite_qkv(site: Site, context: Context) -> Rewrite:
    weights = site.weights("q", "k", "v")
    if len(weights) != 3:
        raise Refusal(f"qkv merges 3 weights, the plan names {len(weights)}")
    forward = context.forward(site.module, site)
    children = context.child_linears(site.module, weights)
    forward.require_private_children(children, context.module(site.module))
    for name in (MERGED, SIZES):
        forward.require_free_attribute(name, context.module(site.module))
    function, file = forward.function, forward.file
    calls = [function.self_call(child) for child in children]
    for call in calls:
        function.require_runs_once(call)
    name = shared_input([call.args[0] for call in calls], file.where)
    block, first, last = function.common_block(list(calls))
    function.require_stable_input(name, block[first : last + 1], calls)
    function.require_results_unwritten(calls)
    values = function.free_names([("q", "k", "v"), ("q_part", "k_part", "v_part")])
    line = f"{', '.join(values)} = self.{MERGED}({name}).split(self.{SIZES}, dim=-1)"
    edits = [file.insert_before(block[first], line)]
    edits += [file.replace(call, value) for call, value in zip(calls, values)]
    return Rewrite("qkv", forward, site.module, tuple(edits), (Merge(MERGED, children, SIZES),), function.guard(calls[0]))


def shared_input(inputs: list[ast.expr], where: Callable[[ast.AST], str]) -> str:
    """The one name that all calls read."""
    for node in inputs:
        if not isinstance(node, ast.Name):
            raise Refusal(f"the input at {where(node)} is an expression, not a name; it might run once for each call")
        if node.id != inputs[0].id:
            raise Refusal(f"the inputs differ: {inputs[0].id} at {where(inputs[0])}, {node.id} at {where(node)}")
    return inputs[0].id
