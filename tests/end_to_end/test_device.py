"""What a GPU would run, on the CPU: every node an operator on plain tensors, attention over a paged cache whose tables are tensors too.

`--device cpu-plain` takes that way. What is left to a machine with a GPU are its kernels (tests/device/run) and the recording of decode steps.
"""

import pytest
import support
import zoo
from safetensors.torch import load_file
from support import BAD_INPUT, DONE, workbench

LENGTHS = [13, 20]  # longer than the window of 5


@pytest.mark.parametrize("name", zoo.ZOO)
def test_logits_equal_eager_and_the_engine_proves_them(name, tmp_path):
    sequences = support.random_tokens(211, LENGTHS)
    tokens = support.write_tokens(tmp_path / "tokens.txt", sequences)
    dump = tmp_path / "logits.safetensors"
    options = ("--apply-all", "--device", "cpu-plain", "--tokens", tokens, "--dump-logits", dump, "--json")
    report = workbench("verify", support.model(name), *options, cwd=tmp_path).expect(DONE).json()
    reference = support.eager_logits(support.model(name), sequences)
    rewritten = load_file(dump)["rewritten"]
    assert float((rewritten - reference).abs().max() / reference.abs().max()) <= 1e-4
    assert report["engine"].get("passed") or "cannot decode with a KV cache" in report["engine"]["reason"]


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_greedy_text_is_equal(name):
    report = workbench("verify", support.model(name), "--apply-all", "--device", "cpu-plain", "--json").expect(DONE).json()
    assert report["passed"] and report["greedy"]["tokens"] >= zoo.TEXT_TOKENS
    assert report["greedy"]["differences"] == report["greedy"]["excused"]


def test_bench_measures_what_there_is():
    options = ("--apply-all", "--prompt-tokens", "4", "--new-tokens", "3", "--rounds", "3", "--json")
    report = workbench("bench", support.model("llama"), *options, "--device", "cpu-plain").expect(DONE).json()
    assert report["after"]["tokens_per_s"]["median"] > 0
    assert not report["native"]["available"] and "runs on the CPU" in report["native"]["reason"]
    assert set(report["profile"]["after"]) == {"steps", "step_s", "model_s"}  # clocks of the host see nothing of a GPU's kernels


def test_a_device_that_is_not_there_is_named():
    workbench("verify", support.model("llama"), "--device", "tpu").expect_error(BAD_INPUT, "cpu", "'tpu'")


def test_fewer_bits_are_for_the_cpu_alone():
    options = ("--weights", "int8", "--device", "cpu-plain")
    workbench("verify", support.model("llama"), *options).expect_error(BAD_INPUT, "int8", "--device")
