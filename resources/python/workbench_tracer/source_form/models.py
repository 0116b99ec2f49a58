"""The model whose classes are rewritten, built without weights: its modules are looked at, and run on fake tensors at most."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import torch

from ..build import build, plan_build
from ..model_directory import ModelDirectory, read_config

Build = Callable[[], torch.nn.Module]


def builder(directory: Path, trust_remote_code: bool) -> Build:
    """Makes the causal language model of a directory with config.json, on the device or under the mode that the caller has entered.

    Imports code of the directory only with `trust_remote_code`. Raises TracerError, here or when called."""
    plan = plan_build(ModelDirectory(directory, read_config(directory), None), "float32", trust_remote_code)
    return lambda: build(plan, plan.config, dtype=torch.float32, attention="eager")
