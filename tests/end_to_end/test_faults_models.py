"""A model that cannot be planned gives one clear sentence, the right exit code, and leaves nothing behind."""

import json
import shutil

import pytest
import support
import zoo
from support import BAD_INPUT, DONE, NO_TRACE, edit_config, refused, workbench


def test_missing_directory(work, tmp_path):
    refused(work, tmp_path / "nowhere", BAD_INPUT, "nowhere")


def test_empty_directory(work, tmp_path):
    (tmp_path / "empty").mkdir()
    refused(work, tmp_path / "empty", BAD_INPUT, "config.json")


def test_a_name_that_is_in_no_cache(work):
    refused(work, "nobody/no-model", BAD_INPUT, "nobody/no-model")


@pytest.mark.parametrize("text", ["{", "", "[1, 2]", '{"model_type": "llama"', "\x00\x01"])
def test_broken_json(work, llama_copy, text):
    (llama_copy / "config.json").write_text(text)
    refused(work, llama_copy, BAD_INPUT, "config.json")


def test_unknown_model_type(work, llama_copy):
    edit_config(llama_copy, model_type="no-such-model", architectures=["NoSuchModel"])
    refused(work, llama_copy, BAD_INPUT, "no-such-model")


def test_config_without_model_type(work, llama_copy):
    edit_config(llama_copy, model_type=None, architectures=None)
    refused(work, llama_copy, BAD_INPUT, "model_type")


def test_sizes_that_cannot_be(work, llama_copy):
    edit_config(llama_copy, hidden_size=-4)
    run = workbench(llama_copy, "--apply-all", "--export", "plan.json", cwd=work)
    assert run.code in (BAD_INPUT, NO_TRACE)
    run.expect_error(run.code)
    assert not list(work.iterdir())


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
    edit_config(llama_copy, quantization_config=quantization)
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
    refused(work, directory, BAD_INPUT, "adapter")


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
    edit_config(
        directory,
        model_type="own-model",
        architectures=["OwnForCausalLM"],
        auto_map={"AutoConfig": "modeling_own.OwnConfig", "AutoModelForCausalLM": "modeling_own.OwnForCausalLM"},
    )
    return directory, marker


def test_own_code_does_not_run_unasked(work, own_code):
    directory, marker = own_code
    refused(work, directory, BAD_INPUT, "--trust-remote-code")
    assert not marker.exists()


def test_own_code_runs_when_trusted(work, own_code):
    directory, marker = own_code
    workbench(directory, "--apply-all", "--trust-remote-code", "--export", "plan.json", cwd=work).expect(DONE)
    assert marker.exists()
    plan = json.loads((work / "plan.json").read_text())
    assert sum(site["pattern"] == "qkv" for site in plan["sites"]) == 3
