"""Emitted and bound, every model of the zoo computes what it computed before."""

from __future__ import annotations

import copy
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch
import transformers
import zoo
from workbench_tracer.events import Events
from workbench_tracer.source_form import bind, original_state_dict

TOLERANCE = 1e-5  # of the largest logit, f32: a merged product may add in another order

# (pattern -> sites with a form), worked out from the sources: add+norm has one where the sum and the norm share a decoder layer.
FORMS = {
    "llama": {"qkv": 3, "rope": 3, "gate-up": 3, "rms-norm": 1, "add-rms-norm": 3},
    "qwen2": {"qkv": 4, "rope": 4, "gate-up": 4, "rms-norm": 1, "add-rms-norm": 4},
    "qwen3": {"qkv": 3, "qk-norm-rope": 3, "gate-up": 3, "rms-norm": 1, "add-rms-norm": 3},
    "gemma2": {"qkv": 4, "rope": 4, "gate-up": 4, "rms-norm": 9, "add-rms-norm": 4},
    "gemma3": {"qkv": 4, "qk-norm-rope": 4, "gate-up": 4, "rms-norm": 9, "add-rms-norm": 4},
    "olmo2": {"qkv": 3, "rope": 3, "gate-up": 3, "rms-norm": 12},
    "granite": {"qkv": 3, "rope": 3, "gate-up": 3, "rms-norm": 1, "add-rms-norm": 3},
    "smollm3": {"qkv": 4, "rope": 2, "gate-up": 4, "rms-norm": 1, "add-rms-norm": 4},
    "starcoder2": {"qkv": 3, "rope": 3},
}


def _logits(model: torch.nn.Module, *shape: int) -> torch.Tensor:
    ids = torch.randint(0, 200, shape, generator=torch.Generator().manual_seed(sum(shape)))
    with torch.no_grad():
        return model(input_ids=ids, use_cache=False).logits


def _close(found: torch.Tensor, expected: torch.Tensor, tolerance: float = TOLERANCE) -> None:
    error = (found - expected).abs().max() / expected.abs().max()
    assert error <= tolerance, f"relative error {error:.2e}"


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_bound_logits_equal_eager(name, emitted):
    model = emitted(name)
    bound = model.bound()
    for shape in ((1, 1), (1, 7), (1, 33), (3, 13)):
        _close(_logits(bound, *shape), _logits(model.eager, *shape))


# Other layouts: packed projections (no qkv site), rotary over a part of each head, in pairs, in f32; experts beside a dense layer.
BREADTH = {
    "mistral": {"qkv": 3, "rope": 3, "gate-up": 3, "rms-norm": 7},
    "gemma": {"qkv": 3, "rope": 3, "gate-up": 3, "rms-norm": 7},
    "qwen3-moe": {"qkv": 3, "qk-norm-rope": 3, "gate-up": 1, "rms-norm": 7},
    "mixtral": {"qkv": 3, "rope": 3, "rms-norm": 7},
    "cohere": {"qkv": 3, "rope": 3, "gate-up": 3},
    "phi3": {"rope": 3, "rms-norm": 7},
    "gpt-neox": {"rope": 3},
}


@pytest.mark.parametrize("name", BREADTH)
def test_other_layouts_have_forms_and_equal_eager(name, emitted):
    model = emitted(name)
    forms = Counter(site.partition("@")[0] for site, entry in model.index["sites"].items() if entry["form"])
    assert dict(forms) == BREADTH[name], {site: entry.get("reason") for site, entry in model.index["sites"].items()}
    _close(_logits(model.bound(), 3, 13), _logits(model.eager, 3, 13))


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_every_site_has_a_form_or_a_reason(name, emitted):
    sites = emitted(name).index["sites"]
    forms = Counter(site.partition("@")[0] for site, entry in sites.items() if entry["form"])
    assert dict(forms) == FORMS[name]
    for site, entry in sites.items():
        assert entry["form"] or len(entry["reason"]) > 20, site


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_bound_model_runs_the_fused_ops(name, emitted):
    """Equal logits would also come from a binding that does nothing."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.ops = Counter()

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.ops[str(function).removesuffix(".default")] += 1
            return function(*args, **(kwargs or {}))

    model = emitted(name)
    bound = model.bound()
    with Count() as count:
        _logits(bound, 1, 7)
    expected = FORMS[name] | {"rms-norm": FORMS[name].get("rms-norm", 0) + _partial(model.index)}
    ops = {"rope": "rope", "qk-norm-rope": "qk_norm_rope", "gate-up": "act_and_mul", "rms-norm": "rms_norm",
           "add-rms-norm": "add_rms_norm"}
    for pattern, op in ops.items():
        assert count.ops[f"workbench.{op}"] == expected.get(pattern, 0), pattern


def _partial(index) -> int:
    return sum("partial" in entry for entry in index["sites"].values())


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_diffs_apply_to_the_real_file_alone_and_together(name, emitted, tmp_path):
    model = emitted(name)
    root = Path(transformers.__file__).parent.parent
    diffs = sorted(model.folder.glob("*.diff"))
    assert diffs
    for entry in model.index["classes"]:
        target = tmp_path / entry["source"]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / entry["source"], target)
    for diff in diffs:
        subprocess.run(["git", "apply", "--check", str(diff)], cwd=tmp_path, check=True)
    for diff in diffs:  # one after the other: the lines of one class do not disturb those of another
        subprocess.run(["git", "apply", str(diff)], cwd=tmp_path, check=True)
    text = (tmp_path / model.index["classes"][0]["source"]).read_text()
    compile(text, "patched", "exec")
    assert "self.qkv_proj(" in text


def test_patched_file_holds_the_emitted_function(emitted, tmp_path):
    """The diff and the runnable file say the same."""
    import ast

    model = emitted("llama")
    entry = next(entry for entry in model.index["classes"] if entry["class"] == "LlamaAttention")
    target = tmp_path / entry["source"]
    target.parent.mkdir(parents=True)
    shutil.copy(Path(transformers.__file__).parent.parent / entry["source"], target)
    subprocess.run(["git", "apply", str(model.folder / entry["diff"])], cwd=tmp_path, check=True)
    classes = [node for node in ast.parse(target.read_text()).body if isinstance(node, ast.ClassDef)]
    attention = next(node for node in classes if node.name == "LlamaAttention")
    patched = next(node for node in attention.body if getattr(node, "name", "") == "forward")
    alone = next(node for node in ast.parse((model.folder / entry["python"]).read_text()).body if isinstance(node, ast.FunctionDef))
    assert ast.dump(patched) == ast.dump(alone)


def test_lines_outside_of_the_change_keep_their_comments(emitted):
    text = (emitted("qwen3").folder / "modeling_qwen3.Qwen3Attention.py").read_text()
    assert "sliding_window=self.sliding_window,  # diff with Llama" in text
    decoder = (emitted("llama").folder / "modeling_llama.LlamaDecoderLayer.py").read_text()
    assert "# Self Attention" in decoder and "# Fully Connected" in decoder


def test_layers_without_rotary_share_the_class_source(emitted):
    attentions = [entry for entry in emitted("smollm3").index["classes"] if entry["class"] == "SmolLM3Attention"]
    assert len(attentions) == 1 and len(attentions[0]["instances"]) == 4 and attentions[0]["every_instance"]


@pytest.mark.parametrize("name", ["llama", "gemma3", "olmo2", "cohere"])
def test_bfloat16_is_as_close_to_the_truth_as_eager(name, emitted):
    model = emitted(name)
    truth = _logits(copy.deepcopy(model.eager).to(torch.bfloat16).float(), 4, 40)
    rounded = copy.deepcopy(model.eager).to(torch.bfloat16)
    eager = _logits(rounded, 4, 40).float()
    bound = _logits(bind(rounded, model.folder), 4, 40).float()
    assert (bound - truth).square().mean() <= 1.1 * (eager - truth).square().mean()


@pytest.mark.parametrize("name", ["llama", "qwen3", "gemma3", "olmo2"])
def test_gradients_equal_eager(name, emitted):
    model = emitted(name)
    eager, bound = copy.deepcopy(model.eager).train(), model.bound().train()
    ids = torch.randint(0, 200, (2, 9), generator=torch.Generator().manual_seed(1))
    for each in (eager, bound):
        each(input_ids=ids, labels=ids, use_cache=False).loss.backward()
    expected = {name: parameter.grad for name, parameter in eager.named_parameters()}
    merged = bound.workbench_merged
    for name, parameter in bound.named_parameters():
        owner, _, kind = name.rpartition(".")
        parts = merged.get(owner)
        grads = [(name, parameter.grad)] if parts is None else zip(
            [f"{part['name']}.{kind}" for part in parts], parameter.grad.split([part["rows"] for part in parts]))
        for original, grad in grads:
            assert grad is not None, original
            _close(grad, expected.pop(original), 2e-5)
    assert not expected


def test_gradient_checkpointing_still_works(emitted):
    model = emitted("llama")
    losses = []
    for each in (copy.deepcopy(model.eager), model.bound()):
        each.train()
        each.activation_checkpointing_enable({"use_reentrant": False})
        loss = each(input_ids=torch.arange(12)[None], labels=torch.arange(12)[None], use_cache=False).loss
        loss.backward()
        losses.append((loss.detach(), each.model.layers[0].input_layernorm.weight.grad))
    _close(losses[1][0], losses[0][0])
    _close(losses[1][1], losses[0][1], 2e-5)


@pytest.mark.parametrize("name", ["llama", "gemma3"])
def test_compiles_into_one_graph(name, emitted):
    model = emitted(name)
    compiled = torch.compile(model.bound(), backend="aot_eager", fullgraph=True)
    for length in (7, 12):
        _close(_logits(compiled, 1, length), _logits(model.eager, 1, length))


@pytest.mark.parametrize("name", ["qwen3", "gemma2"])
def test_generates_the_same_text_with_a_cache(name, emitted):
    model = emitted(name)
    prompt = torch.tensor([zoo.PROMPT])
    texts = [each.generate(prompt, max_new_tokens=zoo.TEXT_TOKENS, do_sample=False, attention_mask=torch.ones_like(prompt))
             for each in (model.eager, model.bound())]
    assert torch.equal(*texts) and texts[0].shape[1] == len(zoo.PROMPT) + zoo.TEXT_TOKENS


def test_outputs_that_hooks_capture_are_still_captured(emitted):
    model = emitted("llama")
    ids = torch.arange(9)[None]
    with torch.no_grad():
        found, expected = (each(input_ids=ids, output_hidden_states=True, output_attentions=True, use_cache=False)
                           for each in (model.bound(), model.eager))
    assert len(found.hidden_states) == 4 and len(found.attentions) == 3
    for one, other in zip(found.hidden_states + found.attentions, expected.hidden_states + expected.attentions):
        _close(one, other)


def test_originals_are_gone_and_the_map_gives_them_back(emitted):
    model = emitted("granite")
    bound = model.bound()
    attention = bound.model.layers[1].self_attn
    assert not hasattr(attention, "q_proj") and type(attention.qkv_proj) is torch.nn.Linear
    assert attention.qkv_proj.bias is not None and attention.qkv_sizes == (60, 20, 20)
    count = sum(parameter.numel() for parameter in model.eager.parameters())
    assert sum(parameter.numel() for parameter in bound.parameters()) == count
    before, after = model.eager.state_dict(), original_state_dict(bound)
    assert set(before) == set(after)
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_original_checkpoints_load_into_a_bound_model(emitted):
    model = emitted("granite")
    bound = model.bound()
    with torch.no_grad():
        for parameter in bound.parameters():
            parameter.add_(1.0)
    bound.load_state_dict(model.eager.state_dict(), strict=True)
    _close(_logits(bound, 1, 9), _logits(model.eager, 1, 9))


def test_a_copy_of_a_bound_model_runs_on_its_own_weights(emitted):
    model = emitted("llama")
    bound = model.bound()
    twin = copy.deepcopy(bound)
    with torch.no_grad():
        bound.model.layers[0].mlp.gate_up_proj.weight.zero_()
    _close(_logits(twin, 1, 9), _logits(model.eager, 1, 9))


@pytest.mark.parametrize("name", [*zoo.REQUIRED, *BREADTH])
def test_every_emitted_class_was_run_before_it_was_given_out(name, emitted):
    assert emitted(name).index["unchecked"] is None


def test_command_line_writes_events_and_files(emitted, tmp_path):
    model = emitted("llama")
    request = model.folder.parent / "request.json"
    result = subprocess.run([sys.executable, "-m", "workbench_tracer", "source-form", "--request", str(request), "--out", str(tmp_path / "out")],
                            capture_output=True, text=True, env={"PYTHONPATH": str(_resources())})
    assert result.returncode == 0, result.stderr
    assert '"event": "done"' in result.stdout.splitlines()[-1]
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert written == {path.name: path.read_bytes() for path in model.folder.iterdir() if path.is_file()}


def _resources() -> Path:
    import workbench_tracer

    return Path(workbench_tracer.__file__).parent.parent


def test_instances_with_other_decisions_get_a_source_of_their_own(emitted, tmp_path):
    """Of three attentions: qkv and rope on the first, rope on the second, nothing on the third."""
    from made_requests import SiteMaker, write_request
    from workbench_tracer.source_form import write_sources

    model = emitted("llama")
    maker = SiteMaker(model.eager)
    first, second, third = (f"model.layers.{number}.self_attn" for number in range(3))
    sites = [maker.qkv(first), maker.rope(first), maker.rope(second)]
    request = write_request(tmp_path / "request.json", model.folder.parent / "model", sites)
    index = write_sources(request, tmp_path / "out", Events())
    found = {entry["python"]: (entry["patterns"], entry["instances"], entry["every_instance"]) for entry in index["classes"]}
    assert found == {"modeling_llama.LlamaAttention.py": (["qkv", "rope"], [first], False),
                     "modeling_llama.LlamaAttention.2.py": (["rope"], [second], False)}
    bound = bind(copy.deepcopy(model.eager), tmp_path / "out")
    assert hasattr(bound.get_submodule(second), "q_proj") and "forward" not in vars(bound.get_submodule(third))
    _close(_logits(bound, 2, 9), _logits(model.eager, 2, 9))


def test_other_models_of_the_same_classes_are_untouched(emitted):
    """Binding is per instance: another model of the same classes keeps its own forward."""
    model = emitted("llama")
    bound = model.bound()
    other = zoo.build("llama")
    assert "forward" in vars(bound.model.layers[0].mlp) and "forward" not in vars(other.model.layers[0].mlp)
    _close(_logits(other, 1, 7), _logits(model.eager, 1, 7), 0.0)
