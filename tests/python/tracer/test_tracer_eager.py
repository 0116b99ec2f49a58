"""Loads as transformers runs them: what is timed, in which batches, and what is refused."""

import io
import json

import pytest
import torch
from workbench_tracer import eager
from workbench_tracer.errors import TracerError
from workbench_tracer.events import Events


def served(model, *loads):
    out = io.StringIO()
    eager.serve(model, "float32", torch.get_num_threads(), False, [json.dumps(load) for load in loads], Events(out))
    return [json.loads(line) for line in out.getvalue().splitlines()]


def request(arrival=0, prompt=5, new=3):
    return {"arrival_s": arrival, "prompt_tokens": prompt, "new_tokens": new}


def test_every_token_has_a_time(model):
    ready, answer = served(model("llama"), {"requests": [request()]})
    assert ready == {"ready": True}
    (times,) = [one["token_s"] for one in answer["requests"]]
    assert len(times) == 3 and 0 < times[0] < times[1] < times[2]
    assert answer["requests"][0]["prompt_tokens"] == 5


def test_requests_that_come_together_are_one_batch(model, monkeypatch):
    batches = []
    real = eager.generate
    monkeypatch.setattr(eager, "generate", lambda network, prompts, *rest: batches.append(prompts) or real(network, prompts, *rest))
    together = [request(), request(), request(new=2), request(arrival=0.05)]
    together.append({"arrival_s": 0.05, "prompt": [1, 2], "new_tokens": 1})
    _, answer = served(model("llama"), {"requests": together})
    assert [len(batch) for batch in batches] == [2, 1, 1, 1]
    assert batches[0][0] != batches[0][1] and batches[-1] == [[1, 2]]
    assert [len(one["token_s"]) for one in answer["requests"]] == [3, 3, 2, 3, 1]
    assert all(one["token_s"][0] >= one["arrival_s"] for one in answer["requests"])


def test_texts_have_the_length_that_is_asked_for_and_are_those_of_generate(model, monkeypatch):
    seen = []
    real = eager.Clock.put
    monkeypatch.setattr(eager.Clock, "put", lambda clock, value: seen.append(value) or real(clock, value))
    served(model("llama"), {"requests": [{"arrival_s": 0, "prompt": [3, 7, 5], "new_tokens": 20}]})
    network = eager.load_model(model("llama"), "float32", False)
    network.generation_config.eos_token_id = None
    with torch.inference_mode():
        whole = network.generate(torch.tensor([[3, 7, 5]]), do_sample=False, max_new_tokens=20)
    assert torch.cat([value.flatten() for value in seen]).tolist() == whole[0].tolist()


def test_a_model_without_weights_gets_random_ones(model, tmp_path):
    folder = tmp_path / "config-only"
    folder.mkdir()
    (folder / "config.json").write_text((model("llama") / "config.json").read_text())
    _, answer = served(folder, {"requests": [request()]})
    assert len(answer["requests"][0]["token_s"]) == 3


def test_a_load_that_fails_is_told_and_the_next_one_runs(model):
    _, wrong, right = served(model("llama"), {"requests": [{"arrival_s": 0}]}, {"requests": [request()]})
    assert "transformers failed" in wrong["error"] and len(right["requests"]) == 1


def test_a_folder_that_is_no_model_is_one_sentence(tmp_path):
    with pytest.raises(TracerError, match="no config.json"):
        served(tmp_path)
