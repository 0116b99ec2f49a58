"""The server on a real model, driven by OpenAI's own client; transformers says what the texts must be."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor

import pytest
import serving
import support

PROMPT = "The capital of France is"
MESSAGES = [{"role": "user", "content": "Name three colours."}]
TOKENS = 24


@pytest.fixture(scope="module")
def model():
    if (path := support.example_model()) is None:
        pytest.skip("WORKBENCH_TEST_MODEL does not name the example model (packaging/test makes it)")
    return path


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    """In f32, so that greedy texts are exact, with every fusion of an exported plan."""
    folder = tmp_path_factory.mktemp("serve")
    support.workbench(model, "--dtype", "f32", "--apply-all", "--export", "plan.json", cwd=folder).expect(support.DONE)
    with serving.Server(model, "--dtype", "f32", "--plan", "plan.json", cwd=folder) as started:
        yield started


@pytest.fixture(scope="module")
def client(server):
    return server.client()


@pytest.fixture(scope="module")
def eager(model):
    """Greedy text of transformers after a prompt or messages, its ids, and the tokenizer."""
    import torch
    import transformers

    loaded = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)

    def generate(prompt, tokens=TOKENS):
        ids = (
            tokenizer(prompt)["input_ids"]
            if isinstance(prompt, str)
            else tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=True, return_dict=False)
        )
        with torch.no_grad():
            made = loaded.generate(torch.tensor([ids]), max_new_tokens=tokens, do_sample=False)[0, len(ids) :].tolist()
        return tokenizer.decode(made, skip_special_tokens=True, clean_up_tokenization_spaces=False), made, len(ids)

    return generate


def test_names_its_model(client):
    assert [model.id for model in client.models.list().data] == ["test"]


def test_completes_as_transformers_does(client, eager):
    text, _, prompt_tokens = eager(PROMPT)
    answer = client.completions.create(model="test", prompt=PROMPT, max_tokens=TOKENS, temperature=0)
    assert answer.choices[0].text == text
    assert answer.choices[0].finish_reason == "length"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (prompt_tokens, TOKENS)


def test_chats_through_the_models_own_template(client, eager):
    text, made, prompt_tokens = eager(MESSAGES, 60)
    answer = client.chat.completions.create(model="test", messages=MESSAGES, max_tokens=60, temperature=0)
    assert answer.choices[0].message.content == text
    assert answer.usage.prompt_tokens == prompt_tokens
    assert answer.usage.completion_tokens == len(made)
    assert answer.choices[0].finish_reason == ("length" if len(made) == 60 else "stop")


def test_streams_the_same_text(client, eager):
    text, _, _ = eager(MESSAGES)
    stream = client.chat.completions.create(
        model="test", messages=MESSAGES, max_tokens=TOKENS, temperature=0, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == text
    assert chunks[-1].usage.completion_tokens == TOKENS
    assert len(chunks) > TOKENS / 2, "the text came at once"


def test_whole_characters_come_however_tokens_cut_them(client):
    """Text that is all multi-byte: what is streamed is the whole text, without replacement characters in between."""
    options = {"model": "test", "prompt": "🙂🙃🙂🙃 日本語の文章 日本語の", "max_tokens": 40, "temperature": 0}
    whole = client.completions.create(**options).choices[0].text
    pieces = [chunk.choices[0].text for chunk in client.completions.create(**options, stream=True)]
    assert "".join(pieces) == whole


def test_ends_before_a_stop_string(client, eager):
    text, _, _ = eager(PROMPT)
    stop = text[8:14]
    answer = client.completions.create(model="test", prompt=PROMPT, max_tokens=TOKENS, temperature=0, stop=[stop, "never seen"])
    assert answer.choices[0].text == text[: text.index(stop)]
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.completion_tokens < TOKENS


def test_log_probabilities_are_those_of_the_model(client, model, eager):
    import torch
    import transformers

    _, made, _ = eager(PROMPT, 4)
    answer = client.completions.create(model="test", prompt=PROMPT, max_tokens=4, temperature=0, logprobs=3)
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    logits = support.eager_logits(model, [tokenizer(PROMPT)["input_ids"] + made])
    expected = torch.log_softmax(logits[-5:-1], -1)
    told = answer.choices[0].logprobs
    assert told.tokens == [tokenizer.decode([token]) for token in made]
    for row, token in enumerate(made):
        assert told.token_logprobs[row] == pytest.approx(expected[row, token].item(), abs=1e-3)
        best = expected[row].topk(3).values.tolist()
        assert sorted(told.top_logprobs[row].values(), reverse=True) == pytest.approx(best, abs=1e-3)


def test_takes_several_prompts_and_choices(client, eager):
    prompts = [PROMPT, "Once upon a time"]
    answer = client.completions.create(model="test", prompt=prompts, max_tokens=TOKENS, temperature=0, n=2)
    assert [choice.text for choice in answer.choices] == [eager(prompt)[0] for prompt in prompts for _ in range(2)]


def test_a_seed_repeats_a_text(client):
    def text(seed):
        return client.completions.create(model="test", prompt=PROMPT, max_tokens=20, temperature=1.2, top_p=0.95, seed=seed).choices[0].text

    assert text(3) == text(3)
    assert text(3) != text(4)


def test_refuses_in_the_clients_own_errors(client):
    import openai

    with pytest.raises(openai.NotFoundError) as unknown:
        client.completions.create(model="gpt-4", prompt=PROMPT)
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as long:
        client.completions.create(model="test", prompt="word " * 9000)
    assert long.value.code == "context_length_exceeded"
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="test", messages=[])


def test_a_client_that_leaves_frees_its_blocks(server, client):
    stream = client.completions.create(model="test", prompt=PROMPT, max_tokens=4000, temperature=0, stream=True, extra_body={"ignore_eos": True})
    for _ in range(3):
        next(stream)
    stream.close()
    server.wait_until_free()
    assert server.metric("workbench_engine_cancelled_total") >= 1


def test_many_at_once_get_their_own_texts(server, client, eager):
    """64 requests, every fourth of which is left in its middle."""
    prompts = [f"The number after {count} is" for count in range(16)]
    expected = {prompt: eager(prompt, 12)[0] for prompt in prompts}

    def ask(index):
        prompt = prompts[index % len(prompts)]
        stream = client.completions.create(model="test", prompt=prompt, max_tokens=12, temperature=0, stream=True)
        if index % 4 == 3:
            next(stream)
            stream.close()
            return True
        return "".join(chunk.choices[0].text for chunk in stream) == expected[prompt]

    with ThreadPoolExecutor(64) as pool:
        right = list(pool.map(ask, range(64)))
    assert all(right), f"{right.count(False)} texts are wrong"
    server.wait_until_free()


def test_bad_bytes_are_answered(server):
    for body in (b"", b"{", b'{"model": "test", "prompt": "\xff"}', b'{"model": "test", "prompt": "\\ud800"}', b"[" * 5000):
        status, answer = serving.post_raw(server.address, "/v1/completions", body)
        assert status == 400 and json.loads(answer)["error"]["message"]


# What follows ends or breaks its server: each has one of its own.


def test_sigterm_lets_a_text_come_to_its_end(model, work):
    with serving.Server(model, cwd=work) as server:
        stream = server.client().completions.create(model="test", prompt=PROMPT, max_tokens=60, stream=True, extra_body={"ignore_eos": True})
        next(stream)
        server.process.terminate()
        reasons = [chunk.choices[0].finish_reason for chunk in stream]
        assert reasons[-1] == "length"
        support.finished(server.process).expect(support.DONE)


def test_a_killed_worker_is_replaced(model, work):
    import openai

    with serving.Server(model, cwd=work) as server:
        client = server.client()
        stream = client.completions.create(model="test", prompt=PROMPT, max_tokens=4000, stream=True, extra_body={"ignore_eos": True})
        next(stream)
        support.child_of(server.process, "workbench-worker").send_signal(signal.SIGKILL)
        with pytest.raises(openai.APIError, match="killed"):
            list(stream)
        wait_for_health(server)
        assert client.completions.create(model="test", prompt=PROMPT, max_tokens=4).usage.completion_tokens == 4


def test_a_killed_tokenizer_is_replaced(model, work):
    with serving.Server(model, cwd=work) as server:
        client = server.client()
        stream = client.completions.create(model="test", prompt=PROMPT, max_tokens=40, temperature=0, stream=True)
        pieces = [next(stream).choices[0].text]
        for child in support.children_of(server.process, "workbench_tracer"):
            child.send_signal(signal.SIGKILL)
        pieces += [chunk.choices[0].text for chunk in stream]
        assert "".join(pieces) == client.completions.create(model="test", prompt=PROMPT, max_tokens=40, temperature=0).choices[0].text


def wait_for_health(server, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if json.loads(server.get("/health"))["status"] == "ok":
                return
        except urllib.error.HTTPError:
            time.sleep(0.05)
    raise AssertionError("the server did not recover")


def test_asks_for_its_key(model, work):
    import openai

    with serving.Server(model, cwd=work, WORKBENCH_API_KEY="secret") as server:
        with pytest.raises(openai.AuthenticationError):
            server.client().models.list()
        assert server.client().with_options(api_key="secret").models.list().data


def test_refuses_the_plan_of_another_model(model, work):
    support.workbench(support.model("llama"), "--apply-all", "--export", "other.json", cwd=work).expect(support.DONE)
    run = support.workbench("serve", model, "--plan", "other.json", "--port", "0", cwd=work)
    run.expect_error(support.BAD_INPUT, "other.json", "another model")


def test_says_that_its_port_is_taken(server, model, work):
    port = server.address.rsplit(":", 1)[1]
    run = support.workbench("serve", model, "--port", port, cwd=work)
    run.expect_error(support.BAD_INPUT, "listen", port)


def test_a_full_log_is_no_reason_to_stop(model, work):
    with open("/dev/full", "w") as full:
        command = [str(support.binary()), "serve", str(model), "--port", "0", "--model-name", "test", "--verbose"]
        process = subprocess.Popen(command, cwd=work, env=support.environment(), stdout=subprocess.PIPE, stderr=full, text=True)
    try:
        address = process.stdout.readline().split(" on ")[1].strip()
        assert serving.post_raw(address.removesuffix("/v1"), "/v1/completions", b"{}")[0] == 400
        assert serving.post_raw(address.removesuffix("/v1"), "/v1/completions", b'{"model": "test", "prompt": "a", "max_tokens": 2}')[0] == 200
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


def test_generate_takes_several_prompts_and_stops(model, work, eager):
    text, _, _ = eager(PROMPT)
    other, _, _ = eager("Once upon a time")
    run = support.workbench(
        "generate", model, "--dtype", "f32", "--prompt", PROMPT, "--prompt", "Once upon a time", "--max-tokens", str(TOKENS), cwd=work
    ).expect(support.DONE)
    assert run.out == f"{text}\n---\n{other}\n"
    stop = text[8:14]
    run = support.workbench(
        "generate", model, "--dtype", "f32", "--prompt", PROMPT, "--stop", stop, "--max-tokens", str(TOKENS), cwd=work
    ).expect(support.DONE)
    assert run.out == text[: text.index(stop)] + "\n"


def test_drains_under_load(model, work):
    """Whoever was taken is answered whole, whoever was not is told so."""
    import openai

    with serving.Server(model, "--max-queue", "200", cwd=work) as server:
        client = server.client()
        outcomes = []

        def ask():
            try:
                answer = client.completions.create(model="test", prompt=PROMPT, max_tokens=16, extra_body={"ignore_eos": True})
                outcomes.append(answer.usage.completion_tokens == 16)
            except (openai.InternalServerError, openai.APIConnectionError) as error:
                outcomes.append(isinstance(error, openai.APIConnectionError) or error.status_code == 503)

        threads = [threading.Thread(target=ask) for _ in range(24)]
        for thread in threads[:12]:
            thread.start()
        server.process.terminate()
        for thread in threads[12:]:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes == [True] * 24
        support.finished(server.process).expect(support.DONE)
