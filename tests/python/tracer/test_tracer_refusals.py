"""Each bad input is one sentence that names what is wrong and where; nothing is written."""

import json
import os
import shutil
import struct

import pytest
import transformers
import zoo
from tracer_support import refusal, trace


@pytest.fixture
def llama(model, tmp_path):
    shutil.copytree(model("llama"), tmp_path / "model")
    return tmp_path / "model"


def edit(directory, **changes):
    file = directory / "config.json"
    config = json.loads(file.read_text())
    config.update(changes)
    file.write_text(json.dumps({key: value for key, value in config.items() if value != "gone"}))


def refused(directory, tmp_path, code, *words, status=3, **options):
    error = refusal(directory, tmp_path / "out", **options)
    assert (error.code, error.exit_status) == (code, status), error.message
    for word in words:
        assert word in error.message


# --- directory and config.json ---


def test_missing_directory(tmp_path):
    refused(tmp_path / "gone", tmp_path, "no-such-directory", "gone")


def test_a_file_instead_of_a_directory(tmp_path):
    (tmp_path / "file").write_text("x")
    refused(tmp_path / "file", tmp_path, "not-a-directory", "file")


def test_empty_directory(tmp_path):
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", tmp_path, "no-config", "config.json", str(tmp_path / "empty"))


@pytest.mark.parametrize(("file", "hint"), [("params.json", "original release"), ("model.gguf", "GGUF")])
def test_other_layouts_are_recognised(file, hint, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / file).write_text("{}")
    refused(tmp_path / "model", tmp_path, "no-config", hint)


@pytest.mark.parametrize("text", [b"{", b"", b"[1]", b'{"model_type": "llama"', b"\xff\xfe\x00", b"[" * 100_000])
def test_broken_json(text, llama, tmp_path):
    (llama / "config.json").write_bytes(text)
    refused(llama, tmp_path, "broken-json", "config.json")


@pytest.mark.parametrize(
    ("text", "why"),
    [(b"[" * 100_000, "nested too deeply"), (b'{"a": ' + b"9" * 5000 + b"}", "digits"), (b"\xff\xfe\x00", "UTF-8"), (b"{", "line 1")],
)
def test_broken_json_says_how(text, why, llama, tmp_path):
    (llama / "config.json").write_bytes(text)
    refused(llama, tmp_path, "broken-json", why)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("num_hidden_layers", 10**9, "10000"),
        ("vocab_size", 10**30, "64 bits"),
        ("max_position_embeddings", -(10**30), "64 bits"),
        ("unknown", {"deep": [[10**30]]}, "64 bits"),
        ("text_config", {"num_hidden_layers": 10**9}, "10000"),
    ],
)
def test_numbers_that_nothing_can_be_made_of(name, value, why, llama, tmp_path):
    edit(llama, **{name: value})
    refused(llama, tmp_path, "bad-number", why, "config.json", "deep" if name == "unknown" else name if name != "text_config" else "layers")


@pytest.mark.parametrize("value", ["x", [1], 7])
def test_a_text_part_that_is_none(value, llama, tmp_path):
    edit(llama, text_config=value)
    refused(llama, tmp_path, "bad-config", "text_config", "config.json")


def test_infinities_are_kept_as_text(llama, tmp_path):
    """Configurations of Mamba hold one; JSON does not."""
    edit(llama, unknown=[0.0, float("inf")], other=float("nan"))
    trace(llama, tmp_path / "out")
    text = (tmp_path / "out" / "trace.json").read_text()
    config = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))["model"]["config"]
    assert (config["unknown"], config["other"]) == ([0.0, "inf"], "nan")


def test_no_model_type(llama, tmp_path):
    edit(llama, model_type="gone")
    refused(llama, tmp_path, "no-model-type", "model_type", "config.json")


def test_unknown_model_type(llama, tmp_path):
    edit(llama, model_type="no-such-model")
    refused(llama, tmp_path, "unknown-model-type", "no-such-model", "config.json")


@pytest.mark.parametrize(
    "changes", [{"hidden_size": -4}, {"num_attention_heads": 0}, {"hidden_size": "many"}, {"num_hidden_layers": 0}]
)
def test_sizes_that_cannot_be(changes, tmp_path):
    directory = zoo.save_config("llama", tmp_path / "model")
    edit(directory, **changes)
    assert refusal(directory, tmp_path / "out").exit_status in (3, 4)


@pytest.mark.parametrize("count", [0, -1])
@pytest.mark.parametrize("name", ["llama", "gpt-neox"])
def test_no_layers(name, count, tmp_path):
    directory = zoo.save_config(name, tmp_path / "model")
    edit(directory, num_hidden_layers=count)
    refused(directory, tmp_path, "no-layers", "config.json", f"num_hidden_layers as {count}", "no layers")


@pytest.mark.parametrize(
    ("name", "changes", "key"),
    [
        ("llama", {"hidden_act": "nope"}, "hidden_act"),
        ("gemma2", {"hidden_activation": "nope"}, "hidden_activation"),
        ("llama", {"rope_parameters": {"rope_type": "nope", "rope_theta": 10000.0}}, "rope_type"),
    ],
)
def test_names_that_transformers_does_not_know(name, changes, key, tmp_path):
    directory = zoo.save_config(name, tmp_path / "model")
    edit(directory, **changes)
    refused(directory, tmp_path, "unknown-name", f"{key} as 'nope'", "does not know")


@pytest.mark.parametrize(
    ("name", "rope"),
    [
        ("llama", {"rope_type": "default", "rope_theta": -10000.0}),
        ("llama", {"rope_type": "default", "rope_theta": 0.0}),
        ("llama", {"rope_type": "linear", "rope_theta": 10000.0, "factor": 0.0}),
        ("gemma3", {"sliding_attention": {"rope_type": "default", "rope_theta": -2.0}, "full_attention": {"rope_type": "default"}}),
    ],
)
def test_rope_parameters_that_give_no_numbers(name, rope, tmp_path):
    directory = zoo.save_config(name, tmp_path / "model")
    edit(directory, rope_parameters=rope)
    refused(directory, tmp_path, "bad-rope", "rope_theta", "not finite")


# --- weights ---


def test_truncated_safetensors(llama, tmp_path):
    file = llama / "model.safetensors"
    os.truncate(file, file.stat().st_size - 1000)
    refused(llama, tmp_path, "truncated-safetensors", "model.safetensors")


@pytest.mark.parametrize("size", [0, 4])
def test_hardly_any_safetensors(size, llama, tmp_path):
    os.truncate(llama / "model.safetensors", size)
    refused(llama, tmp_path, "truncated-safetensors", "model.safetensors", str(size))


def test_header_past_the_end(llama, tmp_path):
    file = llama / "model.safetensors"
    file.write_bytes(struct.pack("<Q", 1 << 40) + file.read_bytes()[8:])
    refused(llama, tmp_path, "bad-safetensors-header", "model.safetensors")


def test_header_that_is_no_json(llama, tmp_path):
    (llama / "model.safetensors").write_bytes(struct.pack("<Q", 4) + b"abcd")
    refused(llama, tmp_path, "bad-safetensors-header", "model.safetensors")


def rewrite_header(directory, change):
    file = directory / "model.safetensors"
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        (
            lambda header: header["model.norm.weight"].update(data_offsets=[1 << 40, (1 << 40) + 240]),
            "truncated-safetensors",
            "model.norm.weight",
        ),
        (lambda header: header["model.norm.weight"].update(data_offsets=[240, 0]), "truncated-safetensors", "model.norm.weight"),
        (lambda header: header["model.norm.weight"].update(data_offsets=[0]), "bad-safetensors-header", "model.norm.weight"),
        (lambda header: header["model.norm.weight"].update(shape=[-60]), "bad-safetensors-header", "model.norm.weight"),
        (lambda header: header["model.norm.weight"].update(shape=[61]), "bad-safetensors-header", "model.norm.weight"),
        (lambda header: header["model.norm.weight"].update(shape=[30, 2]), "wrong-shape", "model.norm.weight"),
        (lambda header: header["model.norm.weight"].update(dtype="F99"), "unknown-dtype", "F99"),
        (lambda header: header["model.norm.weight"].update(dtype="I32"), "unsupported-dtype", "I32"),
        (lambda header: header["model.norm.weight"].pop("shape"), "bad-safetensors-header", "model.norm.weight"),
        (lambda header: header.pop("model.layers.1.mlp.up_proj.weight"), "missing-tensor", "model.layers.1.mlp.up_proj.weight"),
    ],
)
def test_wrong_header(change, code, word, llama, tmp_path):
    rewrite_header(llama, change)
    refused(llama, tmp_path, code, word)


def test_fp8_tensors_without_a_quantisation_config(llama, tmp_path):
    def change(header):
        entry = header["model.norm.weight"]
        entry.update(dtype="F8_E4M3", shape=[240])

    rewrite_header(llama, change)
    refused(llama, tmp_path, "unsupported-dtype", "F8_E4M3", "quantised")


@pytest.mark.parametrize(("dtype", "shape"), [("F64", [30]), ("I64", [30]), ("I32", [60])])
def test_tensors_in_a_type_that_is_no_quantisation(dtype, shape, llama, tmp_path):
    rewrite_header(llama, lambda header: header["model.norm.weight"].update(dtype=dtype, shape=shape))
    error = refusal(llama, tmp_path / "out")
    assert (error.code, error.exit_status) == ("unsupported-dtype", 3) and dtype in error.message
    assert "convert it to F32 or BF16" in error.message and "quantised" not in error.message


@pytest.fixture
def sharded(tmp_path):
    return zoo.save("llama", tmp_path / "sharded", shard_bytes=150_000)


def test_missing_shard(sharded, tmp_path):
    shard = sorted(sharded.glob("model-*.safetensors"))[1]
    shard.unlink()
    refused(sharded, tmp_path, "missing-shard", shard.name)


@pytest.mark.parametrize("index", [{}, {"weight_map": 3}, {"weight_map": {"model.norm.weight": "../../etc/passwd"}}])
def test_wrong_index(index, sharded, tmp_path):
    (sharded / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(sharded, tmp_path, "bad-index", "index.json")


def test_an_index_that_names_another_file(sharded, tmp_path):
    file = sharded / "model.safetensors.index.json"
    index = json.loads(file.read_text())
    index["weight_map"]["model.norm.weight"] = "model-00001-of-" + index["weight_map"]["model.norm.weight"].rsplit("-", 1)[1]
    file.write_text(json.dumps(index))
    refused(sharded, tmp_path, "missing-tensor", "model.norm.weight")


# --- kinds of models ---


@pytest.mark.parametrize(
    ("quantisation", "word"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_method": "gptq", "bits": 4}, "gptq"),
        ({"quant_method": "awq", "bits": 4}, "awq"),
        ({"load_in_4bit": True}, "bitsandbytes"),
        ({"quant_method": "compressed-tensors", "format": "float-quantized"}, "compressed-tensors"),
    ],
)
def test_quantised_checkpoints(quantisation, word, llama, tmp_path):
    edit(llama, quantization_config=quantisation)
    refused(llama, tmp_path, "quantised", word, "unquantised")


def test_adapter(tmp_path):
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "adapter_config.json").write_text(
        json.dumps({"peft_type": "LORA", "base_model_name_or_path": "org/base"})
    )
    refused(tmp_path / "adapter", tmp_path, "adapter", "LORA", "org/base")


def test_encoder_decoder(tmp_path):
    transformers.T5Config(vocab_size=99, d_model=32, num_layers=2, architectures=["T5ForConditionalGeneration"]).save_pretrained(
        tmp_path / "t5"
    )
    refused(tmp_path / "t5", tmp_path, "encoder-decoder", "encoder-decoder", "t5")


def test_encoder(tmp_path):
    transformers.BertConfig(vocab_size=99, architectures=["BertModel"]).save_pretrained(tmp_path / "bert")
    refused(tmp_path / "bert", tmp_path, "no-language-model", "BertModel")


def test_classifier(llama, tmp_path):
    edit(llama, architectures=["LlamaForSequenceClassification"])
    refused(llama, tmp_path, "no-language-model", "LlamaForSequenceClassification")


def test_vision_model_without_a_language_model(tmp_path):
    transformers.CLIPVisionConfig(architectures=["CLIPVisionModel"]).save_pretrained(tmp_path / "clip")
    refused(tmp_path / "clip", tmp_path, "no-language-model", "CLIPVisionModel")


@pytest.mark.parametrize("architectures", [["MambaForCausalLM"]])
def test_state_space_model(architectures, tmp_path):
    transformers.MambaConfig(vocab_size=99, hidden_size=32, num_hidden_layers=2, architectures=architectures).save_pretrained(
        tmp_path / "mamba"
    )
    refused(tmp_path / "mamba", tmp_path, "no-positions", "MambaForCausalLM", status=4)


def test_attention_outside_of_the_interface(tmp_path):
    transformers.FalconConfig(
        vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, architectures=["FalconForCausalLM"]
    ).save_pretrained(tmp_path / "falcon")
    refused(tmp_path / "falcon", tmp_path, "no-attention", "FalconForCausalLM", status=4)


def test_no_attention_at_all(own_model, tmp_path):
    parts = {"layer_forward": "return hidden_states"}
    refused(own_model(**parts), tmp_path, "no-attention", "OwnForCausalLM", status=4, trust_remote_code=True)


def test_control_flow_on_data_names_module_and_line(own_model, tmp_path):
    directory = own_model(attention_forward="hidden_states = hidden_states * 2 if hidden_states.sum() > 0 else hidden_states")
    lines = (directory / "modeling_own.py").read_text().splitlines()
    number = next(index for index, line in enumerate(lines, 1) if "hidden_states.sum() > 0" in line)
    refused(
        directory,
        tmp_path,
        "not-exportable",
        "model.layers.0.self_attn (OwnAttention)",
        f"modeling_own.py:{number}",
        status=4,
        trust_remote_code=True,
    )


def test_a_length_built_into_the_model(own_model, tmp_path):
    parts = {"layer_forward": "hidden_states = hidden_states + torch.ones(7, 1)"}
    refused(own_model(**parts), tmp_path, "not-exportable", "OwnForCausalLM", status=4, trust_remote_code=True)


def test_a_buffer_that_nobody_fills(own_model, tmp_path):
    parts = {"layer_init": "self.register_buffer('secret', torch.randn(3), persistent=False)"}
    refused(own_model(**parts), tmp_path, "unknown-buffer", "model.layers.0.secret", status=4, trust_remote_code=True)


# --- code of the model ---


def test_own_code_does_not_run_unasked(own_model, tmp_path):
    marker = tmp_path / "was-run"
    directory = own_model(before=f"open({str(marker)!r}, 'w')")
    refused(directory, tmp_path, "untrusted-code", "--trust-remote-code", "own")
    assert not marker.exists()
    trace(directory, tmp_path / "trusted", trust_remote_code=True, proof=False)
    assert marker.exists()


def test_native_class_is_preferred_to_code_that_is_not_trusted(llama, tmp_path):
    marker = tmp_path / "was-run"
    (llama / "modeling_own.py").write_text(f"open({str(marker)!r}, 'w')")
    edit(llama, auto_map={"AutoModelForCausalLM": "modeling_own.OwnForCausalLM"})
    described = trace(llama, tmp_path / "out", proof=False).described
    assert (
        described["model"]["class"] == "LlamaForCausalLM"
        and "its own model code" in described["warnings"][0]
        and not marker.exists()
    )


@pytest.mark.parametrize("architecture", ["OwnLM", "OwnModel"])
def test_own_language_models_may_have_any_name(architecture, own_model, tmp_path):
    """ChatGLM names its base model as the architecture, and in auto_map a class that generates."""
    directory = own_model()
    code = directory / "modeling_own.py"
    code.write_text(code.read_text().replace("OwnForCausalLM", "OwnLM"))
    auto_map = {"AutoConfig": "modeling_own.OwnConfig", "AutoModelForCausalLM": "modeling_own.OwnLM"}
    edit(directory, architectures=[architecture], auto_map=auto_map)
    assert trace(directory, tmp_path / "out", trust_remote_code=True).described["model"]["class"] == "OwnLM"


def test_own_code_of_another_head(own_model, tmp_path):
    directory = own_model()
    edit(directory, architectures=["OwnForSequenceClassification"])
    refused(directory, tmp_path, "no-language-model", "OwnForSequenceClassification", trust_remote_code=True)


def test_broken_own_code(own_model, tmp_path):
    refused(
        own_model(before="raise RuntimeError('broken on purpose')"),
        tmp_path,
        "bad-config",
        "broken on purpose",
        trust_remote_code=True,
    )


# --- output ---


def test_output_over_other_files(llama, tmp_path):
    out = tmp_path / "precious"
    out.mkdir()
    (out / "letter.txt").write_text("x")
    from workbench_tracer.errors import TracerError

    with pytest.raises(TracerError, match="name an empty or new folder"):
        trace(llama, out)
    assert [file.name for file in out.iterdir()] == ["letter.txt"]


def test_unwritable_output(llama):
    from pathlib import Path

    from workbench_tracer.errors import TracerError

    with pytest.raises(TracerError, match="/proc/out"):
        trace(llama, Path("/proc/out"))
