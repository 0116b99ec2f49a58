"""One traced layer of each kind, copied, is the whole model as torch exports it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import zoo


@pytest.mark.parametrize("name", list(zoo.ZOO))
def test_replicated_graph_is_that_of_the_full_export(
    name: str, traced: Callable[..., Path], tool: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    compared = tool("compare", traced(name), traced(name, full=True))
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert compared.stdout.startswith("equal, ")
