"""Every operator of the library on a device against the Python package's plain PyTorch, in the sizes of real models and in odd ones.

    python check_ops.py libworkbench_ops.so --device cuda

The reference runs on the CPU in the same dtype, so that it rounds where eager does; attention over pages, which the package does not have, is computed
here token by token. Allowed, relative to the largest value: 1e-5 in float32, two last
places in bfloat16 (2^-7) and float16 (2^-10); experts, whose products round three times one after another, twice that.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

import workbench_ops
from workbench_ops import activation

TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 2**-7, torch.float16: 2**-10}


def attention_on_tables(query: Tensor, key: Tensor, value: Tensor, positions: Tensor, key_pages: Tensor, value_pages: Tensor, sequences: Tensor, blocks: Tensor,
                        *, scale: float, mask: str, window: int, softcap: float, sinks: Tensor | None, slopes: Tensor | None) -> tuple[Tensor, ...]:  # fmt: skip
    """Output and pages."""
    slots = key_pages.shape[2]
    pages = [key_pages.clone(), value_pages.clone()]
    places = list(zip(positions[0].tolist(), sequences.tolist(), strict=True))
    for token, (position, sequence) in enumerate(places):
        for side, fresh in zip(pages, (key, value), strict=True):
            side[int(blocks[sequence, position // slots]), :, position % slots] = fresh[0, :, token]
    rows = []
    for token, (position, sequence) in enumerate(places):
        first = {"causal": 0, "sliding": max(0, position + 1 - window), "chunked": position - position % window if window else 0}[mask]
        seen = torch.arange(first, position + 1)
        groups = query.shape[1] // key.shape[1]
        keys, values = (side[blocks[sequence, seen // slots].long(), :, seen % slots].float().repeat_interleave(groups, 1) for side in pages)
        scores = torch.einsum("hd,jhd->hj", query[0, :, token].float(), keys) * scale
        scores = torch.tanh(scores / softcap) * softcap if softcap else scores
        scores = scores + slopes.float()[:, None] * (seen - position) if slopes is not None else scores
        weights = torch.cat((scores, sinks.float()[:, None]), 1).softmax(-1)[:, :-1] if sinks is not None else scores.softmax(-1)
        rows.append(torch.einsum("hj,jhd->hd", weights, values))
    return torch.stack(rows)[None].to(query.dtype), *pages


def tables_operator(*args: Tensor, **kwargs: Any) -> tuple[Tensor, ...]:
    """Its pages are results, too."""
    return torch.ops.workbench_engine.attention_on_tables(*args, **kwargs), args[4], args[5]


# A mask is for tracers alone: no program computes it.
REFERENCES: dict[str, Callable[..., Any]] = {op: reference for op, reference in workbench_ops.REFERENCES.items() if op != "mask"}
REFERENCES["attention_on_tables"] = attention_on_tables


@dataclass
class Case:
    """One call: what it is about, positional and keyword arguments on the CPU."""

    about: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


def normed(weight_offset: float = 0.0, cast: str = "before_weight") -> dict[str, Any]:
    return {"eps": 1e-6, "weight_offset": weight_offset, "cast": cast}


def norm_cases(dtype: torch.dtype) -> Iterator[tuple[str, Case]]:
    for rows, width in ((1, 576), (16, 4096), (300, 5120), (7, 37), (0, 64), (1, 16384)):
        x, y, weight = (torch.randn(*shape).to(dtype) for shape in ((rows, width), (rows, width), (width,)))
        for options in (normed(), normed(1.0, "after_weight")):
            yield "rms_norm", Case(f"[{rows}, {width}]", (x, weight), options)
            yield "add_rms_norm", Case(f"[{rows}, {width}]", (x, y, weight), options)
        yield "rms_norm", Case(f"[{rows}, {width}], no weight", (x, None), normed())


def gate_cases(dtype: torch.dtype) -> Iterator[tuple[str, Case]]:
    for rows, width in ((1, 3072), (64, 22016), (5, 74), (0, 64)):
        for name in activation.ACTIVATIONS:
            yield "act_and_mul", Case(f"{name} [{rows}, {width}]", (torch.randn(rows, width).to(dtype),), {"activation": name})


def rotary_cases(dtype: torch.dtype) -> Iterator[tuple[str, Case]]:
    for tokens, heads, kv_heads, width in ((1, 9, 3, 64), (130, 32, 8, 128), (3, 5, 1, 20)):
        query, key = (torch.randn(1, count, tokens, width).to(dtype) for count in (heads, kv_heads))
        angles = torch.randn(1, tokens, width // 2)
        cos, sin = (torch.cat((part, part), -1).to(dtype) for part in (angles.cos(), angles.sin()))
        about = f"{tokens} tokens, {heads}/{kv_heads} heads of {width}"
        for style in ("half", "interleaved"):
            yield "rope", Case(f"{style}, {about}", (query, key, cos, sin), {"style": style})
        before = (query.transpose(1, 2), key.transpose(1, 2), torch.randn(width).to(dtype), torch.randn(width).to(dtype), cos, sin)
        for options in (normed(), normed(1.0, "after_weight")):
            yield "qk_norm_rope", Case(about, before, {**options, "style": "half"})


def attention_cases(dtype: torch.dtype) -> Iterator[tuple[str, Case]]:
    for lengths, heads, kv_heads, width, value_width in (((1,), 9, 3, 64, 64), ((200, 57), 32, 8, 128, 128), ((33,), 4, 4, 40, 24)):
        positions = torch.cat([torch.arange(length) for length in lengths])[None]
        query, key = (torch.randn(1, count, sum(lengths), width).to(dtype) for count in (heads, kv_heads))
        value = torch.randn(1, kv_heads, sum(lengths), value_width).to(dtype)
        plain = {"layer": 0, "scale": width**-0.5, "mask": "causal", "window": 0, "softcap": 0.0, "sinks": None, "slopes": None}
        for changes in ({}, {"mask": "sliding", "window": 16}, {"mask": "chunked", "window": 32}, {"mask": "full"}, {"softcap": 30.0},
                        {"sinks": torch.randn(heads).to(dtype)}, {"slopes": torch.rand(heads).to(dtype)}):  # fmt: skip
            about = ", ".join(name for name in changes) or "causal"
            yield "attention", Case(f"{about}, {lengths} tokens, {heads}/{kv_heads} heads of {width}", (query, key, value, positions), {**plain, **changes})


def paged_case(parts: tuple[tuple[int, int], ...], heads: int, kv_heads: int, width: int, value_width: int, slots: int, dtype: torch.dtype,
               **changes: Any) -> tuple[str, Case]:  # fmt: skip
    """parts: tokens of each sequence before the call, and in it."""
    columns = [-(-(before + fresh) // slots) for before, fresh in parts]
    order = torch.randperm(sum(columns)).to(torch.int32)
    blocks = torch.full((len(parts), max(columns)), -1, dtype=torch.int32)  # what no token sees may hold anything
    for row, own in zip(blocks, order.split(columns), strict=True):
        row[: len(own)] = own
    positions = torch.cat([torch.arange(before, before + fresh) for before, fresh in parts])[None]
    sequences = torch.cat([torch.full((fresh,), i, dtype=torch.int32) for i, (_, fresh) in enumerate(parts)])
    tokens = positions.shape[1]
    query, key, value = (torch.randn(1, tokens, count, size).to(dtype).transpose(1, 2)
                         for count, size in ((heads, width), (kv_heads, width), (kv_heads, value_width)))  # fmt: skip
    pages = [torch.randn(len(order), kv_heads, slots, size).to(dtype) for size in (width, value_width)]
    plain = {"scale": width**-0.5, "mask": "causal", "window": 0, "softcap": 0.0, "sinks": None, "slopes": None}
    longest = max(before + fresh for before, fresh in parts)
    about = f"{', '.join(changes) or 'causal'}, {len(parts)} sequences of at most {longest}, {tokens} tokens, {heads}/{kv_heads} heads of {width}/{value_width}"
    return "attention_on_tables", Case(about, (query, key, value, positions, *pages, sequences, blocks), {**plain, **changes})


def paged_cases(dtype: torch.dtype) -> Iterator[tuple[str, Case]]:
    mixed = ((40, 1), (0, 70), (1500, 1), (90, 20), (511, 2), (0, 1))
    for heads, kv_heads, width, value_width, slots in ((32, 8, 128, 128, 16), (9, 3, 64, 64, 64), (8, 8, 96, 96, 16), (12, 1, 128, 128, 256),
                                                       (6, 2, 33, 21, 16), (5, 1, 40, 24, 4), (16, 1, 576, 512, 64)):  # fmt: skip
        for batch in (1, 7, 64):
            parts = tuple((before, 1) for before in torch.randint(0, 1600, (batch,)).tolist())
            yield paged_case(parts, heads, kv_heads, width, value_width, slots, dtype)
        for changes in ({}, {"mask": "sliding", "window": 50}, {"mask": "sliding", "window": 700}, {"mask": "chunked", "window": 64}, {"softcap": 30.0},
                        {"sinks": torch.randn(heads).to(dtype)}, {"slopes": (0.01 * torch.rand(heads)).to(dtype)}):  # fmt: skip
            yield paged_case(mixed, heads, kv_heads, width, value_width, slots, dtype, **changes)
            yield paged_case(((0, 1), (511, 1), (512, 1), (1023, 1), (2600, 1)), heads, kv_heads, width, value_width, slots, dtype, **changes)
    for parts in (((30000, 1),), ((20000, 1), (5, 1), (700, 1)), ((3000, 30), (3, 1)), ((0, 400),)):
        yield paged_case(parts, 8, 2, 128, 128, 16, dtype)


def expert_cases(dtype: torch.dtype) -> Iterator[tuple[str, Case]]:
    for tokens, k, experts, hidden, inner in ((1, 8, 32, 1024, 512), (40, 2, 8, 1024, 512), (7, 3, 5, 37, 19), (0, 2, 4, 64, 32)):
        weights, indices = torch.topk(torch.randn(tokens, experts).softmax(-1), k)
        x = torch.randn(tokens, hidden).to(dtype)
        gate_up = (torch.randn(experts, 2 * inner, hidden) / hidden**0.5).to(dtype)
        down = (torch.randn(experts, hidden, inner) / inner**0.5).to(dtype)
        about = f"{tokens} tokens, {k} of {experts} experts"
        yield "moe_experts", Case(about, (x, weights.to(dtype), indices, gate_up, down), {"activation": "silu"})
        yield "moe_experts", Case(f"{about}, weights in float32", (x, weights, indices, gate_up, down), {"activation": "gelu_tanh"})
        route = {"top_k": k, "sorted": True, "dtype": dtype}
        for order, renormalize in (("softmax_first", True), ("softmax_first", False), ("top_k_first", False)):
            # Distinct logits: of equal ones each device takes another first.
            logits = torch.randperm(max(1, tokens * experts))[: tokens * experts].view(tokens, experts).float().div(experts).to(dtype)
            if logits.unique().numel() == logits.numel():
                yield "moe_route", Case(about, (logits,), {**route, "order": order, "renormalize": renormalize})


def cases(dtype: torch.dtype) -> Iterator[tuple[str, Case]]:
    for make in (norm_cases, gate_cases, rotary_cases, attention_cases, paged_cases, expert_cases):
        yield from make(dtype)


def moved(value: Any, device: str) -> Any:
    return value.to(device) if isinstance(value, Tensor) else value


def tensors(result: Any) -> tuple[Tensor, ...]:
    return (result,) if isinstance(result, Tensor) else tuple(result)


def error_of(found: Tensor, expected: Tensor) -> float:
    """Largest difference over the largest expected value (or 1 where that is smaller); integers must be equal."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return float("inf")
    if not expected.numel():
        return 0.0
    if not expected.dtype.is_floating_point:
        return 0.0 if torch.equal(found, expected) else float("inf")
    found, expected = found.double(), expected.double()
    if not bool((torch.isfinite(found) & torch.isfinite(expected)).all()):
        return float("inf")
    return float((found - expected).abs().max()) / max(1.0, float(expected.abs().max()))


def seconds_per_call(call: Callable[[], Any], device: str) -> float:
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    call()
    wait()
    started, calls = time.perf_counter(), 0
    while time.perf_counter() - started < 0.02:
        call()
        calls += 1
        wait()
    return (time.perf_counter() - started) / calls


@dataclass
class Verdict:
    cases: int = 0
    worst: float = 0.0  # error over what is allowed
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0  # seconds of the slowest case


def check(op: str, case: Case, dtype: torch.dtype, device: str, verdict: Verdict, timed: bool = False) -> None:
    verdict.cases += 1
    allowed = TOLERANCE[dtype] * (2 if op == "moe_experts" else 1)
    expected = tensors(REFERENCES[op](*case.args, **case.kwargs))
    args = [moved(value, device) for value in case.args]
    kwargs = {name: moved(value, device) for name, value in case.kwargs.items()}
    operator = tables_operator if op == "attention_on_tables" else getattr(torch.ops.workbench, op)
    try:
        found = tensors(operator(*args, **kwargs))
        again = tensors(operator(*args, **kwargs))
        errors = [error_of(one.cpu(), other) for one, other in zip(found, expected, strict=True)]
        same = all(torch.equal(one, other) for one, other in zip(found, again, strict=True))
        if timed:
            verdict.slowest = max(verdict.slowest, seconds_per_call(lambda: operator(*args, **kwargs), device))
    except Exception as error:  # a kernel that does not launch raises anything
        verdict.faults.append(f"{case.about}: {type(error).__name__}: {str(error).splitlines()[0]}")
        return
    verdict.worst = max(verdict.worst, *(error / allowed for error in errors))
    if max(errors) > allowed:
        verdict.faults.append(f"{case.about}: error {max(errors):.1e}, allowed {allowed:.1e}")
    if not same:
        verdict.faults.append(f"{case.about}: a second call gives other bits")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    given = parser.parse_args()
    workbench_ops.load(given.library)
    torch.manual_seed(0)
    name = torch.cuda.get_device_name() if given.device == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}")
    key = "CUDA" if given.device == "cuda" else "CPU"
    wrong = False
    for dtype in TOLERANCE:
        verdicts = {op: Verdict() for op in REFERENCES}
        for op, case in cases(dtype):
            check(op, case, dtype, given.device, verdicts[op], timed=given.device == "cuda")
        for op, verdict in verdicts.items():
            namespace = "workbench_engine" if op == "attention_on_tables" else "workbench"
            if not torch._C._dispatch_has_kernel_for_dispatch_key(f"{namespace}::{op}", key):
                verdict.faults.insert(0, f"the library has no kernel for {key}")
            wrong = wrong or bool(verdict.faults)
            state = "WRONG" if verdict.faults else "ok"
            slowest = f", slowest {1e6 * verdict.slowest:.0f} us" if verdict.slowest else ""
            print(f"{op:15} {str(dtype)[6:]:9} {state:6} {verdict.cases:3} cases, largest error {verdict.worst:.2f} of what is allowed{slowest}", flush=True)
            for fault in verdict.faults[:5]:
                print(f"    {fault}")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
