"""Models of a few lines whose source a test spells out, and what their source forms must be."""

from __future__ import annotations

import copy
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from workbench_tracer.source_form import bind
from workbench_tracer.source_form.emit import emit
from workbench_tracer.source_form.request import Request, Site

ATTENTION = """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(8, 8)
        self.k_proj = nn.Linear(8, 4)
        self.v_proj = nn.Linear(8, 4)
        self.gate = nn.ReLU(inplace=True)
        self.scale = 0.5
        self.merge = True

{members}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Attention()

    def forward(self, x):
        return self.part(x)
"""

MLP = """
class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj = nn.Linear(8, 12)
        self.up_proj = nn.Linear(8, 12)
        self.down_proj = nn.Linear(12, 8)
        self.act_fn = {activation}

{members}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Mlp()

    def forward(self, x):
        return self.part(x)
"""

NORM = """
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1.0, 2.0, 8))
        self.eps = 1e-3

{members}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Norm()

    def forward(self, x):
        return self.part(x)
"""

QKV = Site("qkv@part", "qkv", "part", (), {"weights": [f"part.{name}_proj.weight" for name in "qkv"]})
GATE_UP = Site("gate-up@part", "gate-up", "part", (),
               {"weights": ["part.gate_proj.weight", "part.up_proj.weight"], "activation": "silu"})


def norm_site(**changes: Any) -> Site:
    values = {"weight": "part.weight", "eps": 1e-3, "weight_offset": 0.0, "cast": "before_weight"}
    return Site("rms-norm@part", "rms-norm", "part", (), values | changes)


def toy_source(template: str, body: str, head: str = "def forward(self, x):", extra: str = "", **fields: str) -> str:
    """The template with a forward of this body (and other members) in its class."""
    members = extra + ("\n\n" if extra else "") + head + "\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return template.format(members=textwrap.indent(members, "    "), **fields)


def toy_model(module: ModuleType) -> torch.nn.Module:
    torch.manual_seed(3)
    return module.Model()


def toy_emit(model: torch.nn.Module, sites: list[Site], folder: Path) -> dict[str, Any]:
    folder.mkdir()
    return emit(Request(Path("toy"), False, {}, tuple(sites)), model, folder)


def refusal_reason(model: torch.nn.Module, site: Site, folder: Path) -> str:
    entry = toy_emit(model, [site], folder)["sites"][site.id]
    assert entry["form"] is None, "a trap got a source form"
    assert not list(folder.glob("*.py"))
    return entry["reason"]


def assert_equal(model: torch.nn.Module, sites: list[Site], folder: Path, *shape: int) -> str:
    """All sites get a form, and the bound model computes the same; returns the emitted source."""
    index = toy_emit(model, sites, folder)
    for site in sites:
        assert index["sites"][site.id]["form"], index["sites"][site.id].get("reason")
    x = torch.randn(*(shape or (2, 3, 8)), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        expected = model(x.clone())
        found = bind(copy.deepcopy(model), folder)(x.clone())
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    return "\n".join(path.read_text() for path in sorted(folder.glob("*.py")))


SUM = "return torch.cat([q, k, v], dim=-1)"
PLAIN = f"""
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        {SUM}"""

LLAMA_NORM = """
    dtype = x.dtype
    x = x.to(torch.float32)
    variance = x.pow(2).mean(-1, keepdim=True)
    x = x * torch.rsqrt(variance + self.eps)
    return self.weight * x.to(dtype)"""


def tied(part): part.k_proj.weight = part.v_proj.weight
def subclass(part): part.k_proj = type("LoraLinear", (torch.nn.Linear,), {})(8, 4)
