"""What is traced is what transformers computes."""

import json
import re
import zipfile

import pytest
import torch
import zoo
from tracer_support import load_with_weights, packed_tokens, relative_error, trace
from transformers import AutoModelForCausalLM

# Layer that each layer is a copy of, from the configurations of the zoo: window, rope and experts differ between layers.
TRACED_AS = {
    "llama": [0, 0, 0],
    "qwen2": [0, 0, 2, 2],
    "qwen3": [0, 0, 0],
    "gemma2": [0, 1, 0, 1],
    "gemma3": [0, 0, 2, 0],
    "olmo2": [0, 0, 0],
    "granite": [0, 0, 0],
    "smollm3": [0, 1, 0, 1],
    "starcoder2": [0, 0, 0],
    "qwen3-moe": [0, 1, 1],
    "mixtral": [0, 0, 0],
    "phi3": [0, 0, 0],
    "gpt-neox": [0, 0, 0],
}


@pytest.mark.parametrize("name", TRACED_AS)
def test_logits_equal_transformers_eager(name, model, traced, tmp_path):
    """The archive, loaded by torch.export.load with the checkpoint's weights, over packed sequences longer than any window."""
    program = load_with_weights(traced(name, full=True), model(name), tmp_path / "filled.pt2").module()
    eager = zoo.build(name)
    sequences, tokens, positions = packed_tokens(eager.config.vocab_size)
    rows = torch.arange(tokens.shape[1])
    with torch.no_grad():
        expected = torch.cat([eager(input_ids=ids[None], use_cache=False).logits[0] for ids in sequences])
        found = program(tokens, positions, rows)[0]
        some = program(tokens, positions, torch.tensor([32, 3, 3]))[0]
        one = program(tokens[:, :1], positions[:, :1], torch.tensor([0]))[0]
    assert relative_error(found, expected) < 1e-5
    assert relative_error(some, expected[[32, 3, 3]]) < 1e-5
    assert relative_error(one, expected[:1]) < 1e-5


@pytest.mark.parametrize("name", TRACED_AS)
def test_each_distinct_layer_is_traced_once(name, traced):
    layers = traced(name).described["layers"]
    assert layers["traced_as"] == TRACED_AS[name] and layers["count"] == len(TRACED_AS[name])
    assert sorted({call["layer"] for call in traced(name).calls()}) == list(range(max(TRACED_AS[name]) + 1))


_NAME = re.compile(r"'(?:as_)?name': '(\w+)'")


def _layer_nodes(found, prefix, number):
    """Ops of one layer with all arguments: its own values by position, parameters by name, what comes from outside as such."""
    values: dict[str, str] = {}
    result = []
    for node in found.nodes:
        if f",{prefix}.{number}," not in node["metadata"].get("nn_module_stack", "") or node["target"].startswith("_operator"):
            continue
        inputs = [entry for entry in node["inputs"] if entry["name"] != "layer"]

        def named(match, number=number):
            parameter = match[1].replace(f"_layers_{number}_", "_layers_N_") if match[1].startswith("p_") else "outer"
            return values.get(match[1], parameter)

        result.append((node["target"], _NAME.sub(named, str(inputs))))
        for name in _NAME.findall(str(node["outputs"])):
            values[name] = f"%{len(values)}"
    return result


@pytest.mark.parametrize("name", ["llama", "qwen2", "gemma2", "gemma3", "smollm3", "qwen3-moe"])
def test_traced_layers_stand_for_all_layers_of_the_whole_trace(name, traced):
    cut, whole = traced(name), traced(name, full=True)
    layers = cut.described["layers"]
    assert whole.described["layers"] is None
    for number, source in enumerate(layers["traced_as"]):
        expected = _layer_nodes(whole, layers["prefix"], number)
        assert len(expected) > 20
        assert _layer_nodes(cut, layers["prefix"], source) == expected


def test_attention_arguments_are_those_of_the_model(traced):
    calls = traced("gemma2", full=True).calls()
    assert [call["mask"] for call in calls] == ["sliding", "causal", "sliding", "causal"]
    assert [call["window"] for call in calls] == [zoo.WINDOW, 0, zoo.WINDOW, 0]
    assert [call["layer"] for call in calls] == [0, 1, 2, 3]
    assert {call["softcap"] for call in calls} == {3.0} and {call["scale"] for call in calls} == {24**-0.5}
    assert {call["scale"] for call in traced("granite").calls()} == {0.21}
    assert traced("gemma2").described["model"]["max_window"] == zoo.WINDOW


def test_names_are_those_of_the_model(traced):
    found = traced("qwen3")
    specs = [
        spec["parameter"]["parameter_name"]
        for spec in found.program["graph_module"]["signature"]["input_specs"]
        if "parameter" in spec
    ]
    assert "model.layers.0.self_attn.q_proj.weight" in specs and all(name in found.described["parameters"] for name in specs)
    stacks = [node["metadata"].get("nn_module_stack", "") for node in found.nodes]
    assert any(
        ",model.layers.0.self_attn.q_norm,transformers.models.qwen3.modeling_qwen3.Qwen3RMSNorm" in stack for stack in stacks
    )
    frames = [node["metadata"].get("stack_trace", "") for node in found.nodes]
    assert any("modeling_qwen3.py" in frame for frame in frames) and not any("workbench_tracer" in frame for frame in frames)
    assert any(file.endswith("modeling_qwen3.py") for file in found.described["sources"])


def test_facts_of_the_model(traced):
    described = traced("qwen2").described
    facts = described["model"]
    assert (facts["class"], facts["model_type"], facts["dtype"]) == ("Qwen2ForCausalLM", "qwen2", "float32")
    assert (facts["num_layers"], facts["hidden_size"], facts["vocab_size"], facts["context_length"]) == (4, 60, 211, 256)
    assert described["tied"] == [["lm_head.weight", "model.embed_tokens.weight"]]
    assert described["computed"] == ["model.rotary_emb.inv_freq", "model.rotary_emb.original_inv_freq"]
    assert described["warnings"] == []


@pytest.mark.parametrize("name", ["gemma3", "llama"])
def test_equal_input_gives_equal_files(name, model, traced, tmp_path):
    again = trace(model(name), tmp_path / "again")
    assert (again.folder / "trace.pt2").read_bytes() == (traced(name).folder / "trace.pt2").read_bytes()
    assert again.described == traced(name).described


@pytest.mark.parametrize("name", ["gemma2", "gemma3", "llama", "qwen3-moe"])
def test_computed_buffers_equal_those_of_a_real_model(name, tmp_path):
    """bfloat16 from config.json alone; the reference is built with real tensors by transformers."""
    directory = zoo.save_config(name, tmp_path / "model", "bfloat16")
    traced = trace(directory, tmp_path / "out", proof=False)
    assert traced.described["model"]["dtype"] == "bfloat16"
    real = dict(AutoModelForCausalLM.from_config(zoo.config(name), dtype=torch.bfloat16).named_buffers())
    with zipfile.ZipFile(traced.folder / "trace.pt2") as archive:
        index = json.loads(archive.read("trace/data/constants/model_constants_config.json"))["config"]
        assert sorted(index) == traced.described["computed"] == sorted(real)
        for buffer, entry in index.items():
            raw = bytearray(archive.read(f"trace/data/constants/{entry['path_name']}"))
            assert torch.equal(torch.frombuffer(raw, dtype=real[buffer].dtype).reshape(real[buffer].shape), real[buffer]), buffer


def test_end_tokens_are_those_of_the_generation_config(tmp_path):
    directory = zoo.save_config("llama", tmp_path / "model")
    (directory / "generation_config.json").write_text(json.dumps({"eos_token_id": [7, 9]}))
    assert trace(directory, tmp_path / "out", proof=False).described["model"]["eos_token_ids"] == [7, 9]


def test_replica_has_all_layers_reduced_sizes_and_weights_of_its_own(model, tmp_path):
    found = trace(model("gemma2"), tmp_path / "out", replica=True)
    assert found.described["layers"]["traced_as"] == TRACED_AS["gemma2"]
    assert found.described["parameters"]["model.layers.3.mlp.up_proj.weight"]["shape"] == [108, 96 - 8]
    with zipfile.ZipFile(found.folder / "trace.pt2") as archive:
        index = json.loads(archive.read("trace/data/weights/model_weights_config.json"))["config"]
    assert found.described["parameters"].keys() <= index.keys()
