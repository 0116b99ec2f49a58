"""Texts that grow side by side in one worker against the same texts one by one: equal token by token, but for near ties."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import TracedModel, trace
from worker_client import Worker, WorkerError

# Dense; windows on some layers; windows, softcaps and values of other sizes; experts.
MODELS = ["llama", "gemma3", "gemma2", "qwen3-moe"]
# Products of several rows add up in another order than those of one, so that logits move by a few roundings: this much, at most, of a logit of
# about 10 in float32. Two tokens nearer than that may change places.
NEAR_TIE = 1e-3
REAL_MODEL = os.environ.get("WORKBENCH_TEST_MODEL")


def prompts(count: int, vocabulary: int) -> list[list[int]]:
    """Of 1 to 90 tokens; every third begins like the one before."""
    draw = random.Random(5)
    made: list[list[int]] = []
    for number in range(count):
        start = made[-1][:70] if made and number % 3 == 2 else []
        made.append(start + [draw.randrange(1, vocabulary) for _ in range(draw.randrange(1, 90 - len(start)))])
    return made


def one_by_one(worker: Worker, texts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [worker.call("generate", program="original", **text) for text in texts]


def side_by_side(worker: Worker, texts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    requests = [worker.send("generate", program="original", **text) for text in texts]
    results = worker.answers(requests)
    return [results[request] for request in requests]


def near_ties(alone: list[dict[str, Any]], together: list[dict[str, Any]]) -> int:
    """How many texts part at a near tie; one that parts anywhere else fails the test."""
    parted = 0
    for a, b in zip(alone, together):
        assert "error" not in b, b
        assert len(a["tokens"]) == len(b["tokens"])
        first = next((i for i, (x, y) in enumerate(zip(a["tokens"], b["tokens"])) if x != y), None)
        if first is not None:
            assert a["top2_gap"][first] < NEAR_TIE, f"token {first} of {a['tokens']} and {b['tokens']}"
            parted += 1
    return parted


@pytest.mark.parametrize("name", MODELS)
def test_zoo_models_give_the_same_texts(name: str, traced: Callable[..., TracedModel]) -> None:
    texts = [{"prompt": prompt, "max_tokens": 20 + 7 * (i % 5)} for i, prompt in enumerate(prompts(18, 200))]
    with Worker() as worker:
        traced(name).load(worker)
        alone = one_by_one(worker, texts)
    with Worker() as worker:
        traced(name).load(worker)
        together = side_by_side(worker, texts)
        again = side_by_side(worker, texts)
    assert near_ties(alone, together) <= 1
    assert near_ties(alone, again) <= 1
    assert sum(result["reused_tokens"] for result in again) > 0
    assert max(result["queue_s"] for result in together) < sum(result["prefill_s"] + result["decode_s"] for result in together)


@pytest.mark.parametrize("name", ["llama", "gemma3"])
def test_a_small_kv_cache_preempts_and_gives_the_same_texts(name: str, traced: Callable[..., TracedModel]) -> None:
    texts = [{"prompt": prompt, "max_tokens": 60} for prompt in prompts(12, 200)]
    with Worker() as worker:
        traced(name).load(worker)
        alone = one_by_one(worker, texts)
    with Worker() as worker:
        # Room for about three of the twelve texts.
        worker.call("load", name="original", graph=traced(name).graph, weights=traced(name).weights, kv_cache_bytes=400_000)
        with pytest.raises(WorkerError, match="do not fit into the KV cache, which holds [0-9]+ tokens"):
            worker.call("generate", program="original", prompt=[1], max_tokens=100_000)
        assert near_ties(alone, side_by_side(worker, texts)) <= 1


def test_sampled_texts_depend_on_their_seed_alone(traced: Callable[..., TracedModel]) -> None:
    sampling = {"temperature": 0.8, "top_k": 20, "top_p": 0.95, "min_p": 0.01, "repetition_penalty": 1.1, "frequency_penalty": 0.2}
    texts = [{"prompt": prompt, "max_tokens": 20, "seed": 7 + i, **sampling} for i, prompt in enumerate(prompts(8, 200))]
    with Worker() as worker:
        traced("llama").load(worker)
        alone = one_by_one(worker, texts)
        together = side_by_side(worker, texts)
        other = one_by_one(worker, [{**text, "seed": 100} for text in texts])
    # A rounding can move a draw over the border between two tokens, but hardly ever.
    assert sum(a["tokens"] == b["tokens"] for a, b in zip(alone, together)) >= 7
    assert sum(a["tokens"] == b["tokens"] for a, b in zip(alone, other)) <= 1


def test_one_text_is_cancelled_and_the_others_go_on(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    reference = worker.call("generate", program="original", prompt=[5, 6, 7], max_tokens=40)
    endless = worker.send("generate", program="original", prompt=[1, 2, 3], max_tokens=100_000)
    short = worker.send("generate", program="original", prompt=[5, 6, 7], max_tokens=40)
    seen = []
    while True:
        message = worker.read()
        if message["id"] == short and "result" in message:
            break
        seen.append(message["id"])
    assert message["result"]["tokens"] == reference["tokens"]
    assert endless in seen  # both grew
    worker.cancel(endless)
    while "error" not in (message := worker.read()):
        assert message["id"] == endless
    assert message["error"]["code"] == "cancelled"


def test_bad_sampling_is_refused(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    for params, sentence in (
        ({"top_p": 1.5}, "top-p must be between 0 and 1"),
        ({"temperature": "hot"}, "'temperature' must be a number"),
        ({"prompt": []}, "prompt is empty"),
        ({"prompt": [211]}, "not in the model's vocabulary of 211"),
        ({"max_tokens": -1}, "must be 0 or more"),
    ):
        with pytest.raises(WorkerError, match=sentence):
            worker.call("generate", program="original", **{"prompt": [1], "max_tokens": 1, **params})


@pytest.mark.skipif(REAL_MODEL is None, reason="WORKBENCH_TEST_MODEL is not set: packaging/test makes the real model")
def test_a_real_model_gives_the_same_texts(tmp_path: Path) -> None:
    model = trace(Path(str(REAL_MODEL)), tmp_path / "trace")
    texts = [{"prompt": prompt, "max_tokens": 24} for prompt in prompts(12, 40_000)]
    with Worker() as worker:
        model.load(worker)
        alone = one_by_one(worker, texts)
    with Worker() as worker:
        model.load(worker)
        together = side_by_side(worker, texts)
    parted = near_ties(alone, together)
    print(f"{parted} of {len(texts)} texts part at a near tie")
    assert parted <= 1


def test_log_probabilities_come_with_each_token(traced: Callable[..., TracedModel], worker: Worker) -> None:
    traced("llama").load(worker)
    worker.call("generate", program="original", prompt=[5, 6, 7], max_tokens=5)
    assert all("logprob" not in event for event in worker.events)
    result = worker.call("generate", program="original", prompt=[5, 6, 7], max_tokens=5, logprobs=3)
    assert [event["token"] for event in worker.events] == result["tokens"]
    for event in worker.events:
        tokens, logprobs = zip(*event["top"])
        assert tokens[0] == event["token"] and logprobs[0] == event["logprob"] < 0  # greedy: the most probable one
        assert sorted(logprobs, reverse=True) == list(logprobs) and len(set(tokens)) == 3


def test_says_why_a_text_ended(traced: Callable[..., TracedModel], worker: Worker) -> None:
    traced("llama").load(worker)
    whole = worker.call("generate", program="original", prompt=[5, 6, 7], max_tokens=12)
    assert whole["finish"] == "length"
    stop = whole["tokens"][6]
    ended = worker.call("generate", program="original", prompt=[5, 6, 7], max_tokens=12, stop_ids=[stop])
    assert ended["finish"] == "stop" and ended["tokens"] == whole["tokens"][: whole["tokens"].index(stop) + 1]


def test_an_engine_has_the_room_and_the_queue_that_it_is_given(traced: Callable[..., TracedModel], worker: Worker) -> None:
    traced("llama").load(worker)
    large = worker.call("engine", program="original")
    small = worker.call("engine", program="original", kv_cache_bytes=400_000, max_queue=1, max_batch_tokens=64)
    assert 0 < small["capacity_tokens"] < large["capacity_tokens"]
    with pytest.raises(WorkerError, match="KV cache"):
        worker.call("generate", program="original", prompt=[1], max_tokens=small["capacity_tokens"] + 1)
    requests = [worker.send("generate", program="original", prompt=[1, 2], max_tokens=200) for _ in range(80)]
    results = worker.answers(requests)
    refused = [result["error"] for result in results.values() if "error" in result]
    assert refused and all(error["where"] == "queue" for error in refused)


def test_statistics_come_while_texts_grow(traced: Callable[..., TracedModel], worker: Worker) -> None:
    traced("llama").load(worker)
    worker.call("engine", program="original")
    text = worker.send("generate", program="original", prompt=[1, 2, 3], max_tokens=100_000)
    worker.read()  # its first token
    stats = worker.send("stats", program="original")
    while (message := worker.read())["id"] != stats:
        pass
    assert message["result"]["running"] == 1 and message["result"]["free_blocks"] < message["result"]["blocks"]
    worker.cancel(text)
    while "event" in worker.read():
        pass
    deadline = time.monotonic() + 20
    while not (done := worker.call("stats", program="original"))["cancelled"] and time.monotonic() < deadline:
        time.sleep(0.01)  # an end is counted after it has been told
    assert done["cancelled"] == 1 and done["free_blocks"] == done["blocks"]
