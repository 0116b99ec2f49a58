"""Measuring and bisecting on a small real model: what is printed, what is said when something is wrong."""

import json
import signal

import pytest
import support
from support import BAD_INPUT, DONE, INTERRUPTED, USAGE, workbench

LOAD = ("--prompt-tokens", "4", "--new-tokens", "3", "--rounds", "3")


@pytest.fixture(scope="module")
def llama():
    return support.model("llama")


def _holds(spread) -> bool:
    return 0 < spread["min"] <= spread["median"] <= spread["max"]


def test_bench_states_speed_before_and_after(llama):
    report = workbench("bench", llama, "--apply-all", *LOAD, "--json").expect(DONE).json()
    for program in (report["native"], report["before"], report["after"]):
        assert all(_holds(place["tokens_per_s"]) for place in (program, program["prefill"], program["decode"]))
        assert len(program["rounds"]) == 3
        assert 0 < program["latency_ms"]["p50"] <= program["latency_ms"]["p99"] <= program["latency_ms"]["max"]
    assert report["load"] == {"kind": "single", "prompt_tokens": 4, "new_tokens": 3, "concurrency": 1, "rounds": 3, "prompts": [], "weights": "stored"}
    assert report["native_check"]["relative_error"] <= 1e-5
    assert report["profile"].keys() == {"native", "after", "before"}
    assert report["machine"]["threads"] >= 1
    assert report["change"]["decode"]["low"] <= report["change"]["decode"]["ratio"] <= report["change"]["decode"]["high"]


def test_bench_runs_several_requests_at_once_and_traces(llama, tmp_path):
    text = workbench("bench", llama, "--apply-all", "--load", "mixed", "--concurrency", "3", *LOAD).expect(DONE).out
    assert "3 requests at once" in text and "after against before" in text and "against native" in text
    trace = tmp_path / "load.jsonl"
    trace.write_text('{"arrival_s": 0, "prompt_tokens": 3, "new_tokens": 2}\n{"arrival_s": 0.1, "prompt_tokens": 4, "new_tokens": 3}\n')
    report = workbench("bench", llama, "--apply-all", "--load", "trace", trace, "--rounds", "3", "--json").expect(DONE).json()
    assert _holds(report["native"]["tokens_per_s"]) and len(report["load"]["trace"]) == 2
    trace.write_text("3\n")
    workbench("bench", llama, "--load", "trace", trace).expect_error(BAD_INPUT, "load.jsonl", "line 1")


def test_transformers_takes_part_when_asked(llama):
    report = workbench("bench", llama, "--apply-all", *LOAD, "--eager", "--json").expect(DONE).json()
    assert _holds(report["eager"]["tokens_per_s"]) and len(report["eager"]["rounds"]) == 3
    assert report["against_eager"]["decode"]["ratio"] > 0
    mixed = workbench("bench", llama, "--load", "mixed", "--concurrency", "3", *LOAD, "--eager").expect(DONE).out
    assert "eager" in mixed and "against eager" in mixed


def test_too_few_rounds_find_nothing_slower_and_say_so(llama):
    workbench("bisect", llama, "--apply-all", "--by", "speed", "--rounds", "3").expect_error(USAGE, "3 rounds", "6 or more")


def test_a_load_of_prompts_alone_states_their_speed(llama):
    report = workbench("bench", llama, "--apply-all", "--load", "prefill", "--prompt-tokens", "20", "--rounds", "3", "--json").expect(DONE).json()
    assert report["after"]["tokens_per_s"] == report["after"]["prefill"]["tokens_per_s"]
    assert "decode" not in report["after"]


def test_other_models_say_why_there_is_no_native_code():
    report = workbench("bench", support.model("gemma2"), "--apply-all", *LOAD, "--json").expect(DONE).json()
    assert not report["native"]["available"] and "Gemma2ForCausalLM" in report["native"]["reason"]


def test_bench_leaves_each_applied_pattern_out(llama):
    report = workbench("bench", llama, "--apply", "qkv", "--apply", "rope", *LOAD, "--leave-one-out", "--json").expect(DONE).json()
    assert [effect["pattern"] for effect in report["patterns"]] == ["qkv", "rope"]
    assert all(_holds(effect["without"]["tokens_per_s"]) and effect["sites"] > 0 for effect in report["patterns"])


def test_bench_takes_prompts_from_a_file(llama, tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("\n \n")
    workbench("bench", llama, "--prompts", prompts, cwd=tmp_path).expect_error(BAD_INPUT, "prompts.txt", "no prompt")
    workbench("bench", llama, "--prompts", tmp_path / "none.txt").expect_error(BAD_INPUT, "none.txt")


def test_a_load_longer_than_the_context_is_refused(llama):
    run = workbench("bench", llama, "--prompt-tokens", "100000")
    run.expect_error(BAD_INPUT, "100000", "context")


def test_bisect_says_that_right_numbers_have_no_guilty_site(llama):
    run = workbench("bisect", llama, "--apply-all", "--json").expect(DONE)
    found = run.json()
    assert found["by"] == "numbers"
    assert not found["wrong"] and found["guilty"] == []
    assert len(found["steps"]) == 1


def test_bisect_needs_something_applied(llama):
    workbench("bisect", llama).expect_error(USAGE, "nothing is applied")


def test_an_interrupt_stops_a_measurement_at_once(llama, tmp_path):
    process = support.start("bench", llama, "--apply-all", "--rounds", "10000", cwd=tmp_path)
    support.child_of(process, "workbench-worker")
    process.send_signal(signal.SIGINT)
    run = support.finished(process, timeout=30).expect(INTERRUPTED)
    assert json.dumps(run.out) == '""'
