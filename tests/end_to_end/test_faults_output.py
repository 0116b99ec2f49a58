"""An output that cannot be written gives one clear sentence, the right exit code, and leaves nothing behind."""

import resource
import subprocess

import pytest
import support
from support import BAD_INPUT, DONE, refused, workbench


def test_output_into_a_missing_directory(work):
    refused(work, support.model("llama"), BAD_INPUT, "no-dir", options=("--apply-all", "--export", "no-dir/plan.json"))


def test_output_is_a_directory(work, tmp_path):
    (tmp_path / "taken").mkdir()
    refused(work, support.model("llama"), BAD_INPUT, "taken", options=("--apply-all", "--export", tmp_path / "taken"))


def test_unwritable_output(work):
    # /proc refuses new files to root, too.
    refused(work, support.model("llama"), BAD_INPUT, "/proc/plan.json", options=("--apply-all", "--export", "/proc/plan.json"))


def test_disk_full_keeps_the_old_file(work):
    """A file size limit makes write() fail half-way, as a full disk does."""
    (work / "plan.json").write_text("old")
    workbench(support.model("llama"), "--apply-all").expect(DONE)  # traced and cached, so that the limit meets the plan only

    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # noqa: E731
    run = workbench(support.model("llama"), "--apply-all", "--export", "plan.json", cwd=work, preexec_fn=limit)
    run.expect_error(BAD_INPUT, "plan.json")
    assert [file.name for file in work.iterdir()] == ["plan.json"]
    assert (work / "plan.json").read_text() == "old"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB."""
    point = tmp_path / "disk"
    point.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", point], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs privileges")
    yield point
    subprocess.run(["umount", point], check=True)


def test_full_file_system_keeps_the_old_file(work, small_disk):
    (small_disk / "plan.json").write_text("old")
    (small_disk / "filler").write_bytes(bytes(8 << 10))
    run = workbench(support.model("gemma3"), "--apply-all", "--export", small_disk / "plan.json", cwd=work)
    run.expect_error(BAD_INPUT, "plan.json")
    assert (small_disk / "plan.json").read_text() == "old"
    assert {file.name for file in small_disk.iterdir()} == {"plan.json", "filler"}
