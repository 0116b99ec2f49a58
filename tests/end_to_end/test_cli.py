"""The command line keeps its promises: exit codes, decisions, requirements, plans."""

import json
import signal

import pytest
import support
from support import DONE, FAILED, INTERRUPTED, USAGE, workbench


@pytest.fixture(scope="module")
def llama():
    return support.model("llama")


def _plan(directory, tmp_path, *options, name="plan.json"):
    out = tmp_path / name
    workbench(directory, *options, "--export", out).expect(DONE)
    return json.loads(out.read_text())


def _applied(plan) -> set[str]:
    return {site["id"] for site in plan["sites"] if site["state"] == "applied"}


def test_help_states_the_exit_codes():
    out = workbench("--help").expect(DONE).out
    for code in (DONE, FAILED, USAGE, support.BAD_INPUT, support.NO_TRACE, support.RUNTIME, INTERRUPTED):
        assert f"{code} " in out


@pytest.mark.parametrize("arguments", [["--no-such-option"], ["inspect"], ["no-such-dir", "--apply"], []])
def test_wrong_usage(arguments, tmp_path):
    workbench(*arguments, cwd=tmp_path).expect(USAGE)
    assert not list(tmp_path.iterdir())


def test_version():
    assert workbench("--version").expect(DONE).out.strip()


def test_apply_all_exports_a_plan_with_every_site(llama, tmp_path):
    plan = _plan(llama, tmp_path, "--apply-all")
    assert {site["pattern"] for site in plan["sites"]} >= {"qkv", "gate-up", "rms-norm", "add-rms-norm", "rope"}
    assert len(_applied(plan)) > 0


def test_plan_follows_its_schema(llama, tmp_path):
    import jsonschema

    plan = _plan(llama, tmp_path, "--apply-all")
    schemas = sorted((support.REPO / "resources").rglob("*plan*.schema.json"))
    assert len(schemas) == 1
    jsonschema.validate(plan, json.loads(schemas[0].read_text()))


def test_nothing_is_applied_without_being_asked(llama, tmp_path):
    assert _applied(_plan(llama, tmp_path)) == set()


def test_a_saved_plan_gives_the_same_plan(llama, tmp_path):
    first = _plan(llama, tmp_path, "--apply-all", "--reject", "rope", name="first.json")
    second = _plan(llama, tmp_path, "--plan", tmp_path / "first.json", name="second.json")
    assert first == second


def test_two_exports_are_the_same_bytes(llama, tmp_path):
    _plan(llama, tmp_path, "--apply-all", name="first.json")
    _plan(llama, tmp_path, "--apply-all", name="second.json")
    assert (tmp_path / "first.json").read_bytes() == (tmp_path / "second.json").read_bytes()


def test_later_decisions_win(llama, tmp_path):
    only_rope = _applied(_plan(llama, tmp_path, "--apply", "rope"))
    assert len(only_rope) == 3 and all(site.startswith("rope@") for site in only_rope)
    assert _applied(_plan(llama, tmp_path, "--apply", "rope", "--reject", "rope")) == set()
    assert _applied(_plan(llama, tmp_path, "--reject", "rope", "--apply", "rope")) == only_rope


def test_globs_choose_sites(llama, tmp_path):
    applied = _applied(_plan(llama, tmp_path, "--apply", "qkv", "--reject", "qkv@model.layers.1.*"))
    assert len(applied) == 2 and not any("layers.1." in site for site in applied)


def test_one_site_by_its_id(llama, tmp_path):
    site = sorted(_applied(_plan(llama, tmp_path, "--apply", "gate-up")))[1]
    assert _applied(_plan(llama, tmp_path, "--apply", site)) == {site}


def test_rejecting_the_larger_leaves_the_smaller(llama, tmp_path):
    plan = _plan(llama, tmp_path, "--apply-all", "--reject", "add-rms-norm")
    assert sum(site.startswith("rms-norm@") for site in _applied(plan)) == 7
    assert not any(site.startswith("add-rms-norm@") for site in _applied(plan))


def test_a_decision_that_names_nothing_is_an_error(llama, tmp_path):
    for option in (["--apply", "rms-nrom"], ["--reject", "qkv@model.layers.9.*"]):
        workbench(llama, *option, cwd=tmp_path).expect_error(USAGE, option[1])


@pytest.mark.parametrize(
    ("requirement", "code"),
    [("rms-norm=7", DONE), ("rms-norm=8", FAILED), ("rms-norm=6", FAILED), ("rms-norm>=7", DONE), ("rms-norm>=8", FAILED)],
)
def test_require(llama, requirement, code, tmp_path):
    run = workbench(llama, "--apply-all", "--reject", "add-rms-norm", "--require", requirement, cwd=tmp_path).expect(code)
    if code == FAILED:
        assert "rms-norm" in run.err and "7" in run.err


@pytest.mark.parametrize("requirement", ["rms-norm", "rms-norm=many", "no-such-pattern=1", "=3"])
def test_broken_requirements_are_usage_errors(llama, requirement, tmp_path):
    workbench(llama, "--apply-all", "--require", requirement, cwd=tmp_path).expect(USAGE)


def test_a_missed_requirement_writes_no_plan(llama, tmp_path):
    workbench(llama, "--apply-all", "--require", "qkv=99", "--export", "plan.json", cwd=tmp_path).expect(FAILED)
    assert not list(tmp_path.iterdir())


def test_dry_run_writes_nothing(llama, tmp_path):
    out = workbench(llama, "--apply-all", "--export", "plan.json", "--dry-run", cwd=tmp_path).expect(DONE).out
    assert "qkv" in out
    assert not list(tmp_path.iterdir())


def test_plan_diff(llama, tmp_path):
    _plan(llama, tmp_path, "--apply-all", name="all.json")
    _plan(llama, tmp_path, "--apply-all", "--reject", "qkv@model.layers.1.*", name="less.json")
    same = workbench("plan-diff", "all.json", "all.json", cwd=tmp_path).expect(DONE)
    assert "qkv@" not in same.out
    different = workbench("plan-diff", "all.json", "less.json", cwd=tmp_path)
    assert different.code in (DONE, FAILED)
    assert "qkv@model.layers.1." in different.out and "qkv@model.layers.0." not in different.out


def test_patterns_are_explained():
    listed = workbench("patterns").expect(DONE).out
    for pattern in support.PATTERNS:
        assert pattern in listed
        assert len(workbench("patterns", "--explain", pattern).expect(DONE).out.splitlines()) >= 5
    workbench("patterns", "--explain", "no-such-pattern").expect_error(USAGE, "no-such-pattern")


def test_inspect_folds_layers_and_shows_coverage(llama):
    out = workbench("inspect", llama).expect(DONE).out
    assert "3/3" in out and "6/7" in out
    deep = workbench("inspect", support.model("gemma2")).expect(DONE).out
    assert "model.layers" in deep


def test_inspect_shows_decisions_of_a_plan(llama, tmp_path):
    _plan(llama, tmp_path, "--apply-all", "--reject", "rope")
    report = workbench("inspect", llama, "--plan", tmp_path / "plan.json", "--json").expect(DONE).json()
    verdicts = {site["id"].split("@")[0]: site["verdict"] for site in report["sites"]}
    assert verdicts["rope"] == "rejected" and verdicts["qkv"] == "applied"


@pytest.mark.parametrize(("arguments", "helper"), [([], "workbench_tracer"), (["verify"], "workbench-worker")])
def test_an_interrupt_ends_with_130_and_leaves_nothing(arguments, helper, tmp_path):
    """The tracer gets an empty cache, so that it has work; the worker gets a traced model and many tokens."""
    tokens = support.write_tokens(tmp_path / "tokens.txt", support.random_tokens(211, [200] * 40))
    options = ["--tokens", tokens, "--dump-logits", "out.safetensors"] if arguments else ["--export", "plan.json"]
    cache = {} if arguments else {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    process = support.start(*arguments, support.model("gemma3"), "--apply-all", *options, cwd=tmp_path, **cache)
    child = support.child_of(process, helper)
    process.send_signal(signal.SIGINT)
    support.finished(process).expect(INTERRUPTED)
    assert not child.is_running() or child.status() == "zombie"
    assert not list(tmp_path.glob("plan.json")) and not list(tmp_path.glob("out.safetensors"))
    assert not list((tmp_path / "cache").rglob("trace.json"))


def test_verbose_says_where_everything_comes_from_and_quiet_says_nothing(llama):
    loud = workbench("inspect", llama, "--verbose").expect(DONE)
    for part in ("Python: /", "trace.pt2", "transformers", "fingerprint: sha256:"):
        assert part in loud.err
    assert not workbench("inspect", llama, "--quiet").expect(DONE).err
    assert loud.out == workbench("inspect", llama).expect(DONE).out
