"""A broken archive gives one clear sentence, the right exit code, and leaves nothing behind."""

import json
import os
import resource
import zipfile

import pytest
from support import BAD_INPUT, refused, workbench


def test_random_bytes_as_archive(work, tmp_path):
    file = tmp_path / "model.pt2"
    file.write_bytes(os.urandom(4096))
    refused(work, file, BAD_INPUT, "model.pt2")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A real archive of a small program, from torch.export itself."""
    import torch

    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x)

    file = tmp_path_factory.mktemp("archive") / "small.pt2"
    with torch.no_grad():
        torch.export.save(torch.export.export(Small(), (torch.zeros(2, 4),)), file)
    return file


def _repack(source, target, change):
    """Copies a zip, stored; change(name, data) -> list of (name, data)."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for item in old.infolist():
            for name, data in change(item.filename, old.read(item)):
                new.writestr(name, data)


def test_newer_schema(work, tmp_path, archive):
    def change(name, data):
        if name.endswith("models/model.json"):
            program = json.loads(data)
            program["schema_version"]["major"] += 1
            data = json.dumps(program).encode()
        return [(name, data)]

    file = tmp_path / "newer.pt2"
    _repack(archive, file, change)
    refused(work, file, BAD_INPUT, "schema", "newer.pt2")


def test_path_traversal(work, tmp_path, archive):
    file = tmp_path / "evil.pt2"
    _repack(archive, file, lambda name, data: [(name, data), ("../../../../tmp/workbench-escaped", b"x")])
    refused(work, file, BAD_INPUT, "evil.pt2")
    assert not os.path.exists("/tmp/workbench-escaped")


def test_bomb(work, tmp_path, archive):
    """4 GiB of zeros under the name of the program: refused, and within 1 GiB of memory."""
    file = tmp_path / "bomb.pt2"
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for item in old.infolist():
            if not item.filename.endswith("models/model.json"):
                new.writestr(item.filename, old.read(item))
        name = next(item.filename for item in old.infolist() if item.filename.endswith("models/model.json"))
        with new.open(name, "w", force_zip64=True) as out:
            for _ in range(64):
                out.write(bytes(64 << 20))
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))  # noqa: E731
    workbench(file, "--apply-all", "--export", "plan.json", cwd=work, preexec_fn=limit).expect_error(BAD_INPUT, "bomb.pt2")
    assert not list(work.iterdir())


@pytest.mark.parametrize("keep", [10, 200, 0.5])
def test_truncated_archive(work, tmp_path, archive, keep):
    data = archive.read_bytes()
    file = tmp_path / "cut.pt2"
    file.write_bytes(data[: keep if isinstance(keep, int) else int(len(data) * keep)])
    refused(work, file, BAD_INPUT, "cut.pt2")


def test_archive_without_program(work, tmp_path):
    file = tmp_path / "other.pt2"
    with zipfile.ZipFile(file, "w") as new:
        new.writestr("readme.txt", "hello")
    refused(work, file, BAD_INPUT, "other.pt2")
