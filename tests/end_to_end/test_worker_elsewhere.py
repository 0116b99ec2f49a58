"""A worker that was named runs where the weights are; here the model's directory has its config alone."""

import shutil

import pytest
import support
from safetensors.torch import load_file


def _config_of(name, tmp_path):
    directory = tmp_path / f"laptop-{name}"
    directory.mkdir()
    shutil.copy(support.model(name) / "config.json", directory)
    return directory


@pytest.fixture
def config_only(tmp_path):
    return _config_of("llama", tmp_path)


@pytest.fixture
def elsewhere(tmp_path):
    """The command of a worker in another folder and with another environment, as ssh would start it."""
    script = tmp_path / "ssh"
    worker = support.binary().with_name("workbench-worker")
    script.write_text(f"#!/bin/sh\ncd / && exec env -i '{worker}'\n")
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("name", ["llama", "qwen2", "mixtral"])  # qwen2 ties its head, mixtral stores each expert
def test_the_weights_are_on_the_other_machine_alone(name, elsewhere, tmp_path):
    sequences = support.random_tokens(211, [13, 20])
    out = tmp_path / "logits.safetensors"
    support.workbench(
        "verify", _config_of(name, tmp_path), "--apply-all", "--worker", elsewhere, "--worker-model", support.model(name),
        "--tokens", support.write_tokens(tmp_path / "tokens.txt", sequences), "--dump-logits", out,
        "--dtype", "f32", cwd=tmp_path,
    ).expect(support.DONE)  # fmt: skip
    reference = support.eager_logits(support.model(name), sequences)
    dumped = load_file(out)
    assert (dumped["rewritten"] - reference).abs().max() <= 1e-4 * reference.abs().max()


def test_a_model_that_is_not_there_is_named_with_the_way_out(config_only, elsewhere, tmp_path):
    support.workbench(
        "verify", config_only, "--apply-all", "--worker", elsewhere, "--worker-model", "/models/nowhere", cwd=tmp_path
    ).expect_error(support.BAD_INPUT, "/models/nowhere", "--worker-model")


def test_a_place_for_the_model_without_a_worker_elsewhere_is_wrong_usage(config_only, tmp_path):
    support.workbench("verify", config_only, "--worker-model", "/models", cwd=tmp_path).expect_error(
        support.USAGE, "--worker"
    )
