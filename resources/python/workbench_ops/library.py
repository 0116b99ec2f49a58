"""Registers one operator: schema if no C++ library brought it, reference kernel, shape function, gradient."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_LIBRARY = torch.library.Library("workbench", "FRAGMENT")

SCHEMAS: dict[str, str] = {}
"""Operator name -> schema, as registered."""

REFERENCES: dict[str, Callable[..., Any]] = {}
"""Operator name -> what it computes, in plain PyTorch."""


def register(
    schema: str,
    *,
    reference: Callable[..., Any],
    fake: Callable[..., Any],
    backward: Callable[..., dict[str, Tensor | None]] | None = None,
) -> None:
    """Register operator `workbench::<schema>`.

    reference: runs on any device; kernels of the C++ library take precedence where they exist.
    fake: output shapes only; also raises for arguments that no kernel accepts.
    backward: (arguments by name, one gradient per output or None, names whose gradient is wanted) -> gradient by argument name.
    """
    name = schema.partition("(")[0]
    packet = getattr(torch.ops.workbench, name, None)
    if packet is None:
        _LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
        packet = getattr(torch.ops.workbench, name)
    operator = packet.default
    expected = torch._C.parse_schema(f"workbench::{schema}")
    if str(operator._schema) != str(expected):
        raise ImportError(
            f"The loaded operator library has workbench::{name} with the schema `{operator._schema}`, this package "
            f"needs `{expected}`; use a library and a package of one version."
        )
    SCHEMAS[name] = schema
    REFERENCES[name] = reference
    _LIBRARY.impl(name, reference, "CompositeExplicitAutograd")
    torch.library.register_fake(f"workbench::{name}", fake, lib=_LIBRARY)
    if backward is not None:
        _LIBRARY.impl(name, _autograd_kernel(operator, backward), "Autograd", with_keyset=True)


def _autograd_kernel(operator: torch._ops.OpOverload, backward: Callable[..., dict[str, Tensor | None]]) -> Callable[..., Any]:
    """The kernel for the Autograd key. torch.library.register_autograd would do if it took keyword-only tensors (sinks, slopes)."""
    names = [argument.name for argument in operator._schema.arguments]
    positional = [argument.name for argument in operator._schema.arguments if not argument.kwarg_only]

    def below(keyset: torch._C.DispatchKeySet, values: dict[str, Any]) -> Any:
        args = [values[name] for name in positional]
        kwargs = {name: values[name] for name in names if name not in positional}
        with torch._C._AutoDispatchBelowAutograd():
            return operator.redispatch(keyset & torch._C._after_autograd_keyset, *args, **kwargs)

    class Differentiable(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, keyset: torch._C.DispatchKeySet, *values: Any) -> Any:
            by_name = dict(zip(names, values, strict=True))
            tensors = {name: value for name, value in by_name.items() if isinstance(value, Tensor)}
            ctx.save_for_backward(*tensors.values())
            ctx.tensor_names = list(tensors)
            ctx.others = {name: value for name, value in by_name.items() if name not in tensors}
            return below(keyset, by_name)

        @staticmethod
        def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
            wanted = {name for name, needed in zip(names, ctx.needs_input_grad[1:], strict=True) if needed}
            by_name = {**dict.fromkeys(names), **ctx.others, **dict(zip(ctx.tensor_names, ctx.saved_tensors, strict=True))}
            found = backward(by_name, gradients, wanted)
            return (None, *(found.get(name) for name in names))

    def kernel(keyset: torch._C.DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        values = {**dict.fromkeys(names), **dict(zip(positional, args, strict=False)), **kwargs}
        if torch.is_grad_enabled() and any(isinstance(value, Tensor) and value.requires_grad for value in values.values()):
            return Differentiable.apply(keyset, *(values[name] for name in names))
        return below(keyset, values)

    return kernel


def accumulation_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype that sums are kept in: float32, and float64 for float64."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def require(condition: bool, operator: str, sentence: str) -> None:
    """Raise ValueError naming the operator."""
    if not condition:
        raise ValueError(f"workbench::{operator}: {sentence}")
