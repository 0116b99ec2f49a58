"""Recognises rotary embedding in source: the function that a forward calls, and the one call."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

from .forward import Forward, read_source
from .refusal import Refusal
from .symbolic import FLOAT32, Evaluator, Tree, cast

_HALF: Tree = ("const", 2)


@dataclass(frozen=True)
class Arithmetic:
    """`width`: what is computed in: "input" (as the inputs come), "tables" (promoted to the tables' dtype) or "float32"; the last
    two cast their results back, to the dtype of `back_to` (of "query", or of each its "own")."""

    style: str
    width: str
    back_to: str


@dataclass(frozen=True)
class Rotation:
    """The call `function(query, key, cos, sin)`."""

    call: ast.Call
    arithmetic: Arithmetic


def find_rotation(forward: Forward) -> Rotation:
    """The one call of a rotary function in the forward. Refuses when there is none, or several, or its arithmetic is another."""
    found: list[ast.Call] = []
    nearest = ""
    for node in ast.walk(forward.node):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or len(node.args) < 4:
            continue
        function = forward.evaluate(node.func)
        if isinstance(function, FunctionType):
            try:
                _recognise(function, forward)
                found.append(node)
            except Refusal as refusal:
                nearest = nearest or f"; {node.func.id}: {refusal}"
    if len(found) != 1:
        raise Refusal(f"{forward.name} calls a known rotary function {len(found)} times, not once{nearest}")
    call = found[0]
    if not _plain_arguments(call):
        raise Refusal(f"the rotary call at {forward.function.where(call)} has other arguments than query, key, cos and sin")
    return Rotation(call, _recognise(forward.evaluate(call.func), forward))


def _plain_arguments(call: ast.Call) -> bool:
    default = all(keyword.arg == "unsqueeze_dim" and isinstance(keyword.value, ast.Constant) and keyword.value.value == 1
                  for keyword in call.keywords)
    return len(call.args) == 4 and default and not any(isinstance(argument, ast.Starred) for argument in call.args)


def _recognise(function: FunctionType, forward: Forward) -> Arithmetic:
    """What a function of query, key, cos and sin computes."""
    plain = inspect.unwrap(function)
    file = forward.file if plain.__module__ == forward.module.__name__ else read_source(
        str(Path(plain.__code__.co_filename).resolve()))
    evaluator = Evaluator(file)
    node = evaluator.functions.get(plain.__name__)
    if node is None or file.path != Path(plain.__code__.co_filename).resolve():
        raise Refusal(f"the source of {plain.__name__} is not available")
    inputs: list[Tree] = [("input", name) for name in ("query", "key", "cos", "sin")]
    result = evaluator.run(node, evaluator.bind(node, inputs))
    if result[0] != "tuple" or len(result) != 3:
        raise Refusal(f"{plain.__name__} does not return two tensors")
    query, key = (_rotated(part, source, inputs) for part, source in zip(result[1:], inputs))
    if query is None or key is None or (query.style, query.width) != (key.style, key.width):
        raise Refusal(f"{plain.__name__} at {file.where(node)} computes something else than x*cos + rot(x)*sin")
    return key


def _rotated(tree: Tree, source: Tree, inputs: list[Tree]) -> Arithmetic | None:
    """x*cos + rot(x)*sin of one input, over its full width or that of the tables, with or without casts around."""
    query, _, cos, sin = inputs
    back = tree[2] if tree[0] == "cast" else None
    if back is not None:
        if back not in (("dtype", source), ("dtype", query)):
            return None
        tree = tree[1]
    back_to = "own" if back == ("dtype", source) else "query"
    cos, sin = ("unsqueeze", cos, ("const", 1)), ("unsqueeze", sin, ("const", 1))
    for value, width in ((source, "tables"), (cast(source, FLOAT32), "float32")):
        style = _full_or_partial(tree, value, cos, sin)
        if style and (back is not None or width == "tables"):
            return Arithmetic(style, width if back is not None else "input", back_to)
    return None


def _full_or_partial(tree: Tree, value: Tree, cos: Tree, sin: Tree) -> str:
    end = ("shape_at", cos, -1)
    turned, rest = ("last_slice", value, None, end, None), ("last_slice", value, end, None, None)
    if tree[0] == "cat" and tree[2] == ("const", -1) and tree[1][0] == "tuple" and len(tree[1]) == 3 and tree[1][2] == rest:
        return _sum_style(tree[1][1], turned, cos, sin)
    return _sum_style(tree, value, cos, sin)


def _sum_style(tree: Tree, value: Tree, cos: Tree, sin: Tree) -> str:
    if tree[0] != "add":
        return ""
    for plain, turned in ((tree[1], tree[2]), (tree[2], tree[1])):
        if plain not in (("mul", value, cos), ("mul", cos, value)) or turned[0] != "mul":
            continue
        for rotated, table in ((turned[1], turned[2]), (turned[2], turned[1])):
            if table == sin:
                return _style(rotated, value)
    return ""


def _style(tree: Tree, source: Tree) -> str:
    half = ("floordiv", ("shape_at", source, -1), _HALF)
    first, second = ("last_slice", source, None, half, None), ("last_slice", source, half, None, None)
    if tree == ("cat", ("tuple", ("neg", second), first), ("const", -1)):
        return "half"
    even, odd = ("last_slice", source, None, None, _HALF), ("last_slice", source, ("const", 1), None, _HALF)
    even_from_zero = ("last_slice", source, ("const", 0), None, _HALF)
    for start in (even, even_from_zero):
        if tree == ("flatten", ("stack", ("tuple", ("neg", odd), start), ("const", -1)), ("const", -2)):
            return "interleaved"
    return ""
