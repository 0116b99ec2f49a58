"""Archives that the C++ writer makes are archives to torch: they load, run, save, and compile."""

from __future__ import annotations

import io
import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from toy import HIDDEN, LENGTHS, Toy, export, ids
from trace_loading import load_trace

Tool = Callable[..., subprocess.CompletedProcess[str]]


def succeed(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("decompose", [True, False])
def test_a_copy_gives_the_same_bits(decompose: bool, tmp_path: Path, tool: Tool) -> None:
    original = export(tmp_path / "toy.pt2", decompose=decompose)
    succeed(tool("copy", tmp_path / "toy.pt2", tmp_path / "copy.pt2"))
    copy = torch.export.load(tmp_path / "copy.pt2")
    copy.validate()
    for length in LENGTHS:
        assert torch.equal(copy.module()(ids(length)), original.module()(ids(length))), length
    assert set(copy.state_dict) == set(original.state_dict)


def test_a_copy_survives_load_and_save(tmp_path: Path, tool: Tool) -> None:
    export(tmp_path / "toy.pt2", decompose=True)
    succeed(tool("copy", tmp_path / "toy.pt2", tmp_path / "copy.pt2"))
    buffer = io.BytesIO()
    torch.export.save(torch.export.load(tmp_path / "copy.pt2"), buffer)
    (tmp_path / "again.pt2").write_bytes(buffer.getvalue())
    again = torch.export.load(tmp_path / "again.pt2")
    assert torch.equal(again.module()(ids(9)), Toy()(ids(9)))
    assert tool("print", tmp_path / "again.pt2").stdout.count(" = ") == tool("print", tmp_path / "copy.pt2").stdout.count(" = ")


def test_a_copy_compiles(tmp_path: Path, tool: Tool) -> None:
    export(tmp_path / "toy.pt2", decompose=True)
    succeed(tool("copy", tmp_path / "toy.pt2", tmp_path / "copy.pt2"))
    program = torch.export.load(tmp_path / "copy.pt2")
    compiled = torch.compile(program.module(), backend="aot_eager")
    with torch.no_grad():
        torch.testing.assert_close(compiled(ids(9)), Toy()(ids(9)))
    args, kwargs = program.example_inputs
    assert not kwargs and args[0].dtype == torch.int64 and args[0].shape[0] == 1


def test_a_trace_with_weights_is_copied(traced: Callable[..., Path], tmp_path: Path, tool: Tool) -> None:
    archive = traced("llama", full=True, replica=True) / "trace.pt2"
    succeed(tool("copy", archive, tmp_path / "copy.pt2"))
    original, copy = load_trace(archive).module(), torch.export.load(tmp_path / "copy.pt2").module()
    for length in LENGTHS:
        call = (torch.arange(length)[None] * 5 % 31, torch.arange(length)[None], torch.tensor([length - 1, 0]))
        assert torch.equal(copy(*call), original(*call)), length


def rewritten(text: str) -> str:
    """The norm by one operator of ours; q, k and v by one product with a merged weight."""
    lines = text.splitlines()
    norm = [i for i, line in enumerate(lines) if '@"norm"' in line and " = " in line]
    source = re.search(r"self=(%\w+)", lines[norm[0]])
    result = re.match(r"%\w+: f32\[[^\]]*\]", lines[norm[-1]])
    assert source and result and len(norm) == 6, text
    weight = re.search(r'(%\w+): f32\[\d+\] "norm.weight"', text)
    assert weight
    lines[norm[-1]] = (
        f"{result[0]} = workbench.rms_norm(input={source[1]}, weight={weight[1]}, eps=1e-05, weight_offset=0.0, "
        'cast="before_weight") @"norm"'
    )
    linears = [i for i, line in enumerate(lines) if re.search(r'aten.linear.default.*@"[qkv]"', line)]
    outputs = [lines[i].partition(" = ")[0] for i in linears]
    size = re.search(r"f32\[(1, \w+), ", outputs[0])
    assert size and len(linears) == 3
    first = lines[linears[0]]
    operand = re.search(r"input=(%\w+)", first)
    assert operand
    merged = [
        f"%qkv: f32[{size[1]}, {12 + HIDDEN}] = aten.linear.default(input={operand[1]}, weight=%p_qkv_weight)",
        f"{', '.join(outputs)} = aten.split_with_sizes.default(self=%qkv, split_sizes=[8, 4, {HIDDEN}], dim=-1)",
    ]
    removed = {*norm[:-1], *linears[1:]}
    kept = [line for i, line in enumerate(lines) if i not in removed]
    at = kept.index(first)
    kept[at : at + 1] = merged
    parameter = f'parameter %p_qkv_weight: f32[{12 + HIDDEN}, {HIDDEN}] "qkv.weight" = cat(0, "q.weight", "k.weight", "v.weight")'
    return "\n".join([parameter, *kept]) + "\n"


def test_a_rewritten_graph_gives_the_same_numbers(tmp_path: Path, tool: Tool) -> None:
    export(tmp_path / "toy.pt2", decompose=True)
    (tmp_path / "graph.txt").write_text(rewritten(succeed(tool("print", tmp_path / "toy.pt2"))))
    succeed(tool("write", tmp_path / "graph.txt", tmp_path / "toy.pt2", tmp_path / "fused.pt2"))
    fused = torch.export.load(tmp_path / "fused.pt2")
    targets = [str(node.target) for node in fused.graph.nodes if node.op == "call_function"]
    assert "workbench.rms_norm.default" in targets and "aten.rsqrt.default" not in targets and targets.count("aten.linear.default") == 2
    assert "qkv.weight" in fused.state_dict and "q.weight" not in fused.state_dict
    for length in LENGTHS:
        torch.testing.assert_close(fused.module()(ids(length)), Toy()(ids(length)), rtol=0, atol=2e-6)


def test_members_are_aligned_and_stored(tmp_path: Path, tool: Tool) -> None:
    export(tmp_path / "toy.pt2", decompose=True)
    succeed(tool("copy", tmp_path / "toy.pt2", tmp_path / "copy.pt2"))
    bytes_ = (tmp_path / "copy.pt2").read_bytes()
    with zipfile.ZipFile(tmp_path / "copy.pt2") as archive:
        assert archive.testzip() is None
        for entry in archive.infolist():
            assert entry.compress_type == zipfile.ZIP_STORED
            if "/data/" in entry.filename and entry.file_size:
                assert bytes_.find(archive.read(entry)) % 64 == 0, entry.filename


def test_an_unwritable_place_is_one_sentence(tmp_path: Path, tool: Tool) -> None:
    export(tmp_path / "toy.pt2", decompose=True)
    result = tool("copy", tmp_path / "toy.pt2", tmp_path / "missing" / "copy.pt2")
    assert result.returncode == 3 and result.stderr.strip().endswith("missing/copy.pt2: No such file or directory.")
