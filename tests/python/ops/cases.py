"""Small calls, at least one per operator: (operator, positional arguments, keyword arguments), float64 so that gradients can be checked."""

from typing import Any

import torch

ops = torch.ops.workbench


def leaf(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def attention(**changes: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    positions = torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2, 7]])
    keywords = {"layer": 0, "scale": 0.3, "mask": "causal", "window": 0, "softcap": 0.0, "sinks": None, "slopes": None, **changes}
    return ops.attention.default, (leaf(1, 4, 9, 6), leaf(1, 2, 9, 6), leaf(1, 2, 9, 5), positions), keywords


def all_cases() -> dict[str, Any]:
    norm = {"eps": 1e-5, "weight_offset": 0.0, "cast": "before_weight"}
    gemma = {"eps": 1e-5, "weight_offset": 1.0, "cast": "after_weight"}
    head = (leaf(2, 3, 4, 8), leaf(2, 1, 4, 8))
    table = (leaf(2, 4, 6), leaf(2, 4, 6))
    before = (leaf(1, 4, 3, 8), leaf(1, 4, 1, 8), leaf(8), leaf(8), leaf(1, 4, 8), leaf(1, 4, 8))
    cases = {
        "attention": attention(),
        "attention-sliding": attention(mask="sliding", window=2, softcap=2.0),
        "attention-chunked": attention(mask="chunked", window=2, sinks=leaf(4)),
        "attention-full": attention(mask="full", slopes=leaf(4), sinks=leaf(4)),
        "rms_norm": (ops.rms_norm.default, (leaf(3, 2, 8), leaf(8)), norm),
        "rms_norm-gemma": (ops.rms_norm.default, (leaf(3, 8), leaf(8)), gemma),
        "rms_norm-plain": (ops.rms_norm.default, (leaf(3, 8), None), norm),
        "add_rms_norm": (ops.add_rms_norm.default, (leaf(3, 8), leaf(3, 8), leaf(8)), norm),
        "add_rms_norm-gemma": (ops.add_rms_norm.default, (leaf(3, 8), leaf(3, 8), leaf(8)), gemma),
        "rope": (ops.rope.default, (*head, *table), {"style": "half"}),
        "rope-interleaved": (ops.rope.default, (*head, leaf(1, 4, 6), leaf(1, 4, 6)), {"style": "interleaved"}),
        "qk_norm_rope": (ops.qk_norm_rope.default, before, {**norm, "style": "half"}),
        "qk_norm_rope-gemma": (ops.qk_norm_rope.default, before, {**gemma, "style": "interleaved"}),
    }
    experts = (leaf(4, 6), leaf(4, 2), torch.tensor([[0, 2], [2, 1], [1, 1], [0, 2]]), leaf(3, 10, 6), leaf(3, 6, 5))
    for name in ("silu", "gelu_tanh"):
        cases[f"moe_experts-{name}"] = (ops.moe_experts.default, experts, {"activation": name})
    route = {"top_k": 2, "sorted": True, "dtype": torch.float64}
    for order, renormalize in (("softmax_first", False), ("softmax_first", True), ("top_k_first", False)):
        keywords = {**route, "order": order, "renormalize": renormalize}
        cases[f"moe_route-{order}-{renormalize}"] = (ops.moe_route.default, (leaf(3, 5),), keywords)
    for name in ("silu", "gelu", "gelu_tanh", "relu", "sigmoid"):
        cases[f"act_and_mul-{name}"] = (ops.act_and_mul.default, (leaf(3, 10),), {"activation": name})
    return cases
