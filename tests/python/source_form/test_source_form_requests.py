"""The command: bad input, models with code of their own, and sources that would not run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zoo
from made_requests import write_request
from workbench_tracer.errors import TracerError
from workbench_tracer.events import Events
from workbench_tracer.source_form import main, write_sources

REMOTE_CONFIG = '''from transformers import PretrainedConfig


class ToyConfig(PretrainedConfig):
    model_type = "toy-with-code"
'''

REMOTE_MODEL = '''from pathlib import Path

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

from .configuration_toy import ToyConfig

Path(__file__).with_name("was_imported").touch()


class ToyAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(8, 8, bias=False)
        self.k_proj = nn.Linear(8, 8, bias=False)
        self.v_proj = nn.Linear(8, 8, bias=False)

    def forward(self, x):
        batch, tokens, _ = x.shape
        query = self.q_proj(x).view(batch, tokens, 2, 4)
        key = self.k_proj(x).view(batch, tokens, 2, 4)
        value = self.v_proj(x).view(SHAPE)
        weights = torch.einsum("bqhd,bkhd->bhqk", query, key).softmax(-1)
        return torch.einsum("bhqk,bkhd->bqhd", weights, value.view(batch, tokens, 2, 4)).reshape(x.shape)


class ToyForCausalLM(PreTrainedModel):
    config_class = ToyConfig

    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(17, 8)
        self.attention = ToyAttention()
        self.head = nn.Linear(8, 17)
        self.post_init()

    def forward(self, input_ids, use_cache=False):
        return CausalLMOutput(logits=self.head(self.attention(self.embed(input_ids))))
'''

SITE = {"id": "qkv@attention", "pattern": "qkv", "module": "attention", "nodes": [],
        "params": {"weights": [f"attention.{name}_proj.weight" for name in "qkv"]}}


def _remote_model(folder: Path, shape: str) -> Path:
    folder.mkdir()
    (folder / "configuration_toy.py").write_text(REMOTE_CONFIG)
    (folder / "modeling_toy.py").write_text(REMOTE_MODEL.replace("SHAPE", shape))
    auto_map = {"AutoConfig": "configuration_toy.ToyConfig", "AutoModelForCausalLM": "modeling_toy.ToyForCausalLM"}
    (folder / "config.json").write_text(json.dumps({"model_type": "toy-with-code", "auto_map": auto_map}))
    return folder


def _python(tmp_path: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs in a process and a Hugging Face cache of its own: code of a model must not stay in this one."""
    import workbench_tracer

    environment = {"PYTHONPATH": str(Path(workbench_tracer.__file__).parent.parent), "HF_HOME": str(tmp_path / "hf"),
                   "PATH": os.environ["PATH"]}
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment)


MAIN = "import sys; from workbench_tracer.source_form import main; sys.exit(main(sys.argv[1:]))"


def _run(tmp_path: Path, shape: str, trust: bool) -> tuple[subprocess.CompletedProcess[str], Path]:
    model = _remote_model(tmp_path / "toy", shape)
    request = write_request(tmp_path / "request.json", model, [SITE], trust_remote_code=trust)
    return _python(tmp_path, MAIN, "--request", str(request), "--out", str(tmp_path / "out")), tmp_path / "out"


def test_code_of_a_model_does_not_run_unasked(tmp_path):
    result, out = _run(tmp_path, "batch, tokens, 8", trust=False)
    error = json.loads(result.stdout.splitlines()[-1])
    assert result.returncode == 3 and error["code"] == "untrusted-code" and "--trust-remote-code" in error["message"]
    assert not out.exists() and not list(tmp_path.rglob("was_imported"))


def test_code_of_a_model_is_rewritten_when_trusted(tmp_path):
    result, out = _run(tmp_path, "batch, tokens, 8", trust=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert json.loads((out / "index.json").read_text())["sites"][SITE["id"]]["form"]["class"] == "ToyAttention"
    code = """
import copy, sys, torch
from transformers import AutoConfig, AutoModelForCausalLM
from workbench_tracer.source_form import bind
model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(sys.argv[1], trust_remote_code=True), trust_remote_code=True)
bound = bind(copy.deepcopy(model), sys.argv[2])
ids = torch.arange(12).view(2, 6)
torch.testing.assert_close(bound(ids).logits, model(ids).logits)
assert not hasattr(bound.attention, "q_proj")
print("equal")
"""
    compared = _python(tmp_path, code, str(tmp_path / "toy"), str(out))
    assert compared.stdout.endswith("equal\n"), compared.stderr


def test_a_source_that_does_not_run_is_withdrawn(tmp_path):
    """Rows of a merged value lie apart: heads and tokens of a part of it are no view of one dimension."""
    result, out = _run(tmp_path, "batch, tokens * 2, 4", trust=True)
    assert result.returncode == 0, result.stdout + result.stderr
    index = json.loads((out / "index.json").read_text())
    entry = index["sites"][SITE["id"]]
    assert entry["form"] is None and entry["reason"].startswith("ToyAttention.forward, rewritten, does not run")
    assert [path.name for path in out.iterdir()] == ["index.json"] and not index["classes"] and not index["merged"]


def _model_dir(tmp_path: Path) -> Path:
    zoo.save_config("llama", tmp_path / "model")
    return tmp_path / "model"


def _error(tmp_path: Path, text: str, out: Path | None = None) -> TracerError:
    (tmp_path / "request.json").write_text(text)
    with pytest.raises(TracerError) as error:
        write_sources(tmp_path / "request.json", out or tmp_path / "out", Events())
    return error.value


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', '{"schema": 1, "model": "m", "sites": [{}]}',
                                  '{"schema": 1, "model": "m", "sites": 3}'])
def test_broken_requests(text, tmp_path):
    error = _error(tmp_path, text)
    assert error.code == "bad-request" and "request.json" in error.message and not (tmp_path / "out").exists()


def test_newer_schema(tmp_path):
    assert "schema 2" in _error(tmp_path, '{"schema": 2, "model": "m", "sites": []}').message


def test_two_sites_with_one_id(tmp_path):
    text = json.dumps({"schema": 1, "model": "m", "sites": [SITE, SITE]})
    assert "same id" in _error(tmp_path, text).message


@pytest.mark.parametrize("config, expected", [
    (None, "has no config.json"), ("{", "no valid JSON"), ("[]", "not an object"),
    ('{"model_type": "no-such-model"}', "does not know"),
])
def test_broken_models(config, expected, tmp_path):
    (tmp_path / "model").mkdir()
    if config is not None:
        (tmp_path / "model" / "config.json").write_text(config)
    error = _error(tmp_path, json.dumps({"schema": 1, "model": str(tmp_path / "model"), "sites": []}))
    assert expected in error.message and str(tmp_path / "model") in error.message


def test_missing_model(tmp_path):
    error = _error(tmp_path, json.dumps({"schema": 1, "model": str(tmp_path / "none"), "sites": []}))
    assert "has no config.json" in error.message


def test_foreign_files_in_the_folder_stay(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    error = _error(tmp_path, json.dumps({"schema": 1, "model": str(_model_dir(tmp_path)), "sites": []}), out)
    assert error.code == "unwritable" and (out / "thesis.txt").read_text() == "mine"


def test_an_earlier_result_is_replaced(tmp_path, emitted):
    out = tmp_path / "out"
    shutil.copytree(emitted("qwen3").folder, out)
    request = write_request(tmp_path / "request.json", _model_dir(tmp_path), [])
    index = write_sources(request, out, Events())
    assert index["sites"] == {} and [path.name for path in out.iterdir()] == ["index.json"]


def test_errors_are_one_event(tmp_path, capfd):
    request = tmp_path / "request.json"
    request.write_text("{}")
    assert main(["--request", str(request), "--out", str(tmp_path / "out")]) == 3
    events: list[dict[str, Any]] = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [event["event"] for event in events] == ["error"] and events[0]["where"] == str(request)


def test_a_module_that_the_model_lacks_is_a_reason(tmp_path):
    site = SITE | {"id": "qkv@elsewhere", "module": "elsewhere"}
    index = write_sources(write_request(tmp_path / "request.json", _model_dir(tmp_path), [site]), tmp_path / "out", Events())
    assert "the model has no module elsewhere" in index["sites"]["qkv@elsewhere"]["reason"]
