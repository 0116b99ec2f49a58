"""A helper process around the model as transformers runs it: one load per line in, the times of its tokens out.

A load is {"requests": [{"arrival_s", "new_tokens", "prompt_tokens" or "prompt": [...]}]} in order of arrival; the answer is
{"requests": [{"arrival_s", "prompt_tokens", "token_s": [...]}]}, in seconds since the load began. Requests that arrive together and have the same
sizes are one batch; others run one after another, since generate() takes no more while it runs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from transformers.generation.streamers import BaseStreamer

from .build import plan_build
from .errors import bad_input, one_line
from .events import Events
from .model_directory import open_directory


class Clock(BaseStreamer):
    """Notes when the tokens of a batch come."""

    def __init__(self, started: float) -> None:
        self.started = started
        self.times: list[float] = []

    def put(self, value: torch.Tensor) -> None:
        self.times.append(time.perf_counter() - self.started)

    def end(self) -> None:
        pass

    def tokens(self) -> list[float]:
        return self.times[1:]  # the first is the prompt, which generate() gives before it begins


def serve(model: Path, dtype: str, threads: int, trust_remote_code: bool, loads: Iterable[str], events: Events) -> None:
    """Answers until the input ends. Raises TracerError for a model that does not load."""
    torch.set_num_threads(threads)
    network = load_model(model, dtype, trust_remote_code)
    events.print({"ready": True})
    for line in loads:
        if line.strip():
            events.print(answer(network, line))


def load_model(model: Path, dtype: str, trust_remote_code: bool) -> Any:
    """As from_pretrained makes it; with random weights where there are none."""
    directory = open_directory(model)
    plan = plan_build(directory, dtype, trust_remote_code)
    if plan.text_part:
        raise bad_input("text-part", f"{model} also sees or hears: transformers runs its text part only within the whole model.", model)
    try:
        if directory.tensors is not None:
            network = plan.model_class.from_pretrained(model, dtype=plan.dtype, trust_remote_code=trust_remote_code, local_files_only=True)
        else:
            network = plan.model_class._from_config(plan.config, dtype=plan.dtype)
    except Exception as error:  # transformers raises anything
        raise bad_input("not-loaded", f"transformers does not load {model}: {one_line(error)}", model) from error
    network.generation_config.eos_token_id = None  # every text has the length that was asked for
    network.generation_config.pad_token_id = 0
    return network.eval()


def answer(network: Any, line: str) -> dict[str, Any]:
    try:
        return {"requests": run(network, json.loads(line)["requests"])}
    except Exception as error:  # generate() raises anything
        return {"error": f"transformers failed: {one_line(error)}"}


def run(network: Any, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    vocabulary = network.config.get_text_config(decoder=True).vocab_size
    prompts = [request.get("prompt") or made_up(request["prompt_tokens"], index, vocabulary) for index, request in enumerate(requests)]
    sizes = [(request["arrival_s"], len(prompt), request["new_tokens"]) for request, prompt in zip(requests, prompts, strict=True)]
    answers: list[dict[str, Any]] = []
    started = time.perf_counter()
    for (arrival, length, new_tokens), batch in groupby(range(len(requests)), key=sizes.__getitem__):
        time.sleep(max(0.0, arrival - (time.perf_counter() - started)))
        members = list(batch)
        times = generate(network, [prompts[index] for index in members], new_tokens, started)
        answers += [{"arrival_s": arrival, "prompt_tokens": length, "token_s": times} for _ in members]
    return answers


def made_up(count: int, index: int, vocabulary: int) -> list[int]:
    """Those of runtime/benchmark/load.cpp: different in every request and spread over the vocabulary."""
    return [(at * 7919 + index * 104729 + 11) % vocabulary for at in range(count)]


def generate(network: Any, prompts: list[list[int]], new_tokens: int, started: float) -> list[float]:
    tokens = torch.tensor(prompts)
    clock = Clock(started)
    with torch.inference_mode():
        network.generate(input_ids=tokens, attention_mask=torch.ones_like(tokens), do_sample=False, max_new_tokens=new_tokens, streamer=clock)
    return clock.tokens()
