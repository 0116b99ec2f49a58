"""Whose weights are read and proven: those that transformers loads, and a proof stays with them."""

import json
import shutil

import pytest
import support
import torch
from safetensors.torch import load_file, save_file
from support import BAD_INPUT, DONE, workbench


@pytest.fixture
def llama(tmp_path):
    directory = tmp_path / "llama"
    shutil.copytree(support.model("llama"), directory)
    return directory


def _changed(source, target, change):
    """A copy whose tensors went through `change(name, tensor)`."""
    shutil.copytree(source, target)
    tensors = load_file(target / "model.safetensors")
    save_file(
        {name: change(name, tensor).contiguous() for name, tensor in tensors.items()},
        target / "model.safetensors", metadata={"format": "pt"},
    )  # fmt: skip
    return target


def _dumped(directory, tmp_path):
    sequences = support.random_tokens(211, [13, 20])
    out = tmp_path / "logits.safetensors"
    run = workbench(
        "verify", directory, "--apply-all", "--dtype", "f32", "--dump-logits", out,
        "--tokens", support.write_tokens(tmp_path / "tokens.txt", sequences),
    ).expect(DONE)  # fmt: skip
    reference = support.eager_logits(directory, sequences)
    return run, float((load_file(out)["rewritten"] - reference).abs().max() / reference.abs().max())


def test_an_index_left_from_another_save_is_not_read(llama, tmp_path):
    other = load_file(llama / "model.safetensors")
    save_file({name: tensor * 1.5 for name, tensor in other.items()}, llama / "part.safetensors", metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": {name: "part.safetensors" for name in other}}
    (llama / "model.safetensors.index.json").write_text(json.dumps(index))
    run, error = _dumped(llama, tmp_path)
    assert error <= 1e-4
    assert "part.safetensors" in run.err and "left of another save" in run.err


def test_weights_of_another_name_are_refused(llama, tmp_path):
    support.edit_config(llama, transformers_weights="best.safetensors")
    workbench("verify", llama, cwd=tmp_path).expect_error(BAD_INPUT, "best.safetensors", "transformers_weights")


def _proven(directory, file):
    workbench("verify", directory, "--apply-all", "--export", file).expect(DONE)
    return json.loads(file.read_text())


def test_proofs_are_not_those_of_a_fine_tune(llama, tmp_path):
    """A few rows of one matrix were trained: a proof says nothing of the other numbers."""
    base = _proven(llama, tmp_path / "base.json")
    assert any("proof" in site for site in base["sites"])

    def trained(name, tensor):
        tensor = tensor.clone()
        if name == "model.embed_tokens.weight":
            tensor[30:33] += 0.5
        return tensor

    tuned = _changed(llama, tmp_path / "tuned", trained)
    assert _proven(tuned, tmp_path / "tuned.json")["weights"] != base["weights"]
    run = workbench(tuned, "--plan", tmp_path / "base.json", "--export", tmp_path / "taken.json").expect(DONE)
    taken = json.loads((tmp_path / "taken.json").read_text())
    assert "not known to be of this model's weights" in run.err
    assert [site["decision"] for site in taken["sites"]] == [site["decision"] for site in base["sites"]]
    assert not any(site.get("proof") for site in taken["sites"]) and not taken.get("end_to_end") and not taken.get("weights")


def test_proofs_stay_with_the_same_weights_in_other_files(llama, tmp_path):
    base = _proven(llama, tmp_path / "base.json")
    sharded = tmp_path / "sharded"
    shutil.copytree(llama, sharded)
    tensors = load_file(sharded / "model.safetensors")
    (sharded / "model.safetensors").unlink()
    weight_map = {}
    for number, names in enumerate((sorted(tensors)[::2], sorted(tensors)[1::2])):
        file = f"model-{number}.safetensors"
        save_file({name: tensors[name] for name in names}, sharded / file, metadata={"format": "pt"})
        weight_map.update(dict.fromkeys(names, file))
    (sharded / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    run = workbench(sharded, "--plan", tmp_path / "base.json", "--export", tmp_path / "taken.json").expect(DONE)
    assert "left out" not in run.err
    assert json.loads((tmp_path / "taken.json").read_text())["sites"] == base["sites"]


def test_logits_that_are_all_zero_prove_nothing(llama, tmp_path):
    silent = _changed(llama, tmp_path / "silent", lambda name, tensor: tensor * (name != "lm_head.weight"))
    run = workbench("verify", silent, "--apply-all", cwd=tmp_path).expect(support.FAILED)
    assert "All logits of the original are 0" in run.err


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_no_file_of_the_model_is_written_over(name, llama, tmp_path):
    before = support.tree(llama)
    for option in ("--export", "--export-pt2"):
        workbench(llama, "--apply-all", option, llama / name, cwd=llama).expect_error(BAD_INPUT, name, "belongs to the model")
    workbench(llama, "--apply-all", "--export-source", llama).expect_error(BAD_INPUT, "the model itself")
    workbench("verify", llama, "--dump-logits", name, cwd=llama).expect_error(BAD_INPUT, name, "belongs to the model")
    assert support.tree(llama) == before


def test_a_plan_may_lie_beside_the_model(llama):
    for _ in range(2):
        workbench(llama, "--apply-all", "--export", llama / "plan.json").expect(DONE)


def test_what_is_told_of_one_directory_is_not_told_of_another(tmp_path):
    """Both have the same configuration, so that one trace would do for both."""
    plain, pickled = tmp_path / "plain", tmp_path / "pickled"
    for directory in (plain, pickled):
        directory.mkdir()
        shutil.copy(support.model("llama") / "config.json", directory)
    (pickled / "pytorch_model.bin").write_bytes(b"pickled")
    for _ in range(2):
        assert "pytorch_model.bin" not in workbench("inspect", plain).expect(DONE).err
        assert "pytorch_model.bin" in workbench("inspect", pickled).expect(DONE).err
