"""A reduced-size copy of the whole model with random weights, for `trace --replica`: what is proven where a model has no weights.

Module paths and the number of layers stay, so that every place of the model has its counterpart. The weights are numbers of bfloat16 whatever
the dtype is: the float32 replica is then the truth for the bfloat16 one.
"""

from __future__ import annotations

import dataclasses

import torch

from .build import Plan, build
from .model_directory import ModelDirectory
from .replica import randomise, reduced_config

SEED = 1


def reduced(plan: Plan, directory: ModelDirectory) -> tuple[Plan, ModelDirectory]:
    return dataclasses.replace(plan, config=reduced_config(plan.config)), dataclasses.replace(directory, tensors=None)


def random_weights(plan: Plan) -> dict[str, torch.Tensor]:
    """Every entry of the state dict of the reduced model. Raises TracerError."""
    model = build(plan, plan.config, dtype=plan.dtype)
    randomise(model, SEED)
    state = model.state_dict(keep_vars=True)
    with torch.no_grad():
        for value in {id(value): value for value in state.values()}.values():
            if value.dtype.is_floating_point:
                value.copy_(value.to(torch.bfloat16))
    return {name: value.detach() for name, value in state.items()}
