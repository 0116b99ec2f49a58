"""Exported source is code that runs: bound to the live eager model, with the weights merged, it gives the same logits."""

import json
import re
import sys

import pytest
import support
import torch
import zoo

sys.path.insert(0, str(support.REPO / "resources" / "python"))

TOLERANCE = 1e-5  # of the largest logit, f32: merged products may sum in another order


def _export(name, tmp_path, *options):
    out = tmp_path / "source"
    support.workbench(support.model(name), "--apply-all", *options, "--export-source", out, cwd=tmp_path).expect(support.DONE)
    return out, json.loads((out / "index.json").read_text())


def _logits(model, ids):
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_bound_source_gives_the_same_logits(name, tmp_path):
    from workbench_tracer.source_form.binding import bind

    out, index = _export(name, tmp_path)
    assert index["classes"], "no class was rewritten"
    (ids,) = support.random_tokens(211, [33])
    model = zoo.build(name)
    before = _logits(model, ids)
    forwards = {path: module.forward.__func__ for path, module in model.named_modules()}
    after = _logits(bind(model, out), ids)
    assert float((after - before).abs().max() / before.abs().max()) <= TOLERANCE
    changed = [path for path, module in model.named_modules() if module.forward.__func__ is not forwards.get(path)]
    assert len(changed) >= sum(len(entry["instances"]) for entry in index["classes"])


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_every_applied_site_has_a_form_or_a_reason(name, tmp_path):
    plan_file = tmp_path / "plan.json"
    _, index = _export(name, tmp_path, "--export", plan_file)
    applied = {site["id"] for site in json.loads(plan_file.read_text())["sites"] if site["state"] == "applied"}
    assert set(index["sites"]) <= applied
    assert index["sites"], "no site was asked for"
    for site in index["sites"].values():
        assert site["form"] is not None or site["reason"]
    assert any(site["form"] is not None for site in index["sites"].values())


def test_every_pattern_has_a_source_form_or_the_reason_why_not():
    from workbench_tracer.source_form.patterns import PATTERNS

    patterns = [line.split()[0] for line in support.workbench("patterns").expect(support.DONE).out.splitlines()]
    assert set(PATTERNS) == set(patterns)


def test_diffs_are_unified_and_name_the_merged_projection(tmp_path):
    out, _ = _export("llama", tmp_path)
    diffs = {file.name: file.read_text() for file in out.rglob("*.diff")}
    assert diffs
    for text in diffs.values():
        # A diff may begin with words for the reader: patch skips them.
        assert re.search(r"^--- a/.*\n\+\+\+ b/.*\n@@ ", text, re.MULTILINE)
    attention = next(text for name, text in diffs.items() if "Attention" in name)
    assert "-        query_states = self.q_proj(hidden_states)" in attention
    assert any(line.startswith("+") and "qkv" in line for line in attention.splitlines())
