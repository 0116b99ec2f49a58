"""Traced models in the worker against transformers eager, and what it says about models that it cannot load."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import zoo
from conftest import TracedModel
from transformers import AutoModelForCausalLM, PreTrainedModel
from worker_client import Worker, WorkerError

MODELS = ["llama", "qwen2", "qwen3", "gemma2", "gemma3", "olmo2", "granite", "smollm3", "starcoder2"]
SEQUENCES = [list(zoo.PROMPT) + list(range(40, 46)), list(range(60, 80))]  # both longer than any window


@functools.cache
def eager(directory: Path, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    torch.set_num_threads(1)
    return AutoModelForCausalLM.from_pretrained(directory, dtype=dtype, attn_implementation="eager").eval()


def eager_logits(model: PreTrainedModel, sequences: list[list[int]]) -> np.ndarray:
    with torch.no_grad():
        return np.concatenate([model(torch.tensor([tokens])).logits[0].float().numpy() for tokens in sequences])


def packed(sequences: list[list[int]]) -> dict[str, list[int]]:
    return {"tokens": sum(sequences, []), "positions": sum([list(range(len(tokens))) for tokens in sequences], [])}


def logits(worker: Worker, **params: object) -> np.ndarray:
    shape = worker.call("run", **params)
    return np.frombuffer(worker.payload, dtype=np.float32).reshape(shape["rows"], shape["vocabulary"])


def relative(reference: np.ndarray, other: np.ndarray) -> float:
    assert np.isfinite(other).all()
    return float(np.abs(reference - other).max() / np.abs(reference).max())


@pytest.mark.parametrize("name", MODELS)
def test_equals_eager_and_decodes_the_same_text(name: str, worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced(name)
    model.load(worker)
    reference = eager(model.directory)
    assert relative(eager_logits(reference, SEQUENCES), logits(worker, program="original", **packed(SEQUENCES))) < 1e-4

    prompt = list(zoo.PROMPT)
    with torch.no_grad():
        text = reference.generate(torch.tensor([prompt]), max_new_tokens=zoo.TEXT_TOKENS, do_sample=False)[0, len(prompt) :].tolist()
    result = worker.call("generate", program="original", prompt=prompt, max_tokens=zoo.TEXT_TOKENS)
    assert result["tokens"] == text
    assert len(set(text)) >= zoo.MIN_DISTINCT
    assert result["kv_cache"]
    assert [event["token"] for event in worker.events if event["event"] == "token"] == text
    assert result["prefill_tokens"] == len(prompt)
    assert result["decode_tokens"] == len(text) - 1


def test_bfloat16_is_as_near_to_the_truth_as_eager_is(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("llama", "--dtype", "bfloat16")
    model.load(worker, dtype="bf16")
    truth = eager_logits(eager(model.directory), SEQUENCES)
    ours = relative(truth, logits(worker, program="original", **packed(SEQUENCES)))
    theirs = relative(truth, eager_logits(eager(model.directory, torch.bfloat16), SEQUENCES))
    assert 1e-4 < ours < 1.5 * theirs


def test_rows_are_picked_in_any_order(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    every = logits(worker, program="original", tokens=SEQUENCES[0])
    some = logits(worker, program="original", tokens=SEQUENCES[0], rows=[4, 0, 4])
    assert relative(every[[4, 0, 4]], some) < 1e-6


def test_programs_share_their_weights(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("llama")
    first = model.load(worker)
    assert any(event["stage"] == "weights" for event in worker.events) or not worker.events
    before = worker.call("run", program="original", tokens=[1, 2])
    model.load(worker, name="rewritten")
    result = worker.call("verify", original="original", rewritten="rewritten", sites=[], **packed(SEQUENCES))
    assert result["end_to_end"]["max_abs_error"] == 0
    assert result["end_to_end"]["max_abs"] > 0
    assert result["greedy"] == {"rows": 33, "equal": 33, "differences": []}
    assert first["parameters"] > 0
    assert first["bytes"] == 4 * first["parameters"]
    assert before["rows"] == 2


def test_verify_sees_a_changed_graph(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("llama")
    model.load(worker)
    scale = next(line for line in model.graph.splitlines() if "workbench.attention" in line)
    wrong = scale.replace("scale=0.28", "scale=0.14")
    assert wrong != scale
    worker.call("load", name="rewritten", graph=model.graph.replace(scale, wrong), weights=model.weights)
    attended = scale.split(":")[0].lstrip("%")
    later = next(line for line in model.graph.splitlines() if "self=%" + attended + "," in line).split(":")[0].lstrip("%")
    sites = [{"id": "changed", "nodes": [attended], "outputs": [attended]}, {"id": "same", "nodes": [later], "outputs": [later]}]
    result = worker.call("verify", original="original", rewritten="rewritten", sites=sites, **packed(SEQUENCES))
    assert [site["id"] for site in result["sites"]] == ["changed", "same"]
    assert result["sites"][0]["relative_error"] > 1e-3
    assert result["sites"][1]["max_abs_error"] == 0
    assert result["end_to_end"]["relative_error"] > 1e-3
    differences = result["greedy"]["differences"]
    assert result["greedy"]["equal"] + len(differences) == 33


def test_random_weights_are_the_same_for_every_load(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("llama")
    model.load(worker, directory=None, random={"seed": 1})
    first = logits(worker, program="original", tokens=SEQUENCES[0])
    model.load(worker, directory=None, random={"seed": 2})
    assert relative(first, logits(worker, program="original", tokens=SEQUENCES[0])) > 1e-2
    model.load(worker, directory=None, random={"seed": 1})
    assert relative(first, logits(worker, program="original", tokens=SEQUENCES[0])) == 0


def test_bench_streams_every_sample_in_turn(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    traced("llama").load(worker, name="rewritten")
    worker.call("bench", programs=["original", "rewritten"], prompts=[[3, 1], [4, 1, 5]], new_tokens=3, rounds=2)
    samples = [event for event in worker.events if event["event"] == "sample"]
    assert [(s["program"], s["round"], s["requests"][0]["prompt_tokens"]) for s in samples] == [
        ("original", 0, 2), ("rewritten", 0, 2), ("rewritten", 1, 3), ("original", 1, 3)
    ]  # fmt: skip
    assert all(len(s["requests"]) == 1 and len(s["requests"][0]["token_s"]) == 3 for s in samples)


def test_bench_runs_a_trace_in_order_of_arrival(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    trace = [{"arrival_s": 0, "prompt_tokens": 3, "new_tokens": 2}, {"arrival_s": 0.2, "prompt_tokens": 5, "new_tokens": 4}]
    worker.call("bench", programs=["original"], requests=trace, rounds=1)
    sample = next(event for event in worker.events if event["event"] == "sample")
    assert [len(request["token_s"]) for request in sample["requests"]] == [2, 4]
    assert sample["requests"][1]["token_s"][0] >= 0.2
    with pytest.raises(WorkerError, match="order of arrival"):
        worker.call("bench", programs=["original"], requests=trace[::-1])


def test_bench_refuses_an_empty_prompt(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    with pytest.raises(WorkerError, match="at least one prompt token"):
        worker.call("bench", programs=["original"], prompts=[[3], []])


def load_error(worker: Worker, model: TracedModel, graph: str | None = None, **weights: object) -> WorkerError:
    with pytest.raises(WorkerError) as caught:
        worker.call("load", name="original", graph=graph or model.graph, weights={**model.weights, **weights})
    assert "\n" not in str(caught.value)
    return caught.value


def test_each_failed_load_is_one_sentence(worker: Worker, traced: Callable[..., TracedModel], tmp_path: Path) -> None:
    model = traced("llama")
    model.load(worker)
    assert "line 1" in str(load_error(worker, model, graph="nonsense"))
    assert str(tmp_path) in str(load_error(worker, model, directory=str(tmp_path)))
    assert "missing" in str(load_error(worker, model, directory=None))
    assert "bf16" in str(load_error(worker, model, dtype="bf16"))
    broken = tmp_path / "trace.pt2"
    broken.write_bytes(b"not a zip")
    assert str(broken) in str(load_error(worker, model, archive=str(broken)))
    other = model.graph.replace('"model.norm.weight"', '"model.norm.bias"')
    assert "model.norm.bias" in str(load_error(worker, model, graph=other))
    assert "f32[61]" not in model.graph
    wrong = model.graph.replace(": f32[60] \"model.norm.weight\"", ": f32[61] \"model.norm.weight\"")
    assert "the weights belong to another model" in str(load_error(worker, model, graph=wrong))
    # The program of that name is gone, not the old one in disguise.
    with pytest.raises(WorkerError, match="No program called 'original'"):
        worker.call("run", program="original", tokens=[1])
    model.load(worker)


def test_bad_requests_to_a_model_are_one_sentence(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    for params, sentence in (
        ({"tokens": []}, "There are no tokens to run."),
        ({"tokens": [211]}, "not in the model's vocabulary of 211"),
        ({"tokens": [1, 2], "positions": [0]}, "2 tokens, but 1 positions"),
        ({"tokens": [1], "rows": [1]}, "not one of the 1 tokens"),
        ({"tokens": [1.5]}, "'tokens' must be a list"),
        ({}, "'tokens' is missing"),
    ):
        with pytest.raises(WorkerError, match=sentence):
            worker.call("run", program="original", **params)


def test_a_text_that_no_memory_holds_is_refused_and_the_next_is_not(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    with pytest.raises(WorkerError, match="do not fit into the KV cache") as caught:
        worker.call("generate", program="original", prompt=[1, 2], max_tokens=10**14)
    assert caught.value.code == "badInput"
    assert worker.call("generate", program="original", prompt=[1, 2], max_tokens=2)["decode_tokens"] == 1
