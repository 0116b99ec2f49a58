"""Real values of the buffers and constants that are not in a checkpoint. Under fake tensors they have shapes only."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.export import ExportedProgram
from transformers import PreTrainedModel

from .build import owners
from .errors import not_traced, one_line


def computed_buffers(model: PreTrainedModel, also: frozenset[str] = frozenset()) -> dict[str, torch.Tensor]:
    """Values of all non-persistent buffers, and of the persistent ones named in `also`, by full name.

    The model's own _init_weights fills them in, into NaN, so that a buffer that it forgets is noticed. Call outside of any fake mode.
    """
    values: dict[str, torch.Tensor] = {}
    initialised_by = owners(model)
    for module_name, module, names in _owners(model, also):
        fake = {name: buffer for name, buffer in module._buffers.items() if name in names and buffer is not None}
        try:
            for name, buffer in fake.items():
                module._buffers[name] = _unset(buffer)
            with torch.no_grad():
                initialised_by[module]._init_weights(module)
            for name in names:
                full = f"{module_name}.{name}" if module_name else name
                values[full] = _filled(full, type(module).__name__, module._buffers[name], fake[name])
        finally:
            module._buffers.update(fake)
    return values


def _owners(model: PreTrainedModel, also: frozenset[str]) -> Iterator[tuple[str, torch.nn.Module, list[str]]]:
    for module_name, module in model.named_modules():
        prefix = f"{module_name}." if module_name else ""
        names = [
            name
            for name, buffer in module._buffers.items()
            if buffer is not None and (name in module._non_persistent_buffers_set or prefix + name in also)
        ]
        if names:
            yield module_name, module, names


def _unset(buffer: torch.Tensor) -> torch.Tensor:
    """A real tensor of the same shape and dtype with recognisable content."""
    if buffer.dtype.is_floating_point:
        return torch.full(buffer.shape, float("nan"), dtype=buffer.dtype)
    # Integers have no NaN: the smallest value stands for "not filled in"; bool has nothing to spare.
    content = False if buffer.dtype == torch.bool else torch.iinfo(buffer.dtype).min
    return torch.full(buffer.shape, content, dtype=buffer.dtype)


def _filled(name: str, owner: str, value: torch.Tensor | None, fake: torch.Tensor) -> torch.Tensor:
    def refusal(what: str) -> Exception:
        return not_traced(
            "unknown-buffer", f"Buffer {name} ({owner}) is not in a checkpoint and {what}, so its values are not known.", name
        )

    if value is None or isinstance(value, FakeTensor) or value.shape != fake.shape or value.dtype != fake.dtype:
        raise refusal("changes its kind when it is initialised")
    unset = value.isnan() if value.dtype.is_floating_point else value == _unset(value)
    if value.dtype == torch.bool or bool(unset.any()):
        raise refusal("is not filled in by the model's _init_weights")
    return value.detach().contiguous()


def lifted_constants(program: ExportedProgram) -> dict[str, torch.Tensor]:
    """Values of the tensors that the model's forward itself makes from numbers."""
    buffers = {spec.target for spec in program.graph_signature.input_specs if spec.kind.name == "BUFFER"}
    return {name: _constant(name, value) for name, value in program.constants.items() if name not in buffers}


def _constant(name: str, value: object) -> torch.Tensor:
    if isinstance(value, FakeTensor):
        value = value.constant
    if not isinstance(value, torch.Tensor):
        raise not_traced(
            "unknown-constant", f"The constant {name} that the model makes in its forward has no value that can be stored.", name
        )
    try:
        with unset_fake_temporarily():
            return value.detach().clone().contiguous()
    except RuntimeError as error:
        raise not_traced("unknown-constant", f"The constant {name} cannot be stored: {one_line(error)}", name) from error
