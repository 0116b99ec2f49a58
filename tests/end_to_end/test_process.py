"""What the command line owes to its surroundings: streams, signals, limits, the environment, the current folder."""

import json
import os
import shutil
import signal
import subprocess

import psutil
import pytest
import support
from support import BAD_INPUT, DONE, INTERRUPTED, USAGE, workbench

PLAN = ("--apply-all", "--export", "plan.json")


def _gone(process, seconds=20):
    """Waits for the end of a process that is not ours to wait for."""
    try:
        psutil.Process(process.pid).wait(seconds)
    except psutil.NoSuchProcess:
        pass
    except psutil.TimeoutExpired:
        return False
    return True


# --- standard streams --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", [(0,), (2,), (0, 2)])
def test_closed_streams_change_nothing(work, closed):
    run = workbench(support.model("llama"), *PLAN, cwd=work, preexec_fn=lambda: [os.close(fd) for fd in closed])
    assert run.code == DONE and "qkv" in run.out
    assert json.loads((work / "plan.json").read_text())["sites"]


def test_a_closed_output_is_said_and_gets_into_no_file(work):
    run = workbench(support.model("llama"), *PLAN, cwd=work, preexec_fn=lambda: os.close(1))
    run.expect_error(BAD_INPUT, "standard output")
    assert json.loads((work / "plan.json").read_text())["sites"]


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("patterns",), ("verify", "--help")])
def test_a_full_output_is_said(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([support.binary(), *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == BAD_INPUT and "standard output" in done.stderr


def test_a_reader_that_goes_ends_all_of_it_quietly(work, tmp_path):
    process = support.start("-q", support.model("llama"), *PLAN, cwd=work, XDG_CACHE_HOME=str(tmp_path / "cache"))
    tracer = support.child_of(process, "workbench_tracer")
    process.stdout.close()
    process.stdout = None
    run = support.finished(process, 120)
    assert run.code == -signal.SIGPIPE and run.err == ""
    assert _gone(tracer)


# --- signals -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_helpers_and_leaves_nothing(work, tmp_path, number):
    process = support.start(support.model("llama"), *PLAN, cwd=work, XDG_CACHE_HOME=str(tmp_path / "cache"))
    tracer = support.child_of(process, "workbench_tracer")
    process.send_signal(number)
    assert "error: interrupted" in support.finished(process).expect(INTERRUPTED).err
    assert _gone(tracer)
    assert not list(work.iterdir())
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_nohup_is_respected(work):
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    process = subprocess.Popen(
        [support.binary(), support.model("llama"), *PLAN], cwd=work, env=support.environment(), preexec_fn=ignore,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    support.child_of(process, "workbench_tracer")
    process.send_signal(signal.SIGHUP)
    assert process.wait(300) == DONE
    assert (work / "plan.json").exists()


def test_the_tracer_does_not_outlive_a_killed_workbench(work, tmp_path):
    process = support.start(support.model("llama"), *PLAN, cwd=work, XDG_CACHE_HOME=str(tmp_path / "cache"))
    tracer = support.child_of(process, "trace")
    process.kill()
    process.wait()
    assert _gone(tracer)
    assert not list((tmp_path / "cache").rglob("trace.*")), "the tracer left its half-made folder"


def test_interrupted_source_leaves_nothing_beside_its_folder(work):
    workbench(support.model("llama"), "--apply-all").expect(DONE)
    process = support.start(support.model("llama"), "--apply-all", "--export-source", "source", cwd=work)
    support.child_of(process, "source-form")
    for line in process.stderr:
        if line.startswith(("build", "write", "check")):
            break
    process.send_signal(signal.SIGINT)
    support.finished(process).expect(INTERRUPTED)
    assert not list(work.iterdir())


# --- the environment ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("python_path", [None, "", ":", "{repo}::"])
def test_modules_of_the_current_folder_are_not_run(work, llama_copy, python_path, tmp_path):
    """A model's folder may hold files that are named like libraries."""
    marker = tmp_path / "was-run"
    for name in ("torch", "json", "transformers", "huggingface_hub", "sitecustomize", "workbench_tracer", "venv"):
        (llama_copy / f"{name}.py").write_text(f"open({str(marker)!r}, 'w')\n")
    path = python_path.format(repo=support.REPO) if python_path else python_path
    env = support.environment(PYTHONPATH=path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    workbench(".", "--apply-all", "--export", work / "plan.json", cwd=llama_copy, env=env).expect(DONE)
    workbench("setup", cwd=llama_copy, env=env)
    assert not marker.exists()


def test_without_home_and_temporary_folder(work):
    env = support.environment(HOME=None, XDG_CACHE_HOME=None, TMPDIR="/nowhere")
    workbench("patterns", cwd=work, env=env).expect(DONE)
    workbench("no-model", cwd=work, env=env).expect_error(BAD_INPUT, "no-model")


def test_source_without_a_temporary_folder(work):
    run = workbench(
        support.model("llama"), "--apply-all", "--export-source", "source", cwd=work, env=support.environment(TMPDIR="/nowhere")
    )
    run.expect_error(BAD_INPUT, "TMPDIR")
    assert not list(work.iterdir())


# --- names -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a model", "-dash", "--apply-all", "new\nline", "100%", "{}", "é", "m" * 240, "plan"])
def test_odd_names_of_a_model_are_fine(work, name):
    shutil.copytree(support.model("llama"), work / name)
    run = workbench("verify", "--apply-all", "--export", "out.json", "--", name, cwd=work).expect(DONE)
    assert "verified" in run.out and (work / "out.json").exists()


def test_a_name_that_is_no_utf8_is_refused(work):
    name = os.fsencode(work) + b"/model-\xff"
    os.rename(shutil.copytree(support.model("llama"), work / "model"), name)
    run = workbench(os.fsdecode(name), "--apply-all", cwd=work, errors="replace")
    run.expect_error(BAD_INPUT, "UTF-8")


def test_the_current_folder_is_gone(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    run = workbench(support.model("llama"), *PLAN, cwd=gone, preexec_fn=lambda: os.rmdir(gone))
    run.expect_error(BAD_INPUT, "plan.json")
    run = workbench(support.model("llama"), "--export-source", "source", "--apply-all", cwd=tmp_path, preexec_fn=lambda: (gone.mkdir(), os.chdir(gone), os.rmdir(gone)))
    run.expect_error(BAD_INPUT, "source")


def test_a_pipe_as_output_gets_the_plan(work):
    os.mkfifo(work / "pipe")
    process = support.start(support.model("llama"), "--apply-all", "--export", "pipe", cwd=work)
    assert json.loads((work / "pipe").read_text())["sites"]
    support.finished(process).expect(DONE)


# --- usage -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--apply-all", "verify", "model"), "--apply-all"),
        (("--export", "a.json", "inspect", "model"), "--export"),
        (("other", "verify", "model"), "MODEL"),
        (("model", "--apply-all=false"), "apply-all"),
        (("model", "--export", "a", "--export-pt2", "./a"), "--export-pt2"),
        (("verify", "model", "--export", "a", "--dump-logits", "a"), "--dump-logits"),
    ],
)
def test_what_would_be_lost_in_silence_is_refused(work, arguments, word):
    workbench(*arguments, cwd=work).expect_error(USAGE, word)
    assert not list(work.iterdir())
