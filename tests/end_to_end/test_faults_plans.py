"""A plan that does not fit gives one clear sentence, the right exit code, and leaves nothing behind."""

import json

import pytest
import support
from support import BAD_INPUT, DONE, refused, workbench


@pytest.fixture
def plan(tmp_path):
    """A good plan of the llama model, as a value and as a file to overwrite."""
    file = tmp_path / "plan-in.json"
    workbench(support.model("llama"), "--apply-all", "--export", file).expect(DONE)
    return file


def _with_plan(work, plan, change, *words, model="llama"):
    value = json.loads(plan.read_text())
    change(value)
    plan.write_text(json.dumps(value))
    refused(work, support.model(model), BAD_INPUT, *words, options=("--plan", plan, "--export", "plan.json"))


def test_plan_for_another_model(work, plan):
    _with_plan(work, plan, lambda value: None, "plan-in.json", model="qwen3")


def test_plan_with_an_unknown_key(work, plan):
    _with_plan(work, plan, lambda value: value.update(surprise=1), "surprise")


def test_plan_with_an_unknown_key_in_a_site(work, plan):
    _with_plan(work, plan, lambda value: value["sites"][0].update(surprise=1), "surprise")


def test_plan_with_an_unknown_version(work, plan):
    def change(value):
        key = next(key for key in ("schema", "schema_version", "version") if key in value)
        value[key] = 99

    _with_plan(work, plan, change, "99")


def test_plan_naming_a_site_that_is_gone(work, plan):
    def change(value):
        value["sites"][0]["id"] = value["sites"][0]["id"].replace("layers.0", "layers.77")

    _with_plan(work, plan, change, "layers.77")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"sites": 3}'])
def test_plan_that_is_no_plan(work, plan, text):
    plan.write_text(text)
    refused(work, support.model("llama"), BAD_INPUT, "plan-in.json", options=("--plan", plan, "--export", "plan.json"))


def test_missing_plan(work, tmp_path):
    refused(work, support.model("llama"), BAD_INPUT, "gone.json", options=("--plan", tmp_path / "gone.json"))
