"""Binding emitted source to a live model is refused where it would lose something, and the model stays as it was."""

from __future__ import annotations

from typing import Any, Callable

import pytest
import torch
from toys import ATTENTION, GATE_UP, MLP, PLAIN, QKV, subclass, tied, toy_emit, toy_model, toy_source
from workbench_tracer.source_form import BindError, bind


def _bind_error(change: Callable[[torch.nn.Module], Any], import_text, tmp_path) -> str:
    """Binding is refused after the change, and the model computes as before."""
    model = toy_model(import_text(toy_source(ATTENTION, PLAIN)))
    toy_emit(model, [QKV], tmp_path / "out")
    change(model.part)
    names = [name for name, _ in model.named_parameters()]
    with pytest.raises(BindError) as error:
        bind(model, tmp_path / "out")
    assert [name for name, _ in model.named_parameters()] == names
    return str(error.value)


def _hook(part): part.q_proj.register_forward_hook(lambda *_: None)
def _frozen(part): part.q_proj.requires_grad_(False)
def _half(part): part.q_proj.half()
def _taller(part): part.q_proj = torch.nn.Linear(8, 6)


@pytest.mark.parametrize("change, expected", [
    (_hook, "has hooks"), (_frozen, "requires_grad"), (_half, "dtype"), (subclass, "not a plain torch.nn.Linear"),
    (tied, "shares a parameter"), (_taller, "has 6 rows"),
])
def test_bind_refuses_what_it_would_lose(change, expected, import_text, tmp_path):
    assert expected in _bind_error(change, import_text, tmp_path)


def test_bind_refuses_a_second_time(import_text, tmp_path):
    model = toy_model(import_text(toy_source(ATTENTION, PLAIN)))
    toy_emit(model, [QKV], tmp_path / "out")
    bind(model, tmp_path / "out")
    with pytest.raises(BindError, match="set on the instance"):
        bind(model, tmp_path / "out")


def test_bind_refuses_another_file_version(import_text, tmp_path):
    model = toy_model(import_text(toy_source(ATTENTION, PLAIN)))
    toy_emit(model, [QKV], tmp_path / "out")
    index = tmp_path / "out" / "index.json"
    index.write_text(index.read_text().replace('"source_sha256": "', '"source_sha256": "0'))
    with pytest.raises(BindError, match="is not the file"):
        bind(model, tmp_path / "out")


def _watched_activation(part): part.act_fn.register_forward_hook(lambda *_: None)


def test_bind_refuses_hooks_on_what_an_op_replaces(import_text, tmp_path):
    model = toy_model(import_text(toy_source(MLP, "return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))", activation="nn.SiLU()")))
    toy_emit(model, [GATE_UP], tmp_path / "out")
    _watched_activation(model.part)
    with pytest.raises(BindError, match="act_fn has hooks"):
        bind(model, tmp_path / "out")
