"""Our runtime computes what transformers computes, and the rewritten graph what the original computes."""

from pathlib import Path

import pytest
import support
import torch
import transformers
import zoo
from safetensors.torch import load_file

# Both longer than the window of 5, so that a dropped window, a mixed-up sequence border or a wrong position shows.
LENGTHS = [13, 20]
MANY_LENGTHS = [64, 48, 33, 80, 17, 64, 96, 110]

ORIGINAL_TOLERANCE = 1e-4  # of the largest logit: f32, our kernels against eager's
REWRITTEN_TOLERANCE = 1e-5
BF16_RATIO = 1.1


def _dump(directory: Path, sequences: list[list[int]], tmp_path: Path, *options: str) -> dict[str, torch.Tensor]:
    out = tmp_path / "logits.safetensors"
    tokens = support.write_tokens(tmp_path / "tokens.txt", sequences)
    support.workbench(
        "verify", directory, "--apply-all", "--tokens", tokens, "--dump-logits", out, *options, cwd=tmp_path
    ).expect(support.DONE)
    dumped = load_file(out)
    assert dumped["original"].dtype == dumped["rewritten"].dtype == torch.float32
    assert dumped["original"].shape == dumped["rewritten"].shape == (sum(map(len, sequences)), dumped["original"].shape[-1])
    return dumped


def _largest_difference(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).abs().max() / b.abs().max())


@pytest.mark.parametrize("name", zoo.ZOO)
def test_float32_equals_eager(name, tmp_path):
    sequences = support.random_tokens(211, LENGTHS)
    reference = support.eager_logits(support.model(name), sequences)
    dumped = _dump(support.model(name), sequences, tmp_path)
    assert _largest_difference(dumped["original"], reference) <= ORIGINAL_TOLERANCE
    assert _largest_difference(dumped["rewritten"], dumped["original"]) <= REWRITTEN_TOLERANCE


def test_packed_sequences_do_not_see_each_other(tmp_path):
    """The check above can fail: as one sequence, the same tokens have other logits."""
    first, second = support.random_tokens(211, LENGTHS)
    packed = _dump(support.model("llama"), [first, second], tmp_path)["rewritten"]
    joined = support.eager_logits(support.model("llama"), [first + second])
    assert _largest_difference(packed[: len(first)], joined[: len(first)]) <= ORIGINAL_TOLERANCE
    assert _largest_difference(packed[len(first) :], joined[len(first) :]) > 1e-2


def test_a_context_shorter_than_the_usual_text_and_nothing_to_fuse(tmp_path):
    """Learned positions end with the context: neither the trial of the cache nor the greedy text may reach past them."""
    settings = transformers.GPT2Config(
        vocab_size=97, n_embd=32, n_layer=2, n_head=4, n_positions=10, bos_token_id=None, eos_token_id=None
    )
    transformers.GPT2LMHeadModel(settings).save_pretrained(tmp_path / "model")
    report = support.workbench("verify", tmp_path / "model", "--apply-all", "--json", cwd=tmp_path).expect(support.DONE).json()
    assert report["passed"] and report["greedy"]["tokens"] == 5


def _root_mean_square(error: torch.Tensor) -> float:
    return float(error.double().pow(2).mean().sqrt())


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_bfloat16_is_as_close_to_the_truth_as_the_original(name, tmp_path):
    """Truth: the same bf16 weights, computed in f32. Averaged over many tokens, since single roundings go either way."""
    sequences = support.random_tokens(211, MANY_LENGTHS, seed=1)
    directory = support.model(name, "bfloat16")
    truth = support.eager_logits(directory, sequences, "float32")
    dumped = _dump(directory, sequences, tmp_path)
    original = _root_mean_square(dumped["original"] - truth)
    rewritten = _root_mean_square(dumped["rewritten"] - truth)
    assert 0 < original < 0.1 * float(truth.abs().max()), "the original graph is no bf16 computation of this model"
    assert rewritten <= BF16_RATIO * original


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_greedy_text_is_equal(name, tmp_path):
    report = support.workbench("verify", support.model(name), "--apply-all", "--json", cwd=tmp_path).expect(support.DONE).json()
    assert report["passed"]
    greedy = report["greedy"]
    assert greedy["tokens"] >= zoo.TEXT_TOKENS
    assert greedy["differences"] == greedy["excused"]


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_the_engine_gives_the_logits_of_whole_sequences(name, tmp_path):
    report = support.workbench("verify", support.model(name), "--apply-all", "--json", cwd=tmp_path).expect(support.DONE).json()
    assert report["engine"]["passed"] and report["engine"]["relative_error"] <= REWRITTEN_TOLERANCE


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_every_applied_site_has_a_local_error(name, tmp_path):
    report = support.workbench("verify", support.model(name), "--apply-all", "--json", cwd=tmp_path).expect(support.DONE).json()
    assert len(report["sites"]) > 0
    for site in report["sites"]:
        assert 0 <= site["error"] <= REWRITTEN_TOLERANCE, site


def test_config_only_is_proven_with_random_weights(tmp_path):
    directory = support.made_once("qwen3-config", lambda target: zoo.save_config("qwen3", target))
    out = support.workbench("verify", directory, "--apply-all", cwd=tmp_path).expect(support.DONE).out
    assert "random weights" in out


def test_sharded_checkpoint_gives_the_same_numbers(tmp_path):
    sharded = support.made_once("llama-sharded", lambda target: zoo.save("llama", target, shard_bytes=150_000))
    assert len(list(sharded.glob("*.safetensors"))) > 1
    sequences = support.random_tokens(211, LENGTHS)
    one = _dump(support.model("llama"), sequences, tmp_path)
    several = _dump(sharded, sequences, tmp_path)
    assert torch.equal(one["original"], several["original"])
    assert torch.equal(one["rewritten"], several["rewritten"])


@pytest.mark.skipif(support.example_model() is None, reason="WORKBENCH_TEST_MODEL is not set: packaging/test makes the real model")
def test_real_smollm2_equals_eager(tmp_path):
    sequences = support.random_tokens(49152, LENGTHS)
    directory = support.example_model()
    reference = support.eager_logits(directory, sequences, "float32")
    dumped = _dump(directory, sequences, tmp_path, "--dtype", "float32")
    assert _largest_difference(dumped["original"], reference) <= ORIGINAL_TOLERANCE
    assert _largest_difference(dumped["rewritten"], dumped["original"]) <= REWRITTEN_TOLERANCE
