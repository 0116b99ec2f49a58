"""A helper process that fails gives one clear sentence, the right exit code, and leaves nothing behind."""

import signal

import support
from support import DONE, NO_TRACE, RUNTIME, workbench


def test_tracer_killed_half_way(work, tmp_path):
    process = support.start(
        support.model("llama"), "--apply-all", "--export", "plan.json", cwd=work, XDG_CACHE_HOME=str(tmp_path / "cache")
    )
    support.child_of(process, "workbench_tracer").send_signal(signal.SIGKILL)
    support.finished(process).expect_error(NO_TRACE, "trace")
    assert not list(work.iterdir())
    assert not list((tmp_path / "cache").rglob("trace.json"))


def test_worker_killed_half_way(work, tmp_path):
    workbench(support.model("llama"), "--apply-all").expect(DONE)
    tokens = support.write_tokens(tmp_path / "tokens.txt", support.random_tokens(211, [200] * 40))
    process = support.start(
        "verify", support.model("llama"), "--apply-all", "--tokens", tokens, "--dump-logits", "out.safetensors", cwd=work
    )
    support.child_of(process, "workbench-worker").send_signal(signal.SIGKILL)
    support.finished(process).expect_error(RUNTIME, "worker")
    assert not list(work.iterdir())


def test_no_python(work, tmp_path):
    run = workbench(
        support.model("llama"),
        "--apply-all",
        "--export",
        "plan.json",
        cwd=work,
        env=support.environment(WORKBENCH_PYTHON="/nowhere/python", XDG_CACHE_HOME=str(tmp_path / "cache")),
    )
    run.expect_error(NO_TRACE, "/nowhere/python")
    assert not list(work.iterdir())


def test_python_without_torch(work, tmp_path):
    run = workbench(
        support.model("llama"),
        "--apply-all",
        "--export",
        "plan.json",
        cwd=work,
        env=support.environment(WORKBENCH_PYTHON="/usr/bin/python3", XDG_CACHE_HOME=str(tmp_path / "cache"), PYTHONPATH=None),
    )
    run.expect_error(NO_TRACE)
    assert not list(work.iterdir())
