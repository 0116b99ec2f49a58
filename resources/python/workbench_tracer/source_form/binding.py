"""Binds emitted sources to a live transformers model: merges the weights and replaces forward, instance by instance.

After binding, state-dict names are the merged ones: rows of `<module>.qkv_proj.weight` are those of q, k and v, in the order of
`model.workbench_merged`, which is index.json's `merged`. load_state_dict takes the original names too; `original_state_dict` gives
them back. Nothing is changed unless everything fits.
"""

from __future__ import annotations

import hashlib
import json
import sys
import types
from pathlib import Path
from typing import Any, Callable

import torch

from .forward import find_forward
from .refusal import BindError, Refusal

SCHEMA = 1


def bind(model: torch.nn.Module, out_dir: str | Path) -> torch.nn.Module:
    """Returns `model`, changed in place. Raises BindError, with the model as it was, when a source does not fit it."""
    out = Path(out_dir)
    index = _read_index(out)
    modules = dict(model.named_modules())
    owners = _parameter_owners(model)
    work: list[tuple[str, torch.nn.Module, dict[str, Any], Callable[..., Any]]] = []
    for entry in index["classes"]:
        function = _load_forward(out / entry["python"])
        for path in entry["instances"]:
            _require_fit(path, modules.get(path), entry, owners)
            work.append((path, modules[path], entry, function))
    for path, module, entry, function in work:
        for merge, sizes in zip(entry["merges"], entry["sizes"].get(path, [])):
            _merge(module, merge, sizes)
        module.forward = types.MethodType(function, module)
    model.workbench_merged = index["merged"]
    return model


def original_state_dict(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The state dict of a bound model under the names that it had before: merged rows come apart (views, not copies)."""
    result: dict[str, torch.Tensor] = {}
    for name, tensor in model.state_dict().items():
        module, _, kind = name.rpartition(".")
        parts = model.workbench_merged.get(module)
        if parts is None:
            result[name] = tensor
            continue
        for part, rows in zip(parts, tensor.split([part["rows"] for part in parts])):
            result[f"{part['name']}.{kind}"] = rows
    return result


def _read_index(out: Path) -> dict[str, Any]:
    try:
        index = json.loads((out / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BindError(f"{out / 'index.json'} cannot be read: {error}") from error
    if index.get("schema") != SCHEMA:
        raise BindError(f"{out / 'index.json'} has schema {index.get('schema')!r}, this version reads {SCHEMA}")
    return index


def _load_forward(path: Path) -> Callable[..., Any]:
    if not path.is_file():
        raise BindError(f"{path} is missing")
    name = f"workbench_source_{hashlib.sha256(str(path.resolve()).encode() + path.read_bytes()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name].forward
    module = types.ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # torch.compile imports a function's module by its name
    try:
        exec(compile(path.read_bytes(), path, "exec"), vars(module))  # a loader would leave compiled files beside the sources
    except ImportError as error:
        del sys.modules[name]
        raise BindError(f"{path} cannot be imported: {error}") from error
    return module.forward


def _parameter_owners(model: torch.nn.Module) -> dict[int, int]:
    count: dict[int, int] = {}
    for _, parameter in model.named_parameters(remove_duplicate=False):
        count[id(parameter)] = count.get(id(parameter), 0) + 1
    return count


def _require_fit(path: str, module: torch.nn.Module | None, entry: dict[str, Any], owners: dict[int, int]) -> None:
    if module is None:
        raise BindError(f"the model has no module {path}")
    try:
        forward = find_forward(module)
    except Refusal as refusal:
        raise BindError(f"{path}: {refusal}") from refusal
    if (forward.owner.__module__, forward.owner.__qualname__) != (entry["module"], entry["class"]):
        raise BindError(f"{path} is a {forward.owner.__qualname__}, the source was made for {entry['class']}")
    if forward.file.sha256 != entry["source_sha256"]:
        raise BindError(f"{forward.file.path} is not the file that {entry['python']} was made from; make it again")
    for child in entry["bypassed"]:
        part = getattr(module, child, None)
        if isinstance(part, torch.nn.Module) and _has_hooks(part):
            raise BindError(f"{path}.{child} has hooks, which the fused op would not run; remove them first")
    for merge, sizes in zip(entry["merges"], entry["sizes"].get(path, [])):
        _require_mergeable(path, module, merge, sizes, owners)


def _require_mergeable(path: str, module: torch.nn.Module, merge: dict[str, Any], sizes: list[int], owners: dict[int, int]) -> None:
    if hasattr(module, merge["name"]):
        raise BindError(f"{path} has an attribute {merge['name']} already")
    linears = [getattr(module, child, None) for child in merge["children"]]
    for child, linear, rows in zip(merge["children"], linears, sizes):
        if type(linear) is not torch.nn.Linear:
            raise BindError(f"{path}.{child} is a {type(linear).__name__}, not a plain torch.nn.Linear")
        if linear.out_features != rows:
            raise BindError(f"{path}.{child} has {linear.out_features} rows, the source was made for {rows}")
        if _has_hooks(linear):
            raise BindError(f"{path}.{child} has hooks, which merging would lose; remove them first")
        if any(owners[id(parameter)] > 1 for parameter in linear.parameters()):
            raise BindError(f"{path}.{child} shares a parameter with another module")
    kinds = {(p.dtype, p.device, p.requires_grad) for linear in linears for p in linear.parameters()}
    if len(kinds) != 1 or len({(linear.in_features, linear.bias is None) for linear in linears}) != 1:
        raise BindError(f"{', '.join(merge['children'])} of {path} differ in dtype, device, width, bias or requires_grad")


def _has_hooks(module: torch.nn.Module) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or module._backward_pre_hooks)


@torch.no_grad()
def _merge(module: torch.nn.Module, merge: dict[str, Any], sizes: list[int]) -> None:
    linears = [getattr(module, child) for child in merge["children"]]
    first = linears[0]
    merged = torch.nn.Linear(first.in_features, sum(sizes), bias=first.bias is not None, device="meta")
    needs_grad = first.weight.requires_grad
    merged.weight = torch.nn.Parameter(torch.cat([linear.weight for linear in linears]), needs_grad)
    if first.bias is not None:
        merged.bias = torch.nn.Parameter(torch.cat([linear.bias for linear in linears]), needs_grad)
    merged.train(module.training)
    for child in merge["children"]:
        delattr(module, child)
    setattr(module, merge["name"], merged)
    if merge["sizes_attribute"]:
        setattr(module, merge["sizes_attribute"], tuple(sizes))
    module.register_load_state_dict_pre_hook(_AcceptOriginalNames(merge["name"], tuple(merge["children"])))


class _AcceptOriginalNames:
    """Lets load_state_dict take `q_proj.weight` and its siblings in the place of the merged weight."""

    def __init__(self, name: str, children: tuple[str, ...]) -> None:
        self.name = name
        self.children = children

    def __call__(self, module: torch.nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
        for kind in ("weight", "bias"):
            parts = [f"{prefix}{child}.{kind}" for child in self.children]
            if all(part in state for part in parts):
                state[f"{prefix}{self.name}.{kind}"] = torch.cat([state.pop(part) for part in parts])
