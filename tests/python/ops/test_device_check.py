"""tests/device/check_ops.py, which judges the operators on a GPU machine, tried on the CPU."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

DEVICE = Path(__file__).resolve().parents[2] / "device"
sys.path.insert(0, str(DEVICE))

import check_ops  # noqa: E402

PACKAGE = Path(check_ops.workbench_ops.__file__).resolve().parents[1]


def judged(op: str, dtype: torch.dtype) -> check_ops.Verdict:
    verdict = check_ops.Verdict()
    for name, case in check_ops.cases(dtype):
        if name == op:
            check_ops.check(name, case, dtype, "cpu", verdict)
    return verdict


def test_every_operator_is_judged():
    assert {name for name, _ in check_ops.cases(torch.float32)} == check_ops.REFERENCES.keys()


def test_the_library_passes(library):
    done = subprocess.run([sys.executable, DEVICE / "check_ops.py", library, "--device", "cpu"], capture_output=True, text=True,
                          env={"PYTHONPATH": str(PACKAGE), "PATH": ""}, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok ") == 3 * len(check_ops.REFERENCES) and "WRONG" not in done.stdout


@pytest.mark.parametrize("change", (lambda y: y * 1.001, lambda y: y.double(), lambda y: torch.full_like(y, float("nan")), lambda y: y[:1]))
def test_a_kernel_that_computes_otherwise_is_named(monkeypatch, change):
    right = check_ops.REFERENCES["rms_norm"]
    monkeypatch.setitem(check_ops.REFERENCES, "rms_norm", lambda *args, **kwargs: change(right(*args, **kwargs)))
    verdict = judged("rms_norm", torch.float32)
    assert any("[16, 4096]: error" in fault for fault in verdict.faults)


def test_a_kernel_that_fails_is_named(monkeypatch):
    def fails(*args, **kwargs):
        raise RuntimeError("too many resources requested for launch")

    monkeypatch.setattr(check_ops.torch.ops.workbench, "rope", fails)
    assert judged("rope", torch.float32).faults[0].endswith("RuntimeError: too many resources requested for launch")
