"""Import paths of the packages under test and of the zoo, and one emitted source form for each model of the zoo."""

from __future__ import annotations

import copy
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

import pytest
import torch

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT / "resources" / "python", ROOT / "tests" / "models", Path(__file__).parent):
    sys.path.insert(0, str(folder))

import zoo  # noqa: E402
from made_requests import breadth_sites, model_sites, write_request  # noqa: E402
from workbench_tracer.events import Events  # noqa: E402
from workbench_tracer.source_form import bind, write_sources  # noqa: E402


@dataclass
class Emitted:
    """A zoo model in eager form, and the folder and index of its source form with everything applied."""

    name: str
    eager: torch.nn.Module
    folder: Path
    index: dict[str, Any]

    def bound(self) -> torch.nn.Module:
        return bind(copy.deepcopy(self.eager), self.folder)


@pytest.fixture(scope="session")
def emitted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Emitted]:
    made: dict[str, Emitted] = {}

    def get(name: str) -> Emitted:
        if name not in made:
            root = tmp_path_factory.mktemp(name)
            eager = zoo.build(name)
            zoo.save_config(name, root / "model")
            sites = (model_sites if name in zoo.REQUIRED else breadth_sites)(name, eager)
            request = write_request(root / "request.json", root / "model", sites, dtype="bfloat16")
            made[name] = Emitted(name, eager, root / "out", write_sources(request, root / "out", Events()))
        return made[name]

    return get


@pytest.fixture
def import_text(tmp_path: Path) -> Callable[[str], ModuleType]:
    """Writes Python text to a file and imports it: models whose source a test spells out."""
    made: list[str] = []

    def load(text: str) -> ModuleType:
        name = f"toy_model_{len(made)}_{abs(hash(tmp_path))}"
        path = tmp_path / f"{name}.py"
        path.write_text("import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n" + text)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        made.append(name)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in made:
        sys.modules.pop(name, None)
