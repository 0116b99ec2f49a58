"""Weights in fewer bits on the command line: the rewrite is proven on them, and what they cost is told."""

import pytest
import support
from support import DONE, USAGE, workbench

FORMATS = ("int8", "int4")
# A public text (the preamble of the United States Constitution), as SmolLM2's tokens.
TEXT = (
    "We the People of the United States, in Order to form a more perfect Union, establish Justice, insure domestic Tranquility, provide for "
    "the common defence, promote the general Welfare, and secure the Blessings of Liberty to ourselves and our Posterity, do ordain and "
    "establish this Constitution for the United States of America."
)
needs_real_model = pytest.mark.skipif(
    support.example_model() is None, reason="WORKBENCH_TEST_MODEL is not set: packaging/test makes the real model"
)


@pytest.mark.parametrize("weights", FORMATS)
def test_the_rewrite_is_proven_on_the_quantised_weights(weights, tmp_path):
    report = workbench("verify", support.model("llama"), "--apply-all", "--weights", weights, "--json", cwd=tmp_path).expect(DONE).json()
    assert report["passed"] and report["weights"] == weights
    assert all(site["passed"] for site in report["sites"])
    loss = report["loss"]
    assert loss["rows"] == sum(report["sequences"])
    assert 0 < loss["relative_error"] < 0.2 and loss["kl_divergence"] > 0
    assert 0 < loss["greedy_equal"] <= loss["rows"]
    assert "text" not in loss, "random tokens are no text"


def test_weights_as_stored_lose_nothing(tmp_path):
    report = workbench("verify", support.model("llama"), "--apply-all", "--json", cwd=tmp_path).expect(DONE).json()
    assert report["weights"] == "stored" and "loss" not in report


def test_a_plan_has_no_proofs_of_quantised_weights(tmp_path):
    workbench("verify", support.model("llama"), "--apply-all", "--weights", "int8", "--export", tmp_path / "plan.json").expect_error(
        USAGE, "as they are stored"
    )


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
    assert loss["kl_divergence"] < 0.01
    assert loss["greedy_equal"] >= 0.9 * loss["rows"]
    # Perplexity of a text that every model of this size knows: well below that of guessing among 49,152 tokens, and hardly changed.
    assert 0 < loss["text"]["stored_nll"] < 3
    assert abs(loss["text"]["quantised_nll"] - loss["text"]["stored_nll"]) < 0.05


@pytest.mark.parametrize("weights", FORMATS)
def test_bench_measures_all_programs_with_them_and_says_so(weights, tmp_path):
    load = ("--prompt-tokens", "4", "--new-tokens", "3", "--rounds", "3")
    command = ("bench", support.model("llama"), "--apply-all", "--weights", weights, *load)
    report = workbench(*command, "--json").expect(DONE).json()
    assert report["load"]["weights"] == weights
    assert report["native_check"]["relative_error"] <= 1e-5
    page = tmp_path / "report.html"
    text = workbench(*command, "--report", page).expect(DONE).out
    assert f"weights in {weights}" in text and f"weights in {weights}" in page.read_text()


@needs_real_model
@pytest.mark.parametrize("weights", FORMATS)
def test_generate_takes_them(weights):
    text = workbench(
        "generate", support.example_model(), "--apply-all", "--weights", weights, "--prompt", "The capital of France is", "--max-tokens", "8"
    ).expect(DONE).out
    assert "Paris" in text
