"""Recognises RMSNorm in the source of a module's forward: weight, epsilon, cast order, and the weight's offset."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import torch

from .forward import Forward, find_forward
from .refusal import Refusal
from .symbolic import FLOAT32, Evaluator, Tree


@dataclass(frozen=True)
class Norm:
    """y = x * rsqrt(mean(x^2) + eps), times the weight.

    `weight` is an attribute of the module or empty; `epsilon_attribute` is one or empty, and then `epsilon` is the literal."""

    input: str
    weight: str
    epsilon_attribute: str
    epsilon: float
    weight_offset: float
    cast: str

    def weight_text(self, prefix: str) -> str:
        return f"{prefix}{self.weight}" if self.weight else "None"

    def keywords(self, prefix: str) -> list[str]:
        epsilon = f"{prefix}{self.epsilon_attribute}" if self.epsilon_attribute else repr(self.epsilon)
        return [f"eps={epsilon}", f"weight_offset={self.weight_offset!r}", f'cast="{self.cast}"']

    def epsilon_of(self, instance: torch.nn.Module) -> float:
        value = getattr(instance, self.epsilon_attribute, None) if self.epsilon_attribute else self.epsilon
        if not isinstance(value, float):
            raise Refusal(f"the epsilon {self.epsilon_attribute} of this {type(instance).__name__} is no number: {value!r}")
        return value


def find_norm(instance: torch.nn.Module) -> tuple[Forward, Norm]:
    """The norm that `instance.forward` computes. Refuses with the first thing that does not fit."""
    forward = find_forward(instance)
    names = forward.function.parameters
    if len(names) != 2:
        raise Refusal(f"{forward.name} takes {len(names) - 1} inputs; a norm takes one")
    evaluator = Evaluator(forward.file, _methods(forward, instance))
    source = ("input", names[1])
    result = evaluator.run(forward.node, {"self": ("self_object",), names[1]: source})
    norm = _match(result, source, names[1])
    if norm is None:
        raise Refusal(f"{forward.name} ({forward.file.where(forward.node)}) is not an RMSNorm whose casts are known")
    return forward, norm


def _methods(forward: Forward, instance: torch.nn.Module) -> dict[str, ast.FunctionDef]:
    """The methods of the class that are the instance's own too: a subclass may have others under the same names."""
    nodes = [node for node in forward.class_node.body if isinstance(node, ast.FunctionDef)]
    return {node.name: node for node in nodes
            if getattr(type(instance), node.name, None) is vars(forward.owner).get(node.name) and node.name not in vars(instance)}


def _match(result: Tree, source: Tree, name: str) -> Norm | None:
    if result[0] == "rms_norm" and result[1] == source and result[3][0] == "self" and _epsilon(result[4]):
        return Norm(name, result[3][1], *_epsilon_fields(result[4]), 0.0, "after_weight")
    wide = ("cast", source, FLOAT32)
    in_dtype = ("dtype", source)
    if result[0] == "cast" and result[2] == in_dtype:  # everything in f32, rounded once
        core = result[1]
        epsilon = _unweighted(core, wide)
        if epsilon is not None:
            return Norm(name, "", *_epsilon_fields(epsilon), 0.0, "after_weight")
        for weight, normed in _both_orders(core, "mul"):
            epsilon, offset = _unweighted(normed, wide), _weight(weight)
            if epsilon is not None and offset is not None:
                return Norm(name, offset[0], *_epsilon_fields(epsilon), offset[1], "after_weight")
    for weight, normed in _both_orders(result, "mul"):  # rounded first, then weighted
        if weight[0] == "self" and normed[0] == "cast" and normed[2] == in_dtype:
            epsilon = _unweighted(normed[1], wide)
            if epsilon is not None:
                return Norm(name, weight[1], *_epsilon_fields(epsilon), 0.0, "before_weight")
    return None


def _both_orders(tree: Tree, operator: str) -> list[tuple[Tree, Tree]]:
    return [(tree[1], tree[2]), (tree[2], tree[1])] if tree[0] == operator else []


def _weight(tree: Tree) -> tuple[str, float] | None:
    """(attribute, offset) of `self.weight`, `self.weight.float()` or `1 + self.weight.float()`."""
    for constant, weight in _both_orders(tree, "add"):
        inner = _weight(weight)
        # Without the cast, 1 + weight would be rounded to the weight's dtype first.
        if constant == ("const", 1.0) and inner is not None and weight[0] == "cast":
            return inner[0], 1.0
    if tree[0] == "cast" and tree[2] == FLOAT32:
        tree = tree[1]
    return (tree[1], 0.0) if tree[0] == "self" else None


def _unweighted(tree: Tree, wide: Tree) -> Tree | None:
    """The epsilon when `tree` is wide * rsqrt(mean(wide^2) + eps) in one of its spellings."""
    for value, scale in _both_orders(tree, "mul"):
        if value == wide:
            inner = _under_reciprocal_root(scale)
            if inner is not None:
                return _mean_square(inner, wide)
    if tree[0] == "div" and tree[1] == wide and tree[2][0] == "sqrt":
        return _mean_square(tree[2][1], wide)
    return None


def _under_reciprocal_root(tree: Tree) -> Tree | None:
    if tree[0] == "rsqrt":
        return tree[1]
    if tree[0] == "pow" and tree[2] == ("const", -0.5):
        return tree[1]
    if tree[0] == "div" and tree[1] in (("const", 1), ("const", 1.0)) and tree[2][0] == "sqrt":
        return tree[2][1]
    return None


def _mean_square(tree: Tree, wide: Tree) -> Tree | None:
    for mean, epsilon in _both_orders(tree, "add"):
        squares = (("pow", wide, ("const", 2)), ("pow", wide, ("const", 2.0)), ("mul", wide, wide))
        if mean[0] == "mean" and mean[1] in squares and _epsilon(epsilon):
            return epsilon
    return None


def _epsilon(tree: Tree) -> bool:
    return tree[0] == "self" or (tree[0] == "const" and isinstance(tree[1], float))


def _epsilon_fields(tree: Tree) -> tuple[str, float]:
    return (tree[1], 0.0) if tree[0] == "self" else ("", tree[1])
