"""The operators as a user has them: the Python package, and the C++ kernels on top where they are built (WORKBENCH_OPS_LIBRARY)."""

import os

import pytest
import torch

import workbench_ops

LIBRARY = os.environ.get("WORKBENCH_OPS_LIBRARY", "")
if LIBRARY:
    workbench_ops.load(LIBRARY)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture
def library() -> str:
    if not LIBRARY:
        pytest.skip("the C++ library is not built: WORKBENCH_OPS_LIBRARY is not set")
    return LIBRARY
