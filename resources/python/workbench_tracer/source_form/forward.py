"""The `forward` of a module's class, found in the file that defines it, with what stands against moving it to another file."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import torch

from .function import Function
from .refusal import Refusal
from .source_file import SourceFile

# Decorators that mean the same around a plain function as around a method, resolved to the module that defines them.
_KEPT_DECORATORS = frozenset({
    "transformers.utils.deprecation.deprecate_kwarg",
    "torch.utils._contextlib.no_grad",
    "torch.autograd.grad_mode.no_grad",
    "torch.autograd.grad_mode.inference_mode",
})


@dataclass
class Forward:
    """`owner` is the class of the module's bases that defines forward; several classes may share one owner."""

    owner: type
    module: ModuleType
    file: SourceFile
    class_node: ast.ClassDef
    function: Function

    @property
    def key(self) -> tuple[str, str]:
        return str(self.file.path), self.owner.__qualname__

    @property
    def name(self) -> str:
        return f"{self.owner.__name__}.forward"

    @property
    def node(self) -> ast.FunctionDef:
        return self.function.node

    @property
    def first_line(self) -> int:
        return min([self.node.lineno] + [decorator.lineno for decorator in self.node.decorator_list])

    def relative_path(self) -> str:
        """The file's path below the import root that holds it, `transformers/models/llama/modeling_llama.py`; of a model's own code
        the path in the model's directory."""
        if self.module.__name__.startswith("transformers_modules."):
            return self.file.path.name
        parts = self.module.__name__.split(".")
        tail = self.file.path.parts[-len(parts) :]
        if self.file.path.name == "__init__.py":
            tail = self.file.path.parts[-len(parts) - 1 :]
        return "/".join(tail)

    def global_value(self, name: str) -> Any:
        """What a bare name means in the file; None when it is not defined there."""
        return vars(self.module).get(name, getattr(builtins, name, None))

    def evaluate(self, node: ast.expr) -> Any:
        """The value of a dotted global name such as `nn.functional.silu`; None for anything else."""
        if isinstance(node, ast.Name):
            return None if node.id in self.function.parameters else self.global_value(node.id)
        if isinstance(node, ast.Attribute):
            base = self.evaluate(node.value)
            return None if base is None else getattr(base, node.attr, None)
        return None

    def require_torch(self) -> None:
        """The new lines call torch.ops: `torch` must mean the package in this file and function."""
        stored = {node.id for node in ast.walk(self.node) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        if self.global_value("torch") is not torch or "torch" in stored or "torch" in self.function.parameters:
            raise Refusal(f"the name torch does not mean the torch package in {self.name} ({self.function.where(self.node)})")

    def require_private_children(self, names: tuple[str, ...], instance: torch.nn.Module) -> None:
        """Nothing but constructors and this forward may reach the children that a merge takes away."""
        for node, inside in _class_functions(type(instance)):
            if node.name in ("__init__", "forward"):  # a base's forward does not run: super is refused
                continue
            for use in ast.walk(node):
                if isinstance(use, ast.Attribute) and use.attr in names:
                    raise Refusal(f"{use.attr} is also used in {inside.__name__}.{node.name}, so it cannot be merged away")
        for use in ast.walk(self.file.tree):
            if isinstance(use, ast.Attribute) and use.attr in names and not _is_self(use.value):
                raise Refusal(f"{use.attr} is also reached from outside of its module at {self.file.where(use)}")
        for use in ast.walk(self.node):
            if isinstance(use, ast.Constant) and use.value in names:
                raise Refusal(f"{use.value!r} is named in a string at {self.file.where(use)}, so it may be looked up by name")

    def require_free_attribute(self, name: str, instance: torch.nn.Module) -> None:
        """A generated attribute must be new to the instance, to its classes and to the source."""
        if hasattr(instance, name) or self.function.self_attributes(name):
            raise Refusal(f"{self.owner.__name__} has an attribute {name} already, the name that the merged layer needs")


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


@lru_cache(maxsize=None)
def read_source(path: str) -> SourceFile:
    return SourceFile.read(Path(path))


def find_forward(instance: torch.nn.Module) -> Forward:
    """The forward that runs for `instance`. Refuses with the reason when its source cannot be found or moved."""
    if "forward" in vars(instance):
        raise Refusal(f"this {type(instance).__name__} has a forward of its own, set on the instance")
    owner = next(base for base in type(instance).__mro__ if "forward" in vars(base))
    forward = _forward_of_class(owner)
    if isinstance(forward, Refusal):
        raise forward
    return forward


@lru_cache(maxsize=None)
def _forward_of_class(owner: type) -> Forward | Refusal:
    try:
        return _load(owner)
    except Refusal as refusal:
        return refusal


def _load(owner: type) -> Forward:
    raw = vars(owner)["forward"]
    name = f"{owner.__name__}.forward"
    if not isinstance(raw, FunctionType):
        raise Refusal(f"{name} is no plain function but a {type(raw).__name__}")
    plain = inspect.unwrap(raw)
    if plain.__code__.co_freevars == ("__class__",):
        raise Refusal(f"{name} uses super, which needs the class around it")
    if "<locals>" in owner.__qualname__ or plain.__code__.co_freevars:
        raise Refusal(f"{name} is a closure: it uses {', '.join(plain.__code__.co_freevars) or 'the function around it'}")
    module = sys.modules.get(owner.__module__)
    path = getattr(module, "__file__", None)
    if module is None or path is None or not Path(path).is_file() or not path.endswith(".py"):
        raise Refusal(f"the source of {name} is not available")
    file = read_source(str(Path(path).resolve()))
    class_node = _find_class(file, owner)
    nodes = [node for node in class_node.body if isinstance(node, ast.FunctionDef) and node.name == "forward"]
    if len(nodes) != 1:
        raise Refusal(f"{path} defines {name} {len(nodes)} times")
    forward = Forward(owner, module, file, class_node, Function(file, nodes[0]))
    if Path(plain.__code__.co_filename).resolve() != file.path or plain.__code__.co_firstlineno != forward.first_line:
        raise Refusal(f"the {name} that runs is not the one at {file.where(nodes[0])}; it was replaced after import")
    _require_movable(forward)
    return forward


def _find_class(file: SourceFile, owner: type) -> ast.ClassDef:
    body: list[ast.stmt] = file.tree.body
    found: ast.ClassDef | None = None
    for part in owner.__qualname__.split("."):
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == part]
        if len(classes) != 1:
            raise Refusal(f"{file.path.name} defines the class {owner.__qualname__} {len(classes)} times")
        found = classes[0]
        body = found.body
    assert found is not None
    return found


def _require_movable(forward: Forward) -> None:
    """The function must mean the same outside of its class body."""
    node, where = forward.node, forward.function.where
    if not forward.function.parameters or forward.function.parameters[0] != "self":
        raise Refusal(f"the first parameter of {forward.name} is not self")
    for decorator in node.decorator_list:
        target = forward.evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator)
        known = f"{getattr(target, '__module__', '')}.{getattr(target, '__qualname__', '')}"
        if known not in _KEPT_DECORATORS:
            raise Refusal(f"{forward.name} has the decorator {forward.file.text(decorator)} at {where(decorator)}, whose effect "
                          "cannot be kept")
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in ("super", "__class__", "locals", "vars", "exec", "eval"):
            raise Refusal(f"{forward.name} uses {inner.id} at {where(inner)}, which needs the class or frame around it")
        name = inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""
        if name.startswith("__") and not name.endswith("__"):
            raise Refusal(f"{forward.name} uses the mangled name {name} at {where(inner)}")
        if isinstance(inner, ast.Name) and inner.id == "self" and not isinstance(inner.ctx, ast.Load):
            raise Refusal(f"{forward.name} binds self again at {where(inner)}")


def _class_functions(owner: type) -> list[tuple[ast.FunctionDef, type]]:
    """Every method of the class and of its bases short of torch's own, with the class that has it."""
    found = []
    for base in owner.__mro__:
        if base is object or base.__module__.startswith("torch."):
            continue
        path = getattr(sys.modules.get(base.__module__), "__file__", None)
        if path is None:
            raise Refusal(f"the source of {base.__name__}, a base of {owner.__name__}, is not available")
        node = _find_class(read_source(str(Path(path).resolve())), base)
        found += [(item, base) for item in node.body if isinstance(item, ast.FunctionDef)]
    return found
