"""Bad input gives one clear sentence, the right exit code, and leaves nothing behind."""

import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import zipfile

import pytest
import support
import zoo
from support import BAD_INPUT, DONE, NO_TRACE, RUNTIME, workbench


@pytest.fixture
def llama_copy(tmp_path):
    """A model directory of one's own, to break."""
    target = tmp_path / "model"
    shutil.copytree(support.model("llama"), target)
    return target


@pytest.fixture
def work(tmp_path):
    """An empty current directory, apart from the input."""
    directory = tmp_path / "work"
    directory.mkdir()
    return directory


def _refused(work, model, code, *words, command=(), options=("--apply-all", "--export", "plan.json")):
    run = workbench(*command, model, *options, cwd=work)
    sentence = run.expect_error(code, *words)
    assert not list(work.iterdir()), "something was written"
    return sentence


def _edit_config(directory, **changes):
    file = directory / "config.json"
    config = json.loads(file.read_text())
    for key, value in changes.items():
        if value is None:
            config.pop(key, None)
        else:
            config[key] = value
    file.write_text(json.dumps(config))


# --- the model directory -----------------------------------------------------------------------------------------------------------------


def test_missing_directory(work, tmp_path):
    _refused(work, tmp_path / "nowhere", BAD_INPUT, "nowhere")


def test_empty_directory(work, tmp_path):
    (tmp_path / "empty").mkdir()
    _refused(work, tmp_path / "empty", BAD_INPUT, "config.json")


def test_a_name_that_is_in_no_cache(work):
    _refused(work, "nobody/no-model", BAD_INPUT, "nobody/no-model")


@pytest.mark.parametrize("text", ["{", "", "[1, 2]", '{"model_type": "llama"', "\x00\x01"])
def test_broken_json(work, llama_copy, text):
    (llama_copy / "config.json").write_text(text)
    _refused(work, llama_copy, BAD_INPUT, "config.json")


def test_unknown_model_type(work, llama_copy):
    _edit_config(llama_copy, model_type="no-such-model", architectures=["NoSuchModel"])
    _refused(work, llama_copy, BAD_INPUT, "no-such-model")


def test_config_without_model_type(work, llama_copy):
    _edit_config(llama_copy, model_type=None, architectures=None)
    _refused(work, llama_copy, BAD_INPUT, "model_type")


def test_sizes_that_cannot_be(work, llama_copy):
    _edit_config(llama_copy, hidden_size=-4)
    run = workbench(llama_copy, "--apply-all", "--export", "plan.json", cwd=work)
    assert run.code in (BAD_INPUT, NO_TRACE)
    run.expect_error(run.code)
    assert not list(work.iterdir())


# --- the weights -------------------------------------------------------------------------------------------------------------------------

RUNS = {"command": ("verify",), "options": ("--apply-all", "--dump-logits", "out.safetensors")}


def test_truncated_safetensors(work, llama_copy):
    file = llama_copy / "model.safetensors"
    os.truncate(file, file.stat().st_size - 1000)
    _refused(work, llama_copy, BAD_INPUT, "model.safetensors", **RUNS)


def test_header_pointing_past_the_end(work, llama_copy):
    file = llama_copy / "model.safetensors"
    data = file.read_bytes()
    file.write_bytes(struct.pack("<Q", 1 << 40) + data[8:])
    _refused(work, llama_copy, BAD_INPUT, "model.safetensors", **RUNS)


def _rewrite_header(file, change):
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


def test_offsets_past_the_end(work, llama_copy):
    def change(header):
        entry = header["model.norm.weight"]
        entry["data_offsets"] = [1 << 40, (1 << 40) + entry["data_offsets"][1] - entry["data_offsets"][0]]

    _rewrite_header(llama_copy / "model.safetensors", change)
    _refused(work, llama_copy, BAD_INPUT, "model.safetensors", **RUNS)


def test_unknown_dtype(work, llama_copy):
    _rewrite_header(llama_copy / "model.safetensors", lambda header: header["model.norm.weight"].update(dtype="F99"))
    _refused(work, llama_copy, BAD_INPUT, "F99", **RUNS)


def test_wrong_shape(work, llama_copy):
    def change(header):
        header["model.norm.weight"]["shape"] = [30, 2]

    _rewrite_header(llama_copy / "model.safetensors", change)
    _refused(work, llama_copy, BAD_INPUT, "model.norm.weight", **RUNS)


def test_missing_tensor(work, llama_copy):
    _rewrite_header(llama_copy / "model.safetensors", lambda header: header.pop("model.layers.1.mlp.up_proj.weight"))
    _refused(work, llama_copy, BAD_INPUT, "model.layers.1.mlp.up_proj.weight", **RUNS)


def test_missing_shard(work, tmp_path):
    directory = tmp_path / "sharded"
    zoo.save("llama", directory, shard_bytes=150_000)
    shard = sorted(directory.glob("model-*.safetensors"))[1]
    shard.unlink()
    _refused(work, directory, BAD_INPUT, shard.name, **RUNS)


# --- archives ----------------------------------------------------------------------------------------------------------------------------


def test_random_bytes_as_archive(work, tmp_path):
    file = tmp_path / "model.pt2"
    file.write_bytes(os.urandom(4096))
    _refused(work, file, BAD_INPUT, "model.pt2")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A real archive of a small program, from torch.export itself."""
    import torch

    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x)

    file = tmp_path_factory.mktemp("archive") / "small.pt2"
    with torch.no_grad():
        torch.export.save(torch.export.export(Small(), (torch.zeros(2, 4),)), file)
    return file


def _repack(source, target, change):
    """Copies a zip, stored; change(name, data) -> list of (name, data)."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for item in old.infolist():
            for name, data in change(item.filename, old.read(item)):
                new.writestr(name, data)


def test_newer_schema(work, tmp_path, archive):
    def change(name, data):
        if name.endswith("models/model.json"):
            program = json.loads(data)
            program["schema_version"]["major"] += 1
            data = json.dumps(program).encode()
        return [(name, data)]

    file = tmp_path / "newer.pt2"
    _repack(archive, file, change)
    _refused(work, file, BAD_INPUT, "schema", "newer.pt2")


def test_path_traversal(work, tmp_path, archive):
    file = tmp_path / "evil.pt2"
    _repack(archive, file, lambda name, data: [(name, data), ("../../../../tmp/workbench-escaped", b"x")])
    _refused(work, file, BAD_INPUT, "evil.pt2")
    assert not os.path.exists("/tmp/workbench-escaped")


def test_bomb(work, tmp_path, archive):
    """4 GiB of zeros under the name of the program: refused, and within 1 GiB of memory."""
    file = tmp_path / "bomb.pt2"
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for item in old.infolist():
            if not item.filename.endswith("models/model.json"):
                new.writestr(item.filename, old.read(item))
        name = next(item.filename for item in old.infolist() if item.filename.endswith("models/model.json"))
        with new.open(name, "w", force_zip64=True) as out:
            for _ in range(64):
                out.write(bytes(64 << 20))
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))  # noqa: E731
    workbench(file, "--apply-all", "--export", "plan.json", cwd=work, preexec_fn=limit).expect_error(BAD_INPUT, "bomb.pt2")
    assert not list(work.iterdir())


@pytest.mark.parametrize("keep", [10, 200, 0.5])
def test_truncated_archive(work, tmp_path, archive, keep):
    data = archive.read_bytes()
    file = tmp_path / "cut.pt2"
    file.write_bytes(data[: keep if isinstance(keep, int) else int(len(data) * keep)])
    _refused(work, file, BAD_INPUT, "cut.pt2")


def test_archive_without_program(work, tmp_path):
    file = tmp_path / "other.pt2"
    with zipfile.ZipFile(file, "w") as new:
        new.writestr("readme.txt", "hello")
    _refused(work, file, BAD_INPUT, "other.pt2")


# --- plans -------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def plan(tmp_path):
    """A good plan of the llama model, as a value and as a file to overwrite."""
    file = tmp_path / "plan-in.json"
    workbench(support.model("llama"), "--apply-all", "--export", file).expect(DONE)
    return file


def _with_plan(work, plan, change, *words, model="llama"):
    value = json.loads(plan.read_text())
    change(value)
    plan.write_text(json.dumps(value))
    _refused(work, support.model(model), BAD_INPUT, *words, options=("--plan", plan, "--export", "plan.json"))


def test_plan_for_another_model(work, plan):
    _with_plan(work, plan, lambda value: None, "plan-in.json", model="qwen3")


def test_plan_with_an_unknown_key(work, plan):
    _with_plan(work, plan, lambda value: value.update(surprise=1), "surprise")


def test_plan_with_an_unknown_key_in_a_site(work, plan):
    _with_plan(work, plan, lambda value: value["sites"][0].update(surprise=1), "surprise")


def test_plan_with_an_unknown_version(work, plan):
    def change(value):
        key = next(key for key in ("schema", "schema_version", "version") if key in value)
        value[key] = 99

    _with_plan(work, plan, change, "99")


def test_plan_naming_a_site_that_is_gone(work, plan):
    def change(value):
        value["sites"][0]["id"] = value["sites"][0]["id"].replace("layers.0", "layers.77")

    _with_plan(work, plan, change, "layers.77")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"sites": 3}'])
def test_plan_that_is_no_plan(work, plan, text):
    plan.write_text(text)
    _refused(work, support.model("llama"), BAD_INPUT, "plan-in.json", options=("--plan", plan, "--export", "plan.json"))


def test_missing_plan(work, tmp_path):
    _refused(work, support.model("llama"), BAD_INPUT, "gone.json", options=("--plan", tmp_path / "gone.json"))


# --- output ------------------------------------------------------------------------------------------------------------------------------


def test_output_into_a_missing_directory(work):
    _refused(work, support.model("llama"), BAD_INPUT, "no-dir", options=("--apply-all", "--export", "no-dir/plan.json"))


def test_output_is_a_directory(work, tmp_path):
    (tmp_path / "taken").mkdir()
    _refused(work, support.model("llama"), BAD_INPUT, "taken", options=("--apply-all", "--export", tmp_path / "taken"))


def test_unwritable_output(work):
    # /proc refuses new files to root, too.
    _refused(work, support.model("llama"), BAD_INPUT, "/proc/plan.json", options=("--apply-all", "--export", "/proc/plan.json"))


def test_disk_full_keeps_the_old_file(work):
    """A file size limit makes write() fail half-way, as a full disk does."""
    (work / "plan.json").write_text("old")
    workbench(support.model("llama"), "--apply-all").expect(DONE)  # traced and cached, so that the limit meets the plan only

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    run = workbench(support.model("llama"), "--apply-all", "--export", "plan.json", cwd=work, preexec_fn=limit)
    run.expect_error(BAD_INPUT, "plan.json")
    assert [file.name for file in work.iterdir()] == ["plan.json"]
    assert (work / "plan.json").read_text() == "old"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB."""
    point = tmp_path / "disk"
    point.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", point], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs privileges")
    yield point
    subprocess.run(["umount", point], check=True)


def test_full_file_system_keeps_the_old_file(work, small_disk):
    (small_disk / "plan.json").write_text("old")
    (small_disk / "filler").write_bytes(bytes(8 << 10))
    run = workbench(support.model("gemma3"), "--apply-all", "--export", small_disk / "plan.json", cwd=work)
    run.expect_error(BAD_INPUT, "plan.json")
    assert (small_disk / "plan.json").read_text() == "old"
    assert {file.name for file in small_disk.iterdir()} == {"plan.json", "filler"}


# --- helpers that die --------------------------------------------------------------------------------------------------------------------


def test_tracer_killed_half_way(work, tmp_path):
    process = support.start(
        support.model("llama"), "--apply-all", "--export", "plan.json", cwd=work, XDG_CACHE_HOME=str(tmp_path / "cache")
    )
    support.child_of(process, "workbench_tracer").send_signal(signal.SIGKILL)
    support.finished(process).expect_error(NO_TRACE, "trace")
    assert not list(work.iterdir())
    assert not list((tmp_path / "cache").rglob("trace.json"))


def test_worker_killed_half_way(work, tmp_path):
    workbench(support.model("llama"), "--apply-all").expect(DONE)
    tokens = support.write_tokens(tmp_path / "tokens.txt", support.random_tokens(211, [200] * 40))
    process = support.start(
        "verify", support.model("llama"), "--apply-all", "--tokens", tokens, "--dump-logits", "out.safetensors", cwd=work
    )
    support.child_of(process, "workbench-worker").send_signal(signal.SIGKILL)
    support.finished(process).expect_error(RUNTIME, "worker")
    assert not list(work.iterdir())


def test_no_python(work, tmp_path):
    run = workbench(
        support.model("llama"),
        "--apply-all",
        "--export",
        "plan.json",
        cwd=work,
        env=support.environment(WORKBENCH_PYTHON="/nowhere/python", XDG_CACHE_HOME=str(tmp_path / "cache")),
    )
    run.expect_error(NO_TRACE, "/nowhere/python")
    assert not list(work.iterdir())


def test_python_without_torch(work, tmp_path):
    run = workbench(
        support.model("llama"),
        "--apply-all",
        "--export",
        "plan.json",
        cwd=work,
        env=support.environment(WORKBENCH_PYTHON="/usr/bin/python3", XDG_CACHE_HOME=str(tmp_path / "cache"), PYTHONPATH=None),
    )
    run.expect_error(NO_TRACE)
    assert not list(work.iterdir())


# --- models that are not what we plan ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quantization", "name"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}, "fp8"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, "gptq"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "awq"),
    ],
)
def test_quantised_checkpoints_are_planned_or_named(work, llama_copy, quantization, name):
    _edit_config(llama_copy, quantization_config=quantization)
    run = workbench(llama_copy, "--apply-all", "--export", "plan.json", cwd=work)
    if run.code == DONE:
        assert name in (run.out + run.err).lower(), "a plan for a quantised checkpoint must say so"
    else:
        run.expect_error(run.code, name)
        assert run.code in (BAD_INPUT, NO_TRACE) and not list(work.iterdir())


def test_adapter_is_named(work, tmp_path):
    directory = tmp_path / "adapter"
    directory.mkdir()
    (directory / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "base_model_name_or_path": "org/base"}))
    _refused(work, directory, BAD_INPUT, "adapter")


def test_encoder_decoder_is_named(work, tmp_path):
    import transformers

    directory = tmp_path / "t5"
    transformers.T5Config(
        vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, architectures=["T5ForConditionalGeneration"]
    ).save_pretrained(directory)
    run = workbench(directory, "--apply-all", "--export", "plan.json", cwd=work)
    assert run.code in (BAD_INPUT, NO_TRACE)
    run.expect_error(run.code, "encoder-decoder")
    assert not list(work.iterdir())


def test_vision_language_is_planned_or_named(work, tmp_path):
    import transformers

    directory = tmp_path / "vision"
    text = {key: value for key, value in zoo.ZOO["gemma3"].config.items() if value is not None}
    transformers.Gemma3Config(
        text_config=text,
        vision_config={"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64},
        architectures=["Gemma3ForConditionalGeneration"],
    ).save_pretrained(directory)
    run = workbench(directory, "--apply-all", "--export", "plan.json", cwd=work)
    if run.code != DONE:
        run.expect_error(run.code, "vision")
        assert run.code in (BAD_INPUT, NO_TRACE) and not list(work.iterdir())


# --- models that bring their own code ----------------------------------------------------------------------------------------------------

OWN_CODE = """
import pathlib
from transformers import LlamaConfig, LlamaForCausalLM

pathlib.Path(__file__).with_name("was-run").touch()


class OwnConfig(LlamaConfig):
    model_type = "own-model"


class OwnForCausalLM(LlamaForCausalLM):
    config_class = OwnConfig
"""


@pytest.fixture
def own_code(tmp_path):
    directory = tmp_path / "own"
    shutil.copytree(support.model("llama"), directory)
    marker = tmp_path / "was-run"
    (directory / "modeling_own.py").write_text(OWN_CODE.replace('pathlib.Path(__file__).with_name("was-run")', f"pathlib.Path({str(marker)!r})"))
    _edit_config(
        directory,
        model_type="own-model",
        architectures=["OwnForCausalLM"],
        auto_map={"AutoConfig": "modeling_own.OwnConfig", "AutoModelForCausalLM": "modeling_own.OwnForCausalLM"},
    )
    return directory, marker


def test_own_code_does_not_run_unasked(work, own_code):
    directory, marker = own_code
    _refused(work, directory, BAD_INPUT, "--trust-remote-code")
    assert not marker.exists()


def test_own_code_runs_when_trusted(work, own_code):
    directory, marker = own_code
    workbench(directory, "--apply-all", "--trust-remote-code", "--export", "plan.json", cwd=work).expect(DONE)
    assert marker.exists()
    plan = json.loads((work / "plan.json").read_text())
    assert sum(site["pattern"] == "qkv" for site in plan["sites"]) == 3
