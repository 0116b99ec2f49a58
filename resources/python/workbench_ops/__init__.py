"""The `workbench` operators as plain PyTorch: schema, reference implementation, shape function and gradient of each.

Importing this package is all that a rewritten program needs: exported archives load, run, compile and train on any device. The C++ library
(runtime/ops) brings fast kernels for the same schemas; it may be loaded before or after this package, in either order:

    import workbench_ops
    workbench_ops.load("libworkbench_ops.so")  # optional
"""

from pathlib import Path

import torch

from . import activation, attention, moe, norms, rotary
from .library import REFERENCES, SCHEMAS

__all__ = ["REFERENCES", "SCHEMAS", "activation", "attention", "load", "moe", "norms", "rotary"]


def load(path: str | Path) -> None:
    """Load the C++ kernels; they take over on the devices that they support. Raises OSError when the file is not a usable library."""
    torch.ops.load_library(str(path))
