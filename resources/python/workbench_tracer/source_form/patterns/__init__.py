"""Source forms, one file a pattern. Each is a function from a site and the live modules to a Rewrite, or a Refusal.

Their order does not matter: a request brings its sites in the order of the plan, those of larger patterns first."""

from __future__ import annotations

from typing import Callable

from ..context import Context
from ..request import Site
from ..rewrite import Rewrite
from .add_rms_norm import rewrite_add_rms_norm
from .attention import rewrite_attention
from .gate_up import rewrite_gate_up
from .moe import rewrite_moe, rewrite_moe_router
from .qk_norm_rope import rewrite_qk_norm_rope
from .qkv import rewrite_qkv
from .rms_norm import rewrite_rms_norm
from .rope import rewrite_rope

PATTERNS: dict[str, Callable[[Site, Context], Rewrite]] = {
    "attention": rewrite_attention,
    "qk-norm-rope": rewrite_qk_norm_rope,
    "add-rms-norm": rewrite_add_rms_norm,
    "qkv": rewrite_qkv,
    "gate-up": rewrite_gate_up,
    "moe": rewrite_moe,
    "moe-router": rewrite_moe_router,
    "rope": rewrite_rope,
    "rms-norm": rewrite_rms_norm,
}
