"""Import paths; a worker per test, and one small traced model for all."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT / "resources" / "python", ROOT / "tests" / "models", Path(__file__).parent):
    sys.path.insert(0, str(folder))

import zoo  # noqa: E402
from worker_client import WORKER, Worker  # noqa: E402

PRINT_TRACE = WORKER.parent.parent / "tests" / "print_trace"


@dataclasses.dataclass(frozen=True)
class TracedModel:
    """What a session would send to the worker for a model."""

    directory: Path
    graph: str
    weights: dict[str, Any]

    def load(self, worker: Worker, name: str = "original", **weights: Any) -> dict[str, Any]:
        return worker.call("load", name=name, graph=self.graph, weights={**self.weights, **weights})


def trace(directory: Path, out: Path, *options: str) -> TracedModel:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "resources" / "python")}
    command = [sys.executable, "-m", "workbench_tracer", "trace", "--model", directory, "--out", out, "--no-proof", *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    graph = subprocess.run([PRINT_TRACE, out], capture_output=True, text=True, check=True).stdout
    facts = json.loads((out / "trace.json").read_text())
    weights = {"directory": str(directory), "archive": str(out / "trace.pt2"), "map": facts["parameters"]}
    return TracedModel(directory, graph, weights)


@pytest.fixture(scope="session")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., TracedModel]:
    made: dict[tuple[str, ...], TracedModel] = {}

    def get(name: str, *options: str) -> TracedModel:
        key = (name, *options)
        if key not in made:
            folder = tmp_path_factory.mktemp("traced")
            made[key] = trace(zoo.save(name, folder / "model"), folder / "trace", *options)
        return made[key]

    return get


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker() as started:
        yield started
