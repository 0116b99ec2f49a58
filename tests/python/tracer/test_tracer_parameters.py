"""Every parameter of the whole model comes from the tensors that transformers would load into it."""

import json
import shutil

import pytest
import torch
import transformers
import zoo
from safetensors.torch import save_file
from tracer_support import checkpoint, load_with_weights, packed_tokens, refusal, relative_error, trace, value_of


@pytest.mark.parametrize("name", ["llama", "gemma3", "phi3", "qwen3-moe", "mixtral", "gpt-neox"])
def test_map_equals_what_transformers_loads(name, model, traced):
    found = traced(name).described["parameters"]
    loaded = transformers.AutoModelForCausalLM.from_pretrained(model(name), dtype=torch.float32).state_dict()
    tensors = checkpoint(model(name))
    assert found.keys() == loaded.keys()
    for parameter, value in loaded.items():
        entry = found[parameter]
        assert entry["shape"] == list(value.shape) and entry["dtype"] == "float32"
        assert torch.equal(value_of(entry, tensors), value), parameter


@pytest.mark.parametrize("name", ["llama", "qwen2", "gemma2", "qwen3-moe", "mixtral"])
def test_names_without_a_checkpoint_are_those_that_transformers_writes(name, model, tmp_path):
    found = trace(zoo.save_config(name, tmp_path / "model"), tmp_path / "out", proof=False).described["parameters"]

    def leaves(expression):
        for part in expression["from"]:
            yield from [part["tensor"]] if "tensor" in part else leaves(part)

    read = [leaf for entry in found.values() for leaf in leaves(entry)]
    assert set(read) == set(checkpoint(model(name)))
    assert len(read) == len(set(read)) + ("lm_head.weight" not in read)  # a tied head reads the embedding


def test_shards_and_tied_weights(model, traced, tmp_path):
    directory = zoo.save("qwen2", tmp_path / "model", shard_bytes=100_000)
    assert len(list(directory.glob("*.safetensors"))) > 2
    assert trace(directory, tmp_path / "out", proof=False).described["parameters"] == traced("qwen2").described["parameters"]
    found = traced("qwen2").described["parameters"]
    assert (
        found["lm_head.weight"]["from"] == found["model.embed_tokens.weight"]["from"] == [{"tensor": "model.embed_tokens.weight"}]
    )


@pytest.fixture
def two_heads(model, tmp_path):
    """A tied model whose checkpoint has lm_head.weight as well: equal to the embedding, or not."""

    def make(equal):
        directory = tmp_path / f"equal-{equal}"
        shutil.copytree(model("qwen2"), directory)
        tensors = checkpoint(directory)
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"] * (1.0 if equal else 1.5)
        save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
        return directory

    return make


def test_tied_weights_that_are_both_stored_and_equal(two_heads, tmp_path):
    found = trace(two_heads(True), tmp_path / "out", proof=False).described
    assert found["tied"] == [["lm_head.weight", "model.embed_tokens.weight"]] and found["warnings"] == []


def test_tied_weights_that_differ_are_two_as_in_transformers(two_heads, tmp_path):
    directory = two_heads(False)
    found = trace(directory, tmp_path / "out", proof=False, full=True)
    assert found.described["tied"] == [] and "ties the word embeddings" in found.described["warnings"][0]
    eager = transformers.AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager")
    program = load_with_weights(found, directory, tmp_path / "filled.pt2").module()
    sequences, tokens, positions = packed_tokens(211)
    with torch.no_grad():
        expected = torch.cat([eager(input_ids=ids[None], use_cache=False).logits[0] for ids in sequences])
        assert relative_error(program(tokens, positions, torch.arange(tokens.shape[1]))[0], expected) < 1e-5


def test_tensors_that_are_not_used_are_told(model, tmp_path):
    shutil.copytree(model("llama"), tmp_path / "model")
    tensors = checkpoint(tmp_path / "model")
    tensors.update({"extra.weight": torch.zeros(3), "model.layers.0.self_attn.rotary_emb.inv_freq": torch.zeros(3)})
    save_file(tensors, tmp_path / "model" / "model.safetensors", metadata={"format": "pt"})
    (warning,) = trace(tmp_path / "model", tmp_path / "out", proof=False).described["warnings"]
    assert "1 tensors" in warning and "extra.weight" in warning


def test_weights_of_another_model(model, tmp_path):
    shutil.copytree(model("llama"), tmp_path / "model")
    shutil.copy(model("gpt-neox") / "model.safetensors", tmp_path / "model" / "model.safetensors")
    error = refusal(tmp_path / "model", tmp_path / "out")
    assert error.code == "missing-tensor" and "belong to another model" in error.message


def test_pickled_weights_are_not_read(tmp_path):
    directory = zoo.save_config("llama", tmp_path / "model")
    (directory / "pytorch_model.bin").write_bytes(b"not read")
    (warning,) = trace(directory, tmp_path / "out", proof=False).described["warnings"]
    assert "pytorch_model.bin" in warning


VISION = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64, "image_size": 56, "patch_size": 14}


def _gemma3(text):
    settings = transformers.Gemma3Config(text_config=text, vision_config=VISION, mm_tokens_per_image=4, image_token_index=200)
    return transformers.Gemma3ForConditionalGeneration(settings)


def _mistral3(text):
    """Its head is the embedding because the whole model's configuration says so; that of the text part says the contrary."""
    vision = {"model_type": "pixtral", "head_dim": 16, **VISION}
    settings = transformers.Mistral3Config(text_config={"model_type": "mistral", **text}, vision_config=vision)
    assert settings.tie_word_embeddings and not settings.get_text_config().tie_word_embeddings
    return transformers.Mistral3ForConditionalGeneration(settings)


@pytest.mark.parametrize(
    ("model", "text", "text_class"), [(_gemma3, "gemma3", "Gemma3ForCausalLM"), (_mistral3, "mistral", "MistralForCausalLM")]
)
def test_text_part_of_a_vision_language_model(model, text, text_class, tmp_path):
    torch.manual_seed(1)
    whole = model({key: value for key, value in zoo.ZOO[text].config.items() if value is not None}).eval()
    whole.save_pretrained(tmp_path / "model")
    found = trace(tmp_path / "model", tmp_path / "out", full=True)
    assert "vision-language" in found.described["warnings"][0] and found.described["model"]["class"] == text_class
    program = load_with_weights(found, tmp_path / "model", tmp_path / "filled.pt2").module()
    sequences, tokens, positions = packed_tokens(190)
    whole.set_attn_implementation("eager")
    with torch.no_grad():
        expected = torch.cat([whole(input_ids=ids[None], use_cache=False).logits[0] for ids in sequences])
        assert relative_error(program(tokens, positions, torch.arange(tokens.shape[1]))[0], expected) < 1e-5


def test_parameters_kept_in_float32_and_checkpoint_buffers(tmp_path):
    settings = transformers.DeepseekV3Config(
        vocab_size=211, hidden_size=64, intermediate_size=96, moe_intermediate_size=36, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=4, n_routed_experts=8, n_group=2, topk_group=1, num_experts_per_tok=2, first_k_dense_replace=1, q_lora_rank=20,
        kv_lora_rank=24, qk_rope_head_dim=8, qk_nope_head_dim=12, v_head_dim=10, architectures=["DeepseekV3ForCausalLM"], dtype="bfloat16",
    )  # fmt: skip
    transformers.DeepseekV3ForCausalLM(settings).to(torch.bfloat16).save_pretrained(tmp_path / "model")
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "model").state_dict()
    found = trace(tmp_path / "model", tmp_path / "out").described
    assert {name: entry["dtype"] for name, entry in found["parameters"].items()} == {
        name: str(value.dtype).removeprefix("torch.") for name, value in loaded.items()
    }
    assert found["parameters"]["model.layers.1.mlp.gate.e_score_correction_bias"]["dtype"] == "float32"
    assert found["layers"]["traced_as"] == [0, 1, 1]


@pytest.mark.parametrize(
    ("name", "rope", "limit"),
    [
        ("llama", {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}, 256),
        (
            "phi3",
            {
                "rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0, 1.1, 1.2, 1.3, 1.4], "long_factor": [2.0, 3.0, 4.0, 5.0, 6.0],
                "partial_rotary_factor": 1.0, "original_max_position_embeddings": 64,
            },
            64,
        ),
    ],
)  # fmt: skip
def test_tables_that_depend_on_the_batch_are_limited_and_told(name, rope, limit, tmp_path):
    directory = zoo.save(name, tmp_path / "model")
    config = json.loads((directory / "config.json").read_text())
    config["rope_parameters"] = rope
    if name == "phi3":
        config["original_max_position_embeddings"] = limit
    (directory / "config.json").write_text(json.dumps(config))
    found = trace(directory, tmp_path / "out", full=True)
    assert found.described["model"]["context_length"] == limit
    assert any(rope["rope_type"] in warning and str(limit) in warning for warning in found.described["warnings"])
    eager = transformers.AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager")
    program = load_with_weights(found, directory, tmp_path / "filled.pt2").module()
    sequences, tokens, positions = packed_tokens(211)
    with torch.no_grad():
        expected = torch.cat([eager(input_ids=ids[None], use_cache=False).logits[0] for ids in sequences])
        assert relative_error(program(tokens, positions, torch.arange(tokens.shape[1]))[0], expected) < 1e-5
