"""A small evaluator of straight-line tensor code to expression trees, enough to recognise a norm or a rotation in source.

A tree is a tuple: ("input", name), ("self", attribute), ("const", value), ("call", operator, arguments...). Anything that the
evaluator does not know is a Refusal: what is not understood is not rewritten.
"""

from __future__ import annotations

import ast
from typing import Any

from .refusal import Refusal
from .source_file import SourceFile

Tree = tuple[Any, ...]

_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.FloorDiv: "floordiv"}
_UNARY_METHODS = {"rsqrt": "rsqrt", "sqrt": "sqrt", "neg": "neg"}
FLOAT32: Tree = ("const", "torch.float32")


class Evaluator:
    """`functions` are the file's top-level functions, `methods` those of the class; both are inlined."""

    def __init__(self, file: SourceFile, methods: dict[str, ast.FunctionDef] | None = None) -> None:
        self.file = file
        self.functions = _functions_defined_once(file.tree)
        self.methods = methods or {}

    def run(self, function: ast.FunctionDef, arguments: dict[str, Tree], depth: int = 0) -> Tree:
        """The value that the function returns. Refuses branches, loops and everything else that is not straight-line."""
        if depth > 4:
            raise Refusal(f"{function.name} calls too deep to follow")
        scope = dict(arguments)
        for statement in function.body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self._value(statement.value, scope, depth)
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self._assign(statement.targets[0], self._value(statement.value, scope, depth), scope)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                self._assign(statement.target, self._value(statement.value, scope, depth), scope)
            else:
                raise self._unknown(statement)
        raise Refusal(f"{function.name} returns nothing ({self.file.where(function)})")

    def bind(self, function: ast.FunctionDef, given: list[Tree]) -> dict[str, Tree]:
        """Arguments by name: the given ones in order, constants for the rest."""
        arguments = function.args
        names = [argument.arg for argument in arguments.posonlyargs + arguments.args]
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or len(given) > len(names):
            raise Refusal(f"{function.name} has parameters that are not understood ({self.file.where(function)})")
        scope = dict(zip(names, given))
        defaults = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults))
        for name in names[len(given) :]:
            if name not in defaults or not isinstance(defaults[name], ast.Constant):
                raise Refusal(f"{function.name} needs the argument {name} ({self.file.where(function)})")
            scope[name] = ("const", defaults[name].value)
        return scope

    def _assign(self, target: ast.expr, value: Tree, scope: dict[str, Tree]) -> None:
        if isinstance(target, ast.Name):
            scope[target.id] = value
        elif isinstance(target, ast.Tuple) and value[0] == "tuple" and len(value) == len(target.elts) + 1:
            for item, part in zip(target.elts, value[1:]):
                self._assign(item, part, scope)
        else:
            raise self._unknown(target)

    def _unknown(self, node: ast.AST) -> Refusal:
        text = self.file.text(node).split("\n")[0]
        return Refusal(f"`{text}` at {self.file.where(node)} is not part of a computation that is known")

    def _value(self, node: ast.expr, scope: dict[str, Tree], depth: int) -> Tree:
        if isinstance(node, ast.Name):
            if node.id not in scope:
                raise self._unknown(node)
            return scope[node.id]
        if isinstance(node, ast.Constant):
            return ("const", node.value)
        if isinstance(node, (ast.Tuple, ast.List)):
            return ("tuple", *(self._value(item, scope, depth) for item in node.elts))
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            left, right = self._value(node.left, scope, depth), self._value(node.right, scope, depth)
            return (_BINARY[type(node.op)], left, right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._negative(self._value(node.operand, scope, depth))
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope, depth)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, scope, depth)
        if isinstance(node, ast.Call):
            return self._call(node, scope, depth)
        raise self._unknown(node)

    def _negative(self, value: Tree) -> Tree:
        return ("const", -value[1]) if value[0] == "const" else ("neg", value)

    def _attribute(self, node: ast.Attribute, scope: dict[str, Tree], depth: int) -> Tree:
        dotted = _dotted(node)
        if dotted in ("torch.float32", "torch.float"):
            return FLOAT32
        if dotted.startswith("self.") and dotted.count(".") == 1 and "self" in scope:
            return ("self", node.attr)
        if node.attr in ("dtype", "shape"):
            value = self._value(node.value, scope, depth)
            return dtype_of(value) if node.attr == "dtype" else ("shape", value)
        raise self._unknown(node)

    def _subscript(self, node: ast.Subscript, scope: dict[str, Tree], depth: int) -> Tree:
        value = self._value(node.value, scope, depth)
        if value[0] == "shape" and isinstance(node.slice, (ast.Constant, ast.UnaryOp)):
            return ("shape_at", value[1], self._value(node.slice, scope, depth)[1])
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        leading = len(items) == 2 and isinstance(items[0], ast.Constant) and items[0].value is Ellipsis
        if leading and isinstance(items[1], ast.Slice):
            parts = [None if part is None else self._value(part, scope, depth)
                     for part in (items[1].lower, items[1].upper, items[1].step)]
            return ("last_slice", value, *parts)
        raise self._unknown(node)

    def _call(self, node: ast.Call, scope: dict[str, Tree], depth: int) -> Tree:
        if any(isinstance(argument, ast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords):
            raise self._unknown(node)
        arguments = [self._value(argument, scope, depth) for argument in node.args]
        keywords = {keyword.arg: self._value(keyword.value, scope, depth) for keyword in node.keywords}
        dotted = _dotted(node.func)
        if isinstance(node.func, ast.Name) and node.func.id in self.functions and not keywords:
            callee = self.functions[node.func.id]
            return self.run(callee, self.bind(callee, arguments), depth + 1)
        if dotted.startswith("self.") and dotted[5:] in self.methods and not keywords:
            callee = self.methods[dotted[5:]]
            if callee.decorator_list:
                raise self._unknown(node)
            return self.run(callee, self.bind(callee, [("self_object",), *arguments]) | {"self": ("self_object",)}, depth + 1)
        if dotted.startswith(("torch.", "F.", "nn.functional.", "torch.nn.functional.")):
            result = _operator(dotted.split(".")[-1], arguments, keywords)
        elif isinstance(node.func, ast.Attribute):
            result = _operator(node.func.attr, [self._value(node.func.value, scope, depth), *arguments], keywords)
        else:
            result = None
        if result is None:
            raise self._unknown(node)
        return result


def _functions_defined_once(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Top-level functions whose names nothing else at the top level binds."""
    bound: list[str] = []
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            bound.append(statement.name)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.append(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                bound.append(node.name)
            elif isinstance(node, ast.alias):
                bound.append(node.asname or node.name.split(".")[0])
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and bound.count(node.name) == 1}


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def _operator(name: str, given: list[Tree], keywords: dict[str | None, Tree]) -> Tree | None:
    """A tensor operation as method or torch function; None when it is not known."""
    if not given:
        return None
    value, rest = given[0], given[1:]
    if name == "to" and len(rest) + len(keywords) == 1:
        dtype = (rest or [keywords.get("dtype", ("none",))])[0]
        return cast(value, dtype) if dtype == FLOAT32 or dtype[0] == "dtype" else None
    if name == "type_as" and len(rest) == 1 and not keywords:
        return cast(value, dtype_of(rest[0]))
    if name == "rms_norm":
        return ("rms_norm", value, *_named(["normalized_shape", "weight", "eps"], rest, keywords))
    if name == "mean":
        dim, keepdim = _named(["dim", "keepdim"], rest, keywords)
        dim = dim[1] if dim[0] == "tuple" and len(dim) == 2 else dim
        return ("mean", value) if (dim, keepdim) == (("const", -1), ("const", True)) else None
    if name in ("cat", "stack"):
        (dim,) = _named(["dim"], rest, keywords)
        return (name, value, dim)
    if name == "unsqueeze" and len(rest) + len(keywords) == 1:
        return ("unsqueeze", value, (rest or [keywords.get("dim", ("none",))])[0])
    if keywords:
        return None
    if name == "float" and not rest:
        return cast(value, FLOAT32)
    if name in _UNARY_METHODS and not rest:
        return (_UNARY_METHODS[name], value)
    if name == "square" and not rest:
        return ("pow", value, ("const", 2))
    if name in ("pow", "mul", "add", "flatten") and len(rest) == 1:
        return (name, value, rest[0])
    return None


def _named(names: list[str], rest: list[Tree], keywords: dict[str | None, Tree]) -> list[Tree]:
    values = dict(zip(names, rest)) | {str(key): value for key, value in keywords.items()}
    if len(rest) > len(names) or set(values) - set(names):
        return [("none",)] * len(names)
    return [values.get(name, ("none",)) for name in names]


def dtype_of(value: Tree) -> Tree:
    """The dtype of a value: that of its last cast, or the value's own."""
    return value[2] if value[0] == "cast" else ("dtype", value)


def cast(value: Tree, dtype: Tree) -> Tree:
    return value if dtype == ("dtype", value) or (value[0] == "cast" and value[2] == dtype) else ("cast", value, dtype)
