"""torch.export of a model as a function of flattened tokens, positions and the rows that need logits."""

from __future__ import annotations

import inspect
import re
import traceback
import types
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import Dim, ExportedProgram
from transformers import PreTrainedModel

from . import plugin, rope
from .errors import TracerError, not_traced, one_line

# Example sizes: odd, different from each other, and from common head counts, so that nothing matches by accident.
EXAMPLE_TOKENS = 7
EXAMPLE_ROWS = 3


@dataclass(frozen=True)
class Traced:
    """The decomposed program and what its attention calls said."""

    program: ExportedProgram
    calls: tuple[plugin.Call, ...]


def example_inputs() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """input_ids [1, T], position_ids [1, T], logits_to_keep [L]; fake when made under a fake mode."""
    ids = torch.zeros(1, EXAMPLE_TOKENS, dtype=torch.int64)
    return ids, torch.zeros_like(ids), torch.zeros(EXAMPLE_ROWS, dtype=torch.int64)


def takes_flat_tokens(model: PreTrainedModel) -> None:
    """Replaces the model's forward by (input_ids, position_ids, logits_to_keep) -> logits [1, L, V].

    The model itself is exported, not a module around it, so that all names in the program are the model's own.
    """
    original = type(model).forward
    parameters = inspect.signature(original).parameters
    if "position_ids" not in parameters:
        raise not_traced(
            "no-positions",
            f"{type(model).__name__} takes no position_ids, so several sequences cannot be told apart in one call.",
            type(model).__name__,
        )
    picks_rows = "logits_to_keep" in parameters

    def forward(self: Any, input_ids: torch.Tensor, position_ids: torch.Tensor, logits_to_keep: torch.Tensor) -> torch.Tensor:
        rows = {"logits_to_keep": logits_to_keep} if picks_rows else {}
        with rope.first_tables(self):
            logits = original(self, input_ids=input_ids, position_ids=position_ids, use_cache=False, **rows).logits
        return logits if picks_rows else logits[:, logits_to_keep]

    object.__setattr__(model, "forward", types.MethodType(forward, model))


def trace(model: PreTrainedModel, inputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor]) -> Traced:
    """Exports a model whose forward takes flat tokens. Raises TracerError naming module and source line where it cannot."""
    tokens, rows = Dim("tokens", min=1), Dim("rows", min=1)
    calls: list[plugin.Call] = []
    forward = model.forward

    def with_session(
        self: Any, input_ids: torch.Tensor, position_ids: torch.Tensor, logits_to_keep: torch.Tensor
    ) -> torch.Tensor:
        with plugin.session(position_ids) as current:
            logits = forward(input_ids, position_ids, logits_to_keep)
        calls[:] = current.calls
        return logits

    model.forward = types.MethodType(with_session, model)
    try:
        with torch.no_grad():
            program = torch.export.export(model, inputs, dynamic_shapes=({1: tokens}, {1: tokens}, {0: rows}), strict=False)
            program = program.run_decompositions({})
    except TracerError:
        raise
    except Exception as error:  # the exporter and the model's code raise anything
        raise not_exportable(model, error) from error
    finally:
        model.forward = forward
    check(model, program, calls)
    return Traced(program, tuple(calls))


def check(model: PreTrainedModel, program: ExportedProgram, calls: list[plugin.Call]) -> None:
    """Masks may only reach attention calls, and there must be such calls."""
    name = type(model).__name__
    targets = torch.ops.workbench
    ops = [node for node in program.graph.nodes if node.op == "call_function"]
    for node in ops:
        if node.target is targets.mask.default and node.users:
            user = next(iter(node.users))
            line = source_line(user.meta.get("stack_trace") or "")
            raise not_traced(
                "mask",
                f"{name} uses its attention mask outside of the attention interface ({user.name}, {line}), "
                "so its attention cannot be traced.",
                line,
            )
    if not calls or not any(node.target is targets.attention.default for node in ops):
        raise not_traced(
            "no-attention",
            f"{name} never calls the attention interface of transformers, so its attention cannot be traced.",
            name,
        )


def source_line(stack_trace: str) -> str:
    """file:line of the innermost frame."""
    frames = [line.strip() for line in stack_trace.splitlines() if line.strip().startswith('File "')]
    if not frames:
        return "unknown line"
    parts = frames[-1].split('"')
    return f"{parts[1]}:{parts[2].split('line ')[1].split(',')[0]}"


def not_exportable(model: PreTrainedModel, error: Exception) -> TracerError:
    """Names the innermost module of the model and the line of its source that could not be exported."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_model_code(frame.filename)]
    module = _innermost_module(model, error) or type(model).__name__
    if "Constraints violated" in str(error):
        guard = re.search(r"generated guard (.+?)\.\s", str(error))
        needs = f" (it needs {guard[1]})" if guard else ""
        message = f"{module} cannot be exported for any number of tokens: its code depends on the length of the input{needs}."
        return not_traced("not-exportable", message, module)
    if not own:
        return not_traced("not-exportable", f"{module} cannot be exported: {one_line(error)}", module)
    line = f"{own[-1].filename}:{own[-1].lineno}"
    return not_traced("not-exportable", f"{module} cannot be exported at {line}: {one_line(error)}", f"{module} {line}")


def _is_model_code(filename: str) -> bool:
    return (
        "/transformers/models/" in filename or "/transformers_modules/" in filename or filename.endswith("modeling_rope_utils.py")
    )


def _innermost_module(model: PreTrainedModel, error: Exception) -> str | None:
    """Dotted path and class of the module whose forward raised."""
    names = {id(module): name for name, module in model.named_modules()}
    found = None
    step = error.__traceback__
    while step is not None:
        owner = step.tb_frame.f_locals.get("self")
        if isinstance(owner, torch.nn.Module) and names.get(id(owner)):
            found = f"{names[id(owner)]} ({type(owner).__name__})"
        step = step.tb_next
    return found
