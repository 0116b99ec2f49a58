"""The request: which sites of which model shall become source. Written by the session from the plan's applied sites.

    {"schema": 1, "model": DIR, "trust_remote_code": false,
     "dtype": "float32",                                                   optional: what was traced
     "sources": {"<file>": "<sha256>"},                                    optional: the files that the trace recorded
     "sites": [{"id": "qkv@model.layers.0.self_attn", "pattern": "qkv", "module": "model.layers.0.self_attn",
                "nodes": [{"op": "aten.linear.default", "module": "...q_proj", "role": "q", "file": "...", "line": 257,
                           "function": "forward"}, ...],
                "params": {...}}]}

The sites come in the order of the plan, those of larger patterns first: of two that want the same lines, the first has them.
`params` by pattern, each checked against the source where present (cast only of a trace that rounds, so not of float32):
    qkv           weights: the parameters in the order in which they concatenate; else those of the nodes with roles q, k, v
    gate-up       weights: gate, up; else those of the nodes with these roles;  activation
    rms-norm      weight, eps, weight_offset, cast
    add-rms-norm  the same;  nodes: the add of the residual has another module than the norm's
    rope          style
    qk-norm-rope  query_weight, key_weight, eps, weight_offset, cast, style
    attention, moe, moe-router  none: these have no source form, and the module tells where to look for the reason
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import bad_input, one_line

SCHEMA = 1


@dataclass(frozen=True)
class Node:
    """One traced operation of a site, with the source line that made it."""

    op: str
    module: str
    role: str
    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Site:
    id: str
    pattern: str
    module: str
    nodes: tuple[Node, ...]
    params: dict[str, Any] = field(default_factory=dict)

    def weights(self, *roles: str) -> list[str]:
        """The parameters that a merge takes, in order: the plan's list, else the weights of the nodes with these roles."""
        named = [str(name) for name in self.params.get("weights", [])]
        by_role = {node.role: f"{node.module}.weight" for node in self.nodes}
        return named or [by_role[role] for role in roles if role in by_role]


@dataclass(frozen=True)
class Request:
    model: Path
    trust_remote_code: bool
    sources: dict[str, str]
    sites: tuple[Site, ...]
    dtype: str = ""


def read_request(path: Path) -> Request:
    """Raises TracerError `bad-request` with the file and the field."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise bad_input("bad-request", f"The request {path} cannot be read: {one_line(error)}.", path) from error
    try:
        return _parse(data)
    except (KeyError, TypeError, AttributeError) as error:
        raise bad_input("bad-request", f"The request {path} lacks or misuses a field: {one_line(error)}.", path) from error


def _parse(data: dict[str, Any]) -> Request:
    if data["schema"] != SCHEMA:
        raise bad_input("bad-request", f"The request has schema {data['schema']!r}, this version reads {SCHEMA}.")
    sites = tuple(_site(entry) for entry in data["sites"])
    names = [site.id for site in sites]
    if len(set(names)) != len(names):
        raise bad_input("bad-request", "Two sites of the request have the same id.")
    return Request(Path(data["model"]), bool(data.get("trust_remote_code", False)), dict(data.get("sources", {})), sites,
                   str(data.get("dtype", "")))


def _site(entry: dict[str, Any]) -> Site:
    nodes = tuple(Node(str(node.get("op", "")), str(node.get("module", "")), str(node.get("role", "")),
                       str(node.get("file", "")), int(node.get("line", 0)), str(node.get("function", "")))
                  for node in entry.get("nodes", []))
    return Site(str(entry["id"]), str(entry["pattern"]), str(entry["module"]), nodes, dict(entry.get("params", {})))
