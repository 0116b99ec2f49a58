"""The live model that sites name modules of, and the checks that all patterns share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from .forward import Forward, find_forward
from .refusal import Refusal
from .request import Site


@dataclass
class Context:
    model: torch.nn.Module
    sources: dict[str, str] = field(default_factory=dict)
    dtype: str = ""  # of the trace, where it is known

    def __post_init__(self) -> None:
        self.modules: dict[str, torch.nn.Module] = dict(self.model.named_modules())
        self._owners: dict[int, list[str]] = {}
        for name, parameter in self.model.named_parameters(remove_duplicate=False):
            self._owners.setdefault(id(parameter), []).append(name)

    def module(self, path: str) -> torch.nn.Module:
        if path not in self.modules:
            raise Refusal(f"the model has no module {path}")
        return self.modules[path]

    def forward(self, path: str, site: Site) -> Forward:
        """The forward of a module, checked against what the trace recorded about it."""
        forward = find_forward(self.module(path))
        last = forward.node.end_lineno
        for node in site.nodes:
            if node.module != path or node.function != "forward" or not node.file:
                continue
            if Path(node.file).name != forward.file.path.name or not forward.first_line <= node.line <= last:
                raise Refusal(f"the trace recorded {node.file}:{node.line}, but the installed {forward.name} is "
                              f"{forward.file.path.name}:{forward.first_line}-{last}; trace again with this version")
        self._require_same_file(forward)
        return forward

    def _require_same_file(self, forward: Forward) -> None:
        for path, digest in self.sources.items():
            if path.endswith(forward.relative_path()) and digest.removeprefix("sha256:") != forward.file.sha256:
                raise Refusal(f"{forward.file.path.name} is not the file that was traced (its hash differs); trace again")

    def child_linears(self, path: str, weights: list[str]) -> tuple[str, ...]:
        """Names of the direct children of `path` whose weights these are: plain linears that may be merged, in this order."""
        names = []
        for weight in weights:
            parent, _, name = weight.removesuffix(".weight").rpartition(".")
            if parent != path or not weight.endswith(".weight"):
                raise Refusal(f"{weight} does not belong to a direct child of {path}")
            names.append(name)
        linears = [self.module(f"{path}.{name}") for name in names]
        self._require_mergeable(path, names, linears)
        return tuple(names)

    def _require_mergeable(self, path: str, names: list[str], linears: list[Any]) -> None:
        if len(set(names)) != len(names):
            raise Refusal(f"{path} would merge {names[0]} with itself")
        for name, linear in zip(names, linears):
            if type(linear) is not torch.nn.Linear:
                raise Refusal(f"{path}.{name} is a {type(linear).__name__}, not a plain torch.nn.Linear")
            for parameter in linear.parameters():
                owners = self._owners[id(parameter)]
                if len(owners) > 1:
                    raise Refusal(f"{path}.{name} shares a parameter with {', '.join(o for o in owners if name not in o)}")
        if len({linear.in_features for linear in linears}) != 1:
            raise Refusal(f"{', '.join(names)} of {path} have different input widths")
        if len({linear.bias is None for linear in linears}) != 1:
            raise Refusal(f"of {', '.join(names)} of {path} some have a bias and some have none")


def require_equal(name: str, planned: Any, found: Any) -> None:
    """A parameter of the plan must be what the source says; the two were derived apart."""
    same = planned == found if not isinstance(found, float) else _close(planned, found)
    if planned is not None and not same:
        raise Refusal(f"the plan says {name} = {planned!r}, the source says {found!r}")


def _close(planned: Any, found: float) -> bool:
    return isinstance(planned, (int, float)) and abs(planned - found) <= 1e-6 * abs(found)
