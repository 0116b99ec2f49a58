"""Weights in fewer bits in the worker: the numbers are those of eager with the same quantised weights."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest
import torch
import zoo
from conftest import TracedModel
from test_worker_models import SEQUENCES, eager, eager_logits, logits, packed, relative
from test_worker_native import load_native
from transformers import PreTrainedModel
from worker_client import Worker, WorkerError

# Dense; the embedding tied to the head; experts.
MODELS = ["llama", "gemma2", "qwen3-moe"]
ROUTER = ".mlp.gate.weight"


def int8(weight: torch.Tensor) -> torch.Tensor:
    """Symmetric, a scale for each row."""
    scale = weight.abs().amax(-1, keepdim=True) / 127
    return torch.where(scale == 0, 0, (weight / scale).round().clamp(-127, 127) * scale)


def int4(weight: torch.Tensor) -> torch.Tensor:
    """A scale for each group of 32 columns, in bfloat16: the eighth part of its largest."""
    columns = weight.shape[-1]
    padded = torch.nn.functional.pad(weight, (0, -columns % 32))
    groups = padded.reshape(*weight.shape[:-1], -1, 32)
    scale = (groups.gather(-1, groups.abs().argmax(-1, keepdim=True)) / -8).bfloat16().float()
    values = torch.where(scale == 0, 0, (groups / scale).round().clamp(-8, 7) * scale)
    return values.reshape(padded.shape)[..., :columns]


QUANTISED = {"int8": int8, "int4": int4}


def dequantised(model: PreTrainedModel, quantise: Callable[[torch.Tensor], torch.Tensor]) -> PreTrainedModel:
    """The model with every weight of a product replaced, but for routers; an embedding is one where it is tied to the head."""
    changed = copy.deepcopy(model)
    lookup = changed.get_input_embeddings().weight
    tied = changed.get_output_embeddings().weight is lookup
    with torch.no_grad():
        for name, parameter in changed.named_parameters():
            if parameter.dim() >= 2 and (parameter is not lookup or tied) and not name.endswith(ROUTER):
                parameter.copy_(quantise(parameter))
    return changed


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weights", QUANTISED)
def test_equals_eager_with_the_same_quantised_weights(name: str, weights: str, worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced(name)
    model.load(worker, format=weights)
    ours = logits(worker, program="original", **packed(SEQUENCES))
    reference = dequantised(eager(model.directory), QUANTISED[weights])
    assert relative(eager_logits(reference, SEQUENCES), ours) < 1e-4
    assert relative(eager_logits(eager(model.directory), SEQUENCES), ours) > 1e-3


def test_formats_live_side_by_side_and_take_less_memory(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("llama")
    stored = model.load(worker)
    before = logits(worker, program="original", **packed(SEQUENCES))
    parameters = dict(eager(model.directory).named_parameters())
    assert stored["bytes"] == sum(4 * parameter.numel() for parameter in parameters.values())
    assert "products" not in stored
    matrices = [p for name, p in parameters.items() if p.dim() == 2 and "embed" not in name]
    for weights, row_bytes in {"int8": lambda columns: columns + 4, "int4": lambda columns: -(-columns // 2) + 2 * -(-columns // 32)}.items():
        loaded = model.load(worker, name=weights, format=weights)
        quantised = sum(len(matrix) * row_bytes(matrix.shape[1]) for matrix in matrices)
        assert loaded["bytes"] == stored["bytes"] - sum(4 * matrix.numel() for matrix in matrices) + quantised
        nothing = {"matrices": 0, "bytes": 0}
        assert loaded["products"] == {"quantised": {"matrices": len(matrices), "bytes": quantised}, "stored": nothing, "precise": nothing}
        assert not np.array_equal(logits(worker, program=weights, **packed(SEQUENCES)), before)
    assert np.array_equal(logits(worker, program="original", **packed(SEQUENCES)), before)


def test_routers_stay_as_they_are_stored_and_are_told_apart(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("qwen3-moe")
    products = model.load(worker, format="int4")["products"]
    routers = [p for name, p in eager(model.directory).named_parameters() if name.endswith(ROUTER)]
    assert len(routers) == 2  # the first of three layers is dense
    assert products["precise"] == {"matrices": 2, "bytes": sum(4 * router.numel() for router in routers)}
    assert products["stored"]["matrices"] == 0


def test_a_format_that_reaches_nothing_is_refused(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("llama")
    outputs = "\n".join(line.replace("aten.linear.default(input=", "aten.matmul.default(self=").replace("weight=", "other=") if "aten.linear" in line
                        else line for line in model.graph.splitlines())  # fmt: skip
    with pytest.raises(WorkerError, match=r"No weight of this model becomes int8: .* leave out --weights int8") as caught:
        worker.call("load", name="original", graph=outputs, weights={**model.weights, "format": "int8"})
    assert caught.value.code == "badInput"


@pytest.mark.parametrize("weights", QUANTISED)
def test_native_code_takes_them_as_they_are(weights: str, worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("llama")
    quantised = TracedModel(model.directory, model.graph, {**model.weights, "format": weights})
    quantised.load(worker)
    assert load_native(worker, quantised) == {"available": True}
    found = worker.call("bench", programs=["original", "native"], prompt_tokens=5, new_tokens=3, rounds=1)["native"]
    assert found["relative_error"] <= 1e-5
    assert found["equal"] == found["tokens"] == 16


@pytest.mark.parametrize("weights", QUANTISED)
def test_text_is_that_of_eager(weights: str, worker: Worker, traced: Callable[..., TracedModel]) -> None:
    model = traced("llama")
    model.load(worker, format=weights)
    reference = dequantised(eager(model.directory), QUANTISED[weights])
    prompt = list(zoo.PROMPT)
    with torch.no_grad():
        text = reference.generate(torch.tensor([prompt]), max_new_tokens=zoo.TEXT_TOKENS, do_sample=False)[0, len(prompt) :].tolist()
    assert worker.call("generate", program="original", prompt=prompt, max_tokens=zoo.TEXT_TOKENS)["tokens"] == text


def test_an_unknown_format_is_refused(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    with pytest.raises(WorkerError, match="unknown format 'int3'"):
        traced("llama").load(worker, format="int3")
