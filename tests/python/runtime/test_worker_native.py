"""Hand-written code in the worker against the traced model: numbers, text, and what it refuses."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import conftest
import pytest
from conftest import TracedModel
from worker_client import Worker, WorkerError

DTYPES = {"float32": ("f32", 1e-5), "bfloat16": ("bf16", 0.05)}


def load_native(worker: Worker, model: TracedModel, dtype: str = "f32", **changes: Any) -> dict[str, Any]:
    config = {**json.loads((model.directory / "config.json").read_text()), **changes}
    names = [line.split('"')[1] for line in model.graph.splitlines() if line.startswith("parameter ")]
    return worker.call("load_native", name="native", config=config, dtype=dtype, parameters=names, weights=model.weights)


def agreement(worker: Worker) -> dict[str, Any]:
    return worker.call("bench", programs=["original", "native"], prompt_tokens=5, new_tokens=3, rounds=1)["native"]


@pytest.mark.parametrize("name", ["llama", "qwen3"])
@pytest.mark.parametrize("torch_dtype", DTYPES)
def test_native_computes_what_the_model_does(worker: Worker, traced: Callable[..., TracedModel], name: str, torch_dtype: str) -> None:
    dtype, tolerance = DTYPES[torch_dtype]
    model = traced(name, "--dtype", torch_dtype)
    model.load(worker)
    assert load_native(worker, model, dtype) == {"available": True}
    found = agreement(worker)
    assert found["relative_error"] <= tolerance
    if dtype == "f32":
        assert found["equal"] == found["tokens"] == 16


def test_native_computes_what_a_real_model_does(worker: Worker, tmp_path: Path) -> None:
    directory = os.environ.get("WORKBENCH_TEST_MODEL")
    if not directory:
        pytest.skip("WORKBENCH_TEST_MODEL names no real model")
    model = conftest.trace(Path(directory), tmp_path / "trace", "--dtype", "float32")
    model.load(worker)
    assert load_native(worker, model) == {"available": True}
    found = agreement(worker)
    assert found["relative_error"] <= 1e-5
    assert found["equal"] == found["tokens"] == 16


@pytest.mark.parametrize(("name", "reason"), [("gemma2", "this is a Gemma2ForCausalLM"), ("qwen2", "this is a Qwen2ForCausalLM")])
def test_other_models_have_no_native_code(worker: Worker, traced: Callable[..., TracedModel], name: str, reason: str) -> None:
    model = traced(name)
    model.load(worker)
    answer = load_native(worker, model)
    assert not answer["available"] and reason in answer["reason"]
    with pytest.raises(WorkerError, match="No program called 'native'"):
        worker.call("bench", programs=["original", "native"])


def test_native_of_another_configuration_is_found_out(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("llama")
    model.load(worker)
    assert not load_native(worker, model, hidden_size=72)["available"]
    assert load_native(worker, model, rms_norm_eps=0.5)["available"]
    assert "other numbers than the model" in agreement(worker)["reason"]
    assert {event["program"] for event in worker.events if event["event"] == "sample"} == {"original"}


def test_bench_measures_native_in_turn_and_tells_where_time_goes(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("llama")
    model.load(worker)
    load_native(worker, model)
    result = worker.call("bench", programs=["original", "native"], concurrency=3, prompt_tokens=4, new_tokens=3, rounds=2, profile=True)
    samples = [event for event in worker.events if event["event"] == "sample"]
    assert [(s["program"], s["round"]) for s in samples] == [("original", 0), ("native", 0), ("native", 1), ("original", 1)]
    for sample in samples:
        assert len(sample["requests"]) == 3 and sample["steps"] == 3
        assert all(r["prompt_tokens"] == 4 and len(r["token_s"]) == 3 and r["token_s"] == sorted(r["token_s"]) for r in sample["requests"])
    for name in ("original", "native"):
        profile = result["profile"][name]
        assert profile["steps"] == 3
        assert 0 < sum(profile["kernels"].values()) < profile["model_s"] < profile["step_s"]
    families = result["profile"]["original"]["families"]
    assert {"products", "attention", "elementwise"} <= families.keys()
    assert result["memory"]["peak_bytes"] > result["memory"]["weight_bytes"] > 0
