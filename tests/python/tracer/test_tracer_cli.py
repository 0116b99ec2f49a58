"""The helper process: events on stdout, exit status, signals, cache key, tokenizer, names of the hub."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import zoo
from safetensors.torch import load_file, save_file

PYTHON = Path(__file__).resolve().parents[3] / "resources" / "python"


def environment(**changes):
    return {**os.environ, "PYTHONPATH": str(PYTHON), "HF_HUB_OFFLINE": "1", **changes}


def tracer(*arguments, stdin="", **changes):
    done = subprocess.run(
        [sys.executable, "-m", "workbench_tracer", *map(str, arguments)],
        capture_output=True,
        text=True,
        input=stdin,
        env=environment(**changes),
        timeout=300,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_events_of_a_trace(model, tmp_path):
    status, events, errors = tracer("trace", "--model", model("llama"), "--out", tmp_path / "out")
    assert status == 0, errors
    assert [event.get("name") for event in events] == ["build", "export", "proof", "write", None]
    assert events[-1] == {"event": "done", "out": str(tmp_path / "out")}
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["trace.json", "trace.pt2"]
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_an_error_is_one_event_and_an_exit_status(tmp_path):
    status, events, errors = tracer("trace", "--model", tmp_path / "gone", "--out", tmp_path / "out")
    assert status == 3 and "Traceback" not in errors
    assert (events[-1]["event"], events[-1]["code"]) == ("error", "no-such-directory") and "gone" in events[-1]["message"]
    assert not list(tmp_path.iterdir())


def test_a_failure_inside_the_tracer_is_one_sentence(model, tmp_path):
    broken = tmp_path / "broken" / "transformers"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise RuntimeError('no transformers today')")
    path = f"{tmp_path / 'broken'}:{PYTHON}"
    status, events, errors = tracer("trace", "--model", model("llama"), "--out", tmp_path / "out", PYTHONPATH=path)
    assert status == 4 and "no transformers today" in events[-1]["message"] and "Traceback" not in errors
    status, events, errors = tracer("trace", "--model", model("llama"), "--out", tmp_path / "out", "--debug", PYTHONPATH=path)
    assert status == 4 and "Traceback" in errors


def test_the_sentence_of_such_a_failure_ends_with_a_command_that_shows_its_traceback(model, tmp_path):
    broken = tmp_path / "broken path" / "transformers"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise RuntimeError('no transformers today')")
    out = tmp_path / "out"
    _, events, _ = tracer("trace", "--model", model("llama"), "--out", out, PYTHONPATH=f"{broken.parent}:{PYTHON}")
    command = events[-1]["message"].partition("shown by: ")[2]
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 4 and "Traceback" in done.stderr and "no transformers today" in done.stderr
    assert "shown by" not in json.loads(done.stdout.splitlines()[-1])["message"] and not out.exists()


def test_a_python_without_torch_is_told_of_the_set_up(model, tmp_path):
    command = [sys.executable, "-S", "-m", "workbench_tracer", "trace", "--model", str(model("llama")), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(PYTHONPATH=str(PYTHON)), timeout=60)
    event = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 4 and event["code"] == "missing-package" and "--debug" not in event["message"]
    assert "has no torch" in event["message"] and "workbench setup" in event["message"] and sys.executable in event["message"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_trace_leaves_nothing(number, model, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench_tracer", "trace", "--model", model("llama"), "--out", tmp_path / "out"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(),
    )  # fmt: skip
    assert json.loads(process.stdout.readline())["name"] == "build"
    assert len(list(tmp_path.iterdir())) == 1
    process.send_signal(number)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + number and '"done"' not in rest
    assert not list(tmp_path.iterdir())


def test_an_older_trace_is_replaced_and_kept_on_failure(model, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "trace.json").write_text("old")
    assert tracer("trace", "--model", tmp_path / "gone", "--out", out)[0] == 3
    assert (out / "trace.json").read_text() == "old"
    assert tracer("trace", "--model", model("llama"), "--out", out, "--no-proof")[0] == 0
    assert json.loads((out / "trace.json").read_text())["proof"] is None
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out"]


# --- cache key ---


def key_of(directory, *options):
    status, answers, errors = tracer("cache-key", "--model", directory, *options)
    assert status == 0, errors
    return answers[0]["key"]


def test_cache_key_changes_with_what_matters(tmp_path):
    directory = zoo.save("llama", tmp_path / "model")
    key = key_of(directory)
    assert key == key_of(directory)
    assert len({key, key_of(directory, "--full"), key_of(directory, "--dtype", "bfloat16"), key_of(directory, "--no-proof")}) == 4
    (directory / "generation_config.json").write_text("{}")
    assert key == key_of(directory)
    with (directory / "model.safetensors").open("r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"\0\0\0\0")
    assert key == key_of(directory), "values of weights do not matter"
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, "rms_norm_eps": 1e-3}))
    assert key != key_of(directory)
    (directory / "config.json").write_text(json.dumps(config))
    (directory / "model.safetensors").unlink()
    assert key != key_of(directory)


def test_cache_key_changes_where_tied_weights_come_apart(tmp_path):
    """The same headers, but the head is another matrix now: the trace of the tied model would give wrong numbers."""
    directory = zoo.save("qwen2", tmp_path / "model")
    weights = load_file(directory / "model.safetensors")
    head = weights["model.embed_tokens.weight"].clone()
    save_file({**weights, "lm_head.weight": head}, directory / "model.safetensors")
    key = key_of(directory)
    head[7, 3] += 1.0
    save_file({**weights, "lm_head.weight": head}, directory / "model.safetensors")
    assert key != key_of(directory)


def test_cache_key_changes_with_the_end_of_text(tmp_path):
    directory = zoo.save_config("llama", tmp_path / "model")
    keys = set()
    for end in (2, 7, [2, 7]):
        (directory / "generation_config.json").write_text(json.dumps({"eos_token_id": end}))
        keys.add(key_of(directory))
    assert len(keys) == 3


def test_cache_key_changes_with_the_source_of_the_model(own_model):
    directory = own_model()
    key = key_of(directory)
    with (directory / "modeling_own.py").open("a") as file:
        file.write("# other\n")
    assert key != key_of(directory)


def test_cache_key_is_quick_and_imports_no_torch(model):
    """Processor time, since other processes may have the machine."""
    code = "import sys; from workbench_tracer.commands import main; main(sys.argv[1:]); sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code, "cache-key", "--model", str(model("llama"))], env=environment(), capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.3


def test_cache_key_of_bad_input(tmp_path):
    status, events, _ = tracer("cache-key", "--model", tmp_path)
    assert status == 3 and events[0]["code"] == "no-config"


# --- tokenizer ---


@pytest.fixture
def with_tokenizer(model, tmp_path):
    import tokenizers
    import transformers

    shutil.copytree(model("llama"), tmp_path / "model")
    words = {word: number for number, word in enumerate(["<s>", "</s>", "<unk>", "hello", "world", "user", ":"])}
    core = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    core.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    core.post_processor = tokenizers.processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    fast.chat_template = "{% for message in messages %}{{ message.role }} : {{ message.content }} {% endfor %}{% if add_generation_prompt %}</s>{% endif %}"
    fast.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_tokenizer_answers_line_by_line(with_tokenizer):
    requests = [
        {"op": "encode", "text": "hello world"},
        {"op": "encode", "text": "hello world", "add_special_tokens": False},
        {"op": "decode", "ids": [0, 3, 4, 1]},
        {"op": "decode", "ids": [0, 3, 4, 1], "skip_special_tokens": False},
        {"op": "chat", "messages": [{"role": "user", "content": "hello"}]},
        {"op": "decode", "ids": ["x"]},
        {"op": "sing"},
        {"op": "encode"},
    ]
    lines = "".join(json.dumps(request) + "\n" for request in requests) + "no json\n\n"
    status, answers, errors = tracer("tokenizer", "--model", with_tokenizer, stdin=lines)
    assert status == 0, errors
    assert answers[:5] == [
        {"ids": [0, 3, 4]},
        {"ids": [3, 4]},
        {"text": "hello world"},
        {"text": "<s> hello world </s>"},
        {"ids": [5, 6, 3, 1]},
    ]
    assert all("error" in answer for answer in answers[5:]) and len(answers) == 9


def test_fast_tokenizer_answers_as_transformers_does(with_tokenizer):
    """The same requests to the tokenizer with transformers, and without: tokenizer.json says all of this one."""
    import transformers
    from workbench_tracer.fast_tokenizer import FastTokenizer
    from workbench_tracer.tokenizer import answer, load_tokenizer

    fast = load_tokenizer(with_tokenizer, False)
    assert isinstance(fast, FastTokenizer)
    full = transformers.AutoTokenizer.from_pretrained(with_tokenizer)
    messages = [{"role": "user", "content": "hello"}]
    for request in (
        {"op": "encode", "text": "hello world unknown"},
        {"op": "decode_many", "lists": [[0, 3], [4, 1, 3], []]},
        {"op": "pieces", "ids": [0, 3, 4]},
        {"op": "chat", "messages": messages},
        {"op": "chat", "messages": messages, "variables": {"tokenize": False, "add_generation_prompt": False, "extra": 1}},
    ):
        assert answer(fast, json.dumps(request)) == answer(full, json.dumps(request)), request


@pytest.mark.parametrize(
    "change",
    [{"tokenizer_class": "LlamaTokenizer"}, {"add_bos_token": True}, {"auto_map": {}, "add_prefix_space": True}, {"bos_token": "<new>"}],
    ids=["class of its own", "post-processor from settings", "another way to split", "token that stands elsewhere"],
)
def test_fast_tokenizer_declines_what_transformers_changes(with_tokenizer, change):
    from workbench_tracer.fast_tokenizer import open_fast

    file = with_tokenizer / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    assert open_fast(with_tokenizer) is None


def test_pieces_of_a_character_have_their_bytes(tmp_path):
    """Byte-level BPE: "é" is two tokens, neither of which is text alone."""
    import tokenizers
    from workbench_tracer.fast_tokenizer import FastTokenizer
    from workbench_tracer.tokenizer import answer

    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    core = tokenizers.Tokenizer(tokenizers.models.BPE({letter: number for number, letter in enumerate(letters)}, []))
    core.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = tokenizers.decoders.ByteLevel()
    helper = FastTokenizer(core, {}, None)
    ids = answer(helper, json.dumps({"op": "encode", "text": "é"}))["ids"]
    pieces = answer(helper, json.dumps({"op": "pieces", "ids": ids}))["pieces"]
    assert [piece["bytes"] for piece in pieces] == [[0xC3], [0xA9]]
    assert {piece["text"] for piece in pieces} == {"\ufffd"}


@pytest.mark.parametrize(
    "template, text",
    [
        ("{% for m in messages %}\n{{ m.content }}\n{% endfor %}", "hi\n"),
        ("{{ messages | tojson }}", '[{"role": "user", "content": "hi"}]'),
        ("{% for m in [1, 2, 3] %}{% if m == 2 %}{% break %}{% endif %}{{ m }}{% endfor %}", "1"),
        ("{% generation %}{{ messages[0].content }}{% endgeneration %}", "hi"),
        ("{{ bos_token }}{{ unset }}", "<s>"),
    ],
    ids=["blocks are trimmed", "JSON as it is", "loops can be left", "marks of training", "named tokens"],
)
def test_templates_render_as_in_transformers(template, text):
    from transformers.utils.chat_template_utils import render_jinja_template
    from workbench_tracer.fast_tokenizer import compile_template

    messages = [{"role": "user", "content": "hi"}]
    rendered, _ = render_jinja_template([messages], chat_template=template, bos_token="<s>")
    assert compile_template(template).render(messages=messages, bos_token="<s>") == rendered[0] == text


def test_template_that_reaches_into_python_is_stopped():
    import jinja2
    from workbench_tracer.fast_tokenizer import compile_template

    with pytest.raises(jinja2.exceptions.SecurityError):
        compile_template("{{ messages.__class__.__mro__ }}").render(messages=[])


def test_no_tokenizer_and_no_template(model, with_tokenizer):
    status, events, _ = tracer("tokenizer", "--model", model("llama"))
    assert status == 3 and events[0]["code"] == "no-tokenizer"
    (with_tokenizer / "chat_template.jinja").unlink()
    _, answers, _ = tracer("tokenizer", "--model", with_tokenizer, stdin='{"op": "chat", "messages": []}\n')
    assert "no chat template" in answers[0]["error"]


# --- names ---

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub_cache(model, tmp_path):
    repo = tmp_path / "home" / "hub" / "models--org--tiny"
    snapshot = repo / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(COMMIT)
    shutil.copy(model("llama") / "config.json", snapshot)
    return tmp_path / "home"


@pytest.mark.parametrize("name", ["org/tiny", "org/tiny@main", f"org/tiny@{COMMIT}"])
def test_a_name_in_the_cache(name, hub_cache):
    status, answers, errors = tracer("resolve", "--model", name, HF_HOME=str(hub_cache))
    assert status == 0, errors
    assert (Path(answers[0]["path"]) / "config.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["org/other"], "not-in-cache", ["org/other"]),
        (["org/tiny@v9"], "not-in-cache", ["org/tiny@v9"]),
        (["org/tiny@v9", "--download"], "offline", ["org/tiny@v9", "HF_HUB_OFFLINE"]),
        (["../x"], "bad-name", ["../x"]),
        (["a/b/c"], "bad-name", ["a/b/c"]),
    ],
)
def test_a_name_that_is_not_there(arguments, code, words, hub_cache):
    status, events, errors = tracer("resolve", "--model", *arguments, HF_HOME=str(hub_cache))
    assert status == 3 and events[0]["code"] == code and "Traceback" not in errors
    assert all(word in events[0]["message"] for word in words)


def test_a_server_that_does_not_answer(hub_cache):
    changes = {
        "HF_HOME": str(hub_cache),
        "HF_HUB_OFFLINE": "0",
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "HF_TOKEN": "hf_secret_of_this_test",
    }
    status, events, errors = tracer("resolve", "--model", "org/other", "--download", **changes)
    assert status == 3 and events[0]["code"] == "download-failed" and "127.0.0.1:9" in events[0]["message"]
    assert "hf_secret_of_this_test" not in json.dumps(events) + errors


def test_a_full_disk_is_one_sentence_and_leaves_nothing(model, tmp_path):
    """A limit on the size of files makes write() fail half-way, as a full disk does."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))  # noqa: E731
    done = subprocess.run(
        [sys.executable, "-m", "workbench_tracer", "trace", "--model", model("llama"), "--out", tmp_path / "out", "--no-proof"],
        capture_output=True, text=True, env=environment(PYTHONDONTWRITEBYTECODE="1"), preexec_fn=limit, timeout=300,
    )  # fmt: skip
    event = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, event["code"]) == (3, "unwritable") and str(tmp_path / "out") in event["message"]
    assert not list(tmp_path.iterdir())
