"""The C++ reader and writer of archives, driven through archive_tool beside the workbench."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT / "resources" / "python", ROOT / "tests" / "models", Path(__file__).parent):
    sys.path.insert(0, str(folder))

import workbench_ops  # noqa: E402, F401
from workbench_tracer.events import Events  # noqa: E402
from workbench_tracer.options import TraceOptions  # noqa: E402
from workbench_tracer.trace import run  # noqa: E402
from zoo_fixtures import model  # noqa: E402, F401

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tool() -> Callable[..., subprocess.CompletedProcess[str]]:
    """archive_tool with the given arguments; its usage is in tests/support/archive_tool.cpp."""
    program = Path(os.environ["WORKBENCH_BIN"]).with_name("archive_tool")

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60)

    return call


@pytest.fixture(scope="session")
def traced(model: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Folder with the trace of a zoo model."""

    def get(name: str, **options: bool) -> Path:
        out = tmp_path_factory.mktemp("trace") / name
        run(TraceOptions(model(name), out, proof=False, **options), Events(io.StringIO()))
        return out

    return get
