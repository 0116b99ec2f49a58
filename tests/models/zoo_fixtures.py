"""Pytest fixtures over the zoo; a conftest imports those that its tests use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import zoo


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Directory of a zoo model with f32 weights."""
    made: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in made:
            made[name] = zoo.save(name, tmp_path_factory.mktemp("model") / name)
        return made[name]

    return get
