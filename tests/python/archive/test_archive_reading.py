"""Graphs that the C++ reader makes of torch's archives say what torch's own programs say."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from toy import Toy, export, ids
from torch import nn
from trace_loading import load_trace

Tool = Callable[..., subprocess.CompletedProcess[str]]

CHECKS = ("_assert_tensor_metadata", "_assert_scalar", "sym_constrain_range")
DTYPES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.int64: "i64", torch.bool: "bool"}


def described(program: torch.export.ExportedProgram) -> list[tuple[str, list[str]]]:
    """(operator, results as text) of each node that makes tensors, in order."""
    nodes = []
    for node in program.graph.nodes:
        value = node.meta.get("val")
        values = [value] if isinstance(value, torch.Tensor) else list(value) if isinstance(value, (list, tuple)) else []
        if node.op != "call_function" or not values or any(check in str(node.target) for check in CHECKS) or "getitem" in str(node.target):
            continue
        target = str(node.target)
        nodes.append((target.removesuffix(".default") if target.startswith("workbench.") else target, [text_of(each) for each in values]))
    return nodes


def text_of(tensor: torch.Tensor) -> str:
    return f"{DTYPES[tensor.dtype]}[{', '.join(str(size).replace('((', '(').replace('))', ')') for size in tensor.shape)}]"


def read_back(text: str) -> list[tuple[str, list[str]]]:
    nodes = []
    for line in text.splitlines():
        if line.startswith("%"):
            results, _, rest = line.partition(" = ")
            nodes.append((rest[: rest.index("(")], re.findall(r": (\w+\[[^\]]*\])", results)))
    return nodes


@pytest.mark.parametrize("name", ["llama", "gemma3", "qwen3-moe"])
def test_traces_are_read_node_by_node(name: str, traced: Callable[..., Path], tool: Tool) -> None:
    archive = traced(name) / "trace.pt2"
    text = tool("print", archive).stdout
    program = load_trace(archive)
    assert read_back(text) == described(program)
    arguments = [line for line in text.splitlines() if "workbench.attention(" in line]
    calls = [node for node in program.graph.nodes if "workbench.attention" in str(node.target)]
    assert len(arguments) == len(calls) > 0
    for line, call in zip(arguments, calls, strict=True):
        query = call.args[0].name
        scale = call.kwargs["scale"]
        assert f"query=%{query}, " in line and f"layer={call.kwargs['layer']}, scale={scale!r}, mask=\"{call.kwargs['mask']}\"" in line
        module = list(call.meta["nn_module_stack"].values())[-1][0]
        assert f'@"{module}"' in line


@pytest.mark.parametrize("decompose", [True, False])
def test_archives_of_others_are_read(decompose: bool, tmp_path: Path, tool: Tool) -> None:
    program = export(tmp_path / "toy.pt2", decompose=decompose)
    printed = tool("print", tmp_path / "toy.pt2")
    assert printed.returncode == 0, printed.stderr
    regions = [node for node in program.graph.nodes if "set_grad_enabled" in str(node.target)]
    inlined = [entry for entry in read_back(printed.stdout) if entry[0] in ("aten.arange.default", "aten.cos.default")]
    assert len(inlined) == 2
    if not regions:
        assert read_back(printed.stdout) == described(program)
    assert '"embed.weight"' in printed.stdout and 'buffer %b_computed: f32[12] "computed"' in printed.stdout


def test_a_program_that_writes_to_a_buffer_is_refused(tmp_path: Path, tool: Tool) -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1)
            return x * self.count

    for decompose in (True, False):
        program = torch.export.export(Counter(), (torch.ones(3),))
        torch.export.save(program.run_decompositions({}) if decompose else program, tmp_path / "counter.pt2")
        printed = tool("print", tmp_path / "counter.pt2")
        assert printed.returncode == 3 and not printed.stdout
        assert "count" in printed.stderr and len(printed.stderr.splitlines()) == 1, printed.stderr


def test_a_branch_is_refused(tmp_path: Path, tool: Tool) -> None:
    class Branch(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))

    torch.export.save(torch.export.export(Branch(), (torch.ones(3),)), tmp_path / "branch.pt2")
    printed = tool("print", tmp_path / "branch.pt2")
    assert printed.returncode == 3 and "cond; only flat programs can be used" in printed.stderr


def test_sizes_that_depend_on_data_are_refused(tmp_path: Path, tool: Tool) -> None:
    class Select(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[x > 0].exp()

    torch.export.save(torch.export.export(Select(), (torch.ones(3),)), tmp_path / "select.pt2")
    printed = tool("print", tmp_path / "select.pt2")
    assert printed.returncode == 3 and "depends on data" in printed.stderr, printed.stderr


def test_the_toy_is_what_was_exported(tmp_path: Path) -> None:
    program = export(tmp_path / "toy.pt2", decompose=True)
    torch.testing.assert_close(program.module()(ids(9)), Toy()(ids(9)))
