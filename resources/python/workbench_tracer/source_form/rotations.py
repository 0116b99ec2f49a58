"""Recognises rotary embedding in source: the function that a forward calls, and the one call."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

from .forward import Forward, read_source
from .refusal import Refusal
from .symbolic import Evaluator, Tree

_HALF: Tree = ("const", 2)


@dataclass(frozen=True)
class Rotation:
    """The call `function(query, key, cos, sin)`. `casts_back`: computed in the promoted dtype of cos, then cast to the input's."""

    call: ast.Call
    style: str
    casts_back: bool


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
    style, casts_back = _recognise(forward.evaluate(call.func), forward)
    return Rotation(call, style, casts_back)


def _plain_arguments(call: ast.Call) -> bool:
    default = all(keyword.arg == "unsqueeze_dim" and isinstance(keyword.value, ast.Constant) and keyword.value.value == 1
                  for keyword in call.keywords)
    return len(call.args) == 4 and default and not any(isinstance(argument, ast.Starred) for argument in call.args)


def _recognise(function: FunctionType, forward: Forward) -> tuple[str, bool]:
    """(style, casts back) of a function of query, key, cos and sin."""
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
    query, key = (_rotated(part, source, inputs[2], inputs[3]) for part, source in zip(result[1:], inputs))
    if query is None or query != key:
        raise Refusal(f"{plain.__name__} at {file.where(node)} computes something else than x*cos + rot(x)*sin")
    return query


def _rotated(tree: Tree, source: Tree, cos: Tree, sin: Tree) -> tuple[str, bool] | None:
    casts_back = tree[0] == "cast" and tree[2] == ("dtype", source)
    if casts_back:
        tree = tree[1]
    if tree[0] != "add":
        return None
    for plain, turned in ((tree[1], tree[2]), (tree[2], tree[1])):
        if not _is_product(plain, source, cos) or turned[0] != "mul":
            continue
        for rotated, table in ((turned[1], turned[2]), (turned[2], turned[1])):
            style = _style(rotated, source)
            if style and table == ("unsqueeze", sin, ("const", 1)):
                return style, casts_back
    return None


def _is_product(tree: Tree, source: Tree, cos: Tree) -> bool:
    table = ("unsqueeze", cos, ("const", 1))
    return tree in (("mul", source, table), ("mul", table, source))


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
