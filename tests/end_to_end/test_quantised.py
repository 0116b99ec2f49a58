"""Weights in fewer bits on the command line: the rewrite is proven on them, and what they cost is told."""

import math
import re
import shutil

import pytest
import serving
import support
import transformers
from support import DONE, USAGE, workbench

FORMATS = ("int8", "int4")
# A public text (the preamble of the United States Constitution), as SmolLM2's tokens.
TEXT = (
    "We the People of the United States, in Order to form a more perfect Union, establish Justice, insure domestic Tranquility, provide for "
    "the common defence, promote the general Welfare, and secure the Blessings of Liberty to ourselves and our Posterity, do ordain and "
    "establish this Constitution for the United States of America."
)
# Root mean square error of a product with normal weights, relative to its result: that of a number that is rounded evenly is 1 / sqrt(12) of a
# step. int8 has steps of the largest of a row / 127, which of 60 normal numbers is 2.6 of their deviations; int4 of the largest of a group of
# 32 / 8, 2.3 of them. Of logits the error is at least that of the head alone. Errors of products one after the other add up as roots of squares,
# but where a softmax or a product of two of them makes them larger: at most as if all were alike.
PRODUCT_ERROR = {"int8": 2.6 / 127 / math.sqrt(12), "int4": 2.3 / 8 / math.sqrt(12)}
LLAMA_PRODUCTS = 3 * 7 + 1
needs_real_model = pytest.mark.skipif(
    support.example_model() is None, reason="WORKBENCH_TEST_MODEL is not set: packaging/test makes the real model"
)


def _gpt2(directory):
    """GPT-2 keeps its weights [inputs, outputs] (Conv1D)."""
    sizes = {"vocab_size": 97, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "bos_token_id": None, "eos_token_id": None}
    transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes)).save_pretrained(directory)
    return directory


@pytest.fixture(scope="module")
def speaking(tmp_path_factory):
    """The small llama with a tokenizer of 32 words, which begins each text with <s>."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    directory = tmp_path_factory.mktemp("speaking") / "model"
    shutil.copytree(support.model("llama"), directory)
    words = ["<s>", "<unk>"] + [f"w{i}" for i in range(30)]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", unk_token="<unk>").save_pretrained(directory)
    return directory


@pytest.fixture
def recorded(tmp_path):
    """A worker that keeps what it is sent, and a function that gives the formats of what it was asked to load."""
    log = tmp_path / "sent"
    script = tmp_path / "recording-worker"
    script.write_text(f"#!/bin/sh\ntee '{log}' | exec '{support.binary().with_name('workbench-worker')}'\n")
    script.chmod(0o755)
    return script, lambda: set(re.findall(rb'"format":"(\w+)"', log.read_bytes()))


@pytest.mark.parametrize("weights", FORMATS)
def test_the_rewrite_is_proven_on_the_quantised_weights(weights, tmp_path):
    run = workbench("verify", support.model("llama"), "--apply-all", "--weights", weights, "--json", cwd=tmp_path).expect(DONE)
    report = run.json()
    assert report["passed"] and report["weights"] == weights
    assert all(site["passed"] for site in report["sites"])
    loss = report["loss"]
    assert loss["rows"] == sum(report["sequences"])
    assert PRODUCT_ERROR[weights] < loss["relative_error"] < min(1, PRODUCT_ERROR[weights] * LLAMA_PRODUCTS)
    assert loss["kl_divergence"] > 0
    assert 0 < loss["greedy_equal"] <= loss["rows"]
    assert "text" not in loss, "random tokens are no text"
    for products in report["products"].values():
        assert products["quantised"]["matrices"] > 0 and products["stored"]["matrices"] == products["precise"]["matrices"] == 0
    assert "warning" not in run.err


def test_weights_as_stored_lose_nothing(tmp_path):
    report = workbench("verify", support.model("llama"), "--apply-all", "--json", cwd=tmp_path).expect(DONE).json()
    assert report["weights"] == "stored" and "loss" not in report and "products" not in report


@pytest.mark.parametrize("name", ["qwen3-moe", "granitemoe"])
def test_experts_are_proven_with_their_routers_as_stored(name, tmp_path):
    report = workbench("verify", support.model(name), "--apply-all", "--weights", "int8", "--json", cwd=tmp_path).expect(DONE).json()
    assert report["passed"]
    layers = {"qwen3-moe": 2, "granitemoe": 3}[name]
    assert [products["precise"]["matrices"] for products in report["products"].values()] == [layers, layers]
    assert all(products["stored"]["matrices"] == 0 for products in report["products"].values())


def test_bfloat16_is_proven_against_the_same_quantised_weights_in_float32(tmp_path):
    command = ("verify", support.model("llama"), "--dtype", "bf16", "--apply-all", "--weights", "int4", "--json")
    report = workbench(*command, cwd=tmp_path).expect(DONE).json()
    assert report["passed"] and report["dtype"] == "bf16" and report["truth"]["original"] > 0
    # The truth has the same weights: what is left is the rounding of bfloat16, at most 2^-9 of each value, over all products, and none of the
    # error of int4, which is tens of times as large.
    assert report["truth"]["original"] < 2**-9 * LLAMA_PRODUCTS
    assert report["loss"]["relative_error"] > PRODUCT_ERROR["int4"]


def test_what_is_left_as_stored_is_told(tmp_path):
    model = _gpt2(tmp_path / "model")
    run = workbench("verify", model, "--apply-all", "--weights", "int4", "--json", cwd=tmp_path).expect(DONE)
    left = run.json()["products"]["original"]
    # In each of two layers: queries with keys and values, their output, and both of the feed-forward; the head is tied.
    assert left["stored"] == {"matrices": 8, "bytes": 2 * 4 * (32 * 96 + 32 * 32 + 2 * 32 * 128)}
    assert left["quantised"]["matrices"] == 1
    warnings = [line for line in run.err.splitlines() if line.startswith("warning: int4 weights reach a part")]
    assert len(warnings) == 1 and "8 matrices that products read stay as they are stored" in warnings[0]
    text = workbench("verify", model, "--apply-all", "--weights", "int4", cwd=tmp_path).expect(DONE).out
    assert "original: 8 matrices that products read stay as they are stored" in text


def test_a_plan_has_no_proofs_of_quantised_weights(tmp_path):
    workbench("verify", support.model("llama"), "--apply-all", "--weights", "int8", "--export", tmp_path / "plan.json").expect_error(
        USAGE, "as they are stored"
    )


def test_a_replica_says_why_it_tells_no_loss(tmp_path):
    import zoo

    directory = support.made_once("llama-config", lambda target: zoo.save_config("llama", target))
    command = ("verify", directory, "--apply-all", "--weights", "int8")
    report = workbench(*command, "--json", cwd=tmp_path).expect(DONE).json()
    assert report["passed"] and report["loss"]["available"] is False
    assert "random weights" in report["loss"]["reason"]
    assert "int8 against the weights as stored: not available, random weights" in workbench(*command, cwd=tmp_path).expect(DONE).out


def test_every_sequence_of_a_text_begins_as_the_tokenizer_begins_one(speaking, tmp_path):
    file = tmp_path / "text.txt"
    file.write_text(" ".join(f"w{i % 30}" for i in range(400)))
    report = workbench("verify", speaking, "--apply-all", "--weights", "int8", "--text", file, "--json", cwd=tmp_path).expect(DONE).json()
    # A context of 256: <s> and 255 words, then <s> and the rest.
    assert report["sequences"] == [256, 146]
    assert report["loss"]["text"]["tokens"] == 400
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("0,2,3,4,5,6,7,8,9,10,11,12\n")
    report = workbench("verify", speaking, "--apply-all", "--weights", "int8", "--tokens", tokens, "--json", cwd=tmp_path).expect(DONE).json()
    assert "text" not in report["loss"], "ids are not said to be a text"


def _loss_of_real_text(weights, tmp_path):
    file = tmp_path / "text.txt"
    file.write_text(TEXT)
    command = ("verify", support.example_model(), "--apply-all", "--weights", weights, "--text", file, "--json")
    report = workbench(*command, cwd=tmp_path, timeout=300).expect(DONE).json()
    assert [report["loss"]["text"]["tokens"] + 1] == report["sequences"]
    return report["loss"]


@needs_real_model
def test_a_real_text_tells_what_int8_costs(tmp_path):
    loss = _loss_of_real_text("int8", tmp_path)
    # 211 products with an error of 0.7 % each (the largest of 576 normal weights is 3.1 deviations) make at most 10 % of logits whose deviation
    # is about 3: half the square of that is the divergence, and as much again, with the spread of 0.3 over 60 tokens, the likelihood's change.
    assert loss["kl_divergence"] < 0.3**2 / 2
    assert loss["greedy_equal"] >= 0.8 * loss["rows"]
    # Perplexity of a text that every model of this size knows: well below that of guessing among 49,152 tokens, and hardly changed.
    assert 0 < loss["text"]["stored_nll"] < 3
    assert abs(loss["text"]["quantised_nll"] - loss["text"]["stored_nll"]) < 0.3**2 / 2 + 0.3 / math.sqrt(60)


@pytest.mark.parametrize("weights", FORMATS)
def test_bench_measures_all_programs_with_them_and_says_so(weights, tmp_path):
    load = ("--prompt-tokens", "4", "--new-tokens", "3", "--rounds", "3")
    command = ("bench", support.model("llama"), "--apply-all", *load)
    report = workbench(*command, "--weights", weights, "--json").expect(DONE).json()
    assert report["load"]["weights"] == weights
    assert set(report["products"]) == {"before", "after"}
    assert report["native_check"]["relative_error"] <= 1e-5
    stored = workbench(*command, "--json").expect(DONE).json()
    # All but the embedding (211 x 60 of 118,500 numbers) becomes a byte or less of four, and a scale for each 32 numbers or more: 4 bytes of 128.
    embedding = 211 * 60 / 118_500
    assert report["memory"]["weight_bytes"] < (embedding + (1 - embedding) * (1 / 4 + 4 / 128)) * stored["memory"]["weight_bytes"]
    page = tmp_path / "report.html"
    text = workbench(*command, "--weights", weights, "--report", page).expect(DONE).out
    assert f"weights in {weights}" in text and f"weights in {weights}" in page.read_text()


@pytest.mark.parametrize("weights", ["stored", *FORMATS])
def test_generate_loads_them(weights, speaking, recorded, tmp_path):
    worker, formats = recorded
    workbench("generate", speaking, "--weights", weights, "--worker", worker, "--prompt", "w3 w7", "--max-tokens", "2", cwd=tmp_path).expect(DONE)
    assert formats() == {weights.encode()}


@pytest.mark.parametrize("weights", ["stored", "int8"])
def test_serve_loads_them(weights, speaking, recorded, tmp_path):
    worker, formats = recorded
    with serving.Server(speaking, "--weights", weights, "--worker", worker, cwd=tmp_path) as server:
        assert server.get("/health")
    assert formats() == {weights.encode()}


@needs_real_model
def test_text_is_what_the_model_knows_with_int8():
    """int4 costs so small a model more than one such sentence bears."""
    text = workbench(
        "generate", support.example_model(), "--apply-all", "--weights", "int8", "--prompt", "The capital of France is", "--max-tokens", "8"
    ).expect(DONE).out
    assert "Paris" in text
