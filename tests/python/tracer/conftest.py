"""Import paths, and one trace of each model for all tests."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT / "resources" / "python", ROOT / "tests" / "models", Path(__file__).parent):
    sys.path.insert(0, str(folder))

from own_models import write_own_model  # noqa: E402
from tracer_support import Trace, trace  # noqa: E402
from zoo_fixtures import model  # noqa: E402, F401

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def traced(model: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Trace]:
    """A trace of a zoo model; options as those of TraceOptions."""
    made: dict[tuple[str, bool], Trace] = {}

    def get(name: str, full: bool = False) -> Trace:
        if (name, full) not in made:
            # The proof is repeated for nothing with the same code; test_tracer_proof.py is about it.
            made[name, full] = trace(model(name), tmp_path_factory.mktemp("trace") / name, full=full, proof=not full)
        return made[name, full]

    return get


@pytest.fixture
def own_model(tmp_path: Path) -> Callable[..., Path]:
    """Directory of a small Llama with Python code of its own: see write_own_model."""

    def get(name: str = "own", **parts: str) -> Path:
        return write_own_model(tmp_path / name, **parts)

    return get
