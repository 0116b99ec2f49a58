"""Requests as the session writes them, made from the live modules of a model: which sites a plan has applied, and their nodes.

Lines are those of the installed source, found by their text, so that the requests stay true when a file's lines move.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import torch


class SiteMaker:
    """Site entries of one model. Class names decide what a module is: the tests know the models that they name."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.modules = dict(model.named_modules())

    def node(self, op: str, module: str, role: str, owner: str, text: str, last: bool = False) -> dict[str, Any]:
        """A node that the first (or last) line of `owner`'s forward with `text` made."""
        function = inspect.unwrap(type(self.modules[owner]).forward)
        lines, first = inspect.getsourcelines(function)
        found = [first + index for index, line in enumerate(lines) if text in line] or [first]
        number = found[-1 if last else 0]
        return {"op": op, "module": module, "role": role, "file": inspect.getsourcefile(function), "line": number,
                "function": "forward"}

    def qkv(self, path: str) -> dict[str, Any]:
        children = [f"{path}.{name}" for name in ("q_proj", "k_proj", "v_proj")]
        nodes = [self.node("aten.linear.default", child, role, path, f"self.{child.rpartition('.')[2]}(")
                 for child, role in zip(children, "qkv")]
        biases = [f"{child}.bias" for child in children if self.modules[child].bias is not None]
        return {"id": f"qkv@{path}", "pattern": "qkv", "module": path, "nodes": nodes,
                "params": {"weights": [f"{child}.weight" for child in children], "biases": biases,
                           "sizes": [self.modules[child].out_features for child in children]}}

    def gate_up(self, path: str, activation: str) -> dict[str, Any]:
        children = [f"{path}.{name}" for name in ("gate_proj", "up_proj")]
        nodes = [self.node("aten.linear.default", child, role, path, f"self.{role}_proj(")
                 for child, role in zip(children, ("gate", "up"))]
        return {"id": f"gate-up@{path}", "pattern": "gate-up", "module": path, "nodes": nodes,
                "params": {"activation": activation, "weights": [f"{child}.weight" for child in children]}}

    def norm_params(self, path: str) -> dict[str, Any]:
        module = self.modules[path]
        name = type(module).__name__
        epsilon = module.eps if hasattr(module, "eps") else module.variance_epsilon
        late = name.startswith(("Gemma", "Olmo2"))
        return {"weight": f"{path}.weight", "eps": epsilon, "weight_offset": 1.0 if name.startswith("Gemma") else 0.0,
                "cast": "after_weight" if late else "before_weight"}

    def rms_norm(self, path: str) -> dict[str, Any]:
        nodes = [self.node("aten.rsqrt.default", path, "rsqrt", path, "rsqrt")]
        return {"id": f"rms-norm@{path}", "pattern": "rms-norm", "module": path, "nodes": nodes, "params": self.norm_params(path)}

    def add_rms_norm(self, path: str, adder: str) -> dict[str, Any]:
        """The norm at `path` of a sum that `adder`'s forward makes."""
        nodes = [self.node("aten.add.Tensor", adder, "add", adder, "residual + hidden_states",
                           last=not path.startswith(f"{adder}.")),
                 self.node("aten.add.Tensor", path, "add_eps", path, "self.variance_epsilon"),
                 self.node("aten.rsqrt.default", path, "rsqrt", path, "rsqrt")]
        return {"id": f"add-rms-norm@{path}", "pattern": "add-rms-norm", "module": path, "nodes": nodes,
                "params": self.norm_params(path)}

    def rope(self, path: str) -> dict[str, Any]:
        nodes = [self.node("aten.cat.default", path, "rotate", path, "apply_rotary_pos_emb(")]
        return {"id": f"rope@{path}", "pattern": "rope", "module": path, "nodes": nodes, "params": {"style": "half"}}

    def qk_norm_rope(self, path: str) -> dict[str, Any]:
        params = self.norm_params(f"{path}.q_norm")
        params["query_weight"], params["key_weight"] = params.pop("weight"), f"{path}.k_norm.weight"
        return {"id": f"qk-norm-rope@{path}", "pattern": "qk-norm-rope", "module": path, "nodes": self.rope(path)["nodes"],
                "params": params | {"style": "half"}}

    def attention(self, path: str) -> dict[str, Any]:
        nodes = [self.node("workbench.attention.default", path, "attention", path, "attention_interface(")]
        return {"id": f"attention@{path}", "pattern": "attention", "module": path, "nodes": nodes, "params": {}}


_ACTIVATIONS = {"gemma2": "gelu_tanh", "gemma3": "gelu_tanh"}


def model_sites(name: str, model: torch.nn.Module) -> list[dict[str, Any]]:
    """What a plan with everything applied has for a model of the zoo."""
    maker = SiteMaker(model)
    layers = len(model.model.layers)
    sites: list[dict[str, Any]] = []
    for number in range(layers):
        layer = f"model.layers.{number}"
        attention = model.model.layers[number].self_attn
        sites += [maker.attention(f"{layer}.self_attn"), maker.qkv(f"{layer}.self_attn")]
        if name in ("qwen3", "gemma3"):
            sites.append(maker.qk_norm_rope(f"{layer}.self_attn"))
        elif getattr(attention, "use_rope", True):
            sites.append(maker.rope(f"{layer}.self_attn"))
        if name == "starcoder2":
            continue
        sites.append(maker.gate_up(f"{layer}.mlp", _ACTIVATIONS.get(name, "silu")))
        sites += _layer_norms(name, maker, number)
    if name != "starcoder2":
        sites.append(_last_norm(name, maker, f"model.layers.{layers - 1}"))
    return sites


def _layer_norms(name: str, maker: SiteMaker, number: int) -> list[dict[str, Any]]:
    layer = f"model.layers.{number}"
    if name == "olmo2":
        parts = ("self_attn.q_norm", "self_attn.k_norm", "post_attention_layernorm", "post_feedforward_layernorm")
        return [maker.rms_norm(f"{layer}.{part}") for part in parts]
    before = f"model.layers.{number - 1}"
    first = f"{layer}.input_layernorm"
    sites = [maker.add_rms_norm(first, before) if number else maker.rms_norm(first)]
    if name in ("gemma2", "gemma3"):
        sites += [maker.rms_norm(f"{layer}.{part}") for part in ("post_attention_layernorm", "post_feedforward_layernorm")]
        return sites + [maker.add_rms_norm(f"{layer}.pre_feedforward_layernorm", layer)]
    return sites + [maker.add_rms_norm(f"{layer}.post_attention_layernorm", layer)]


def _last_norm(name: str, maker: SiteMaker, last: str) -> dict[str, Any]:
    return maker.add_rms_norm("model.norm", last)


def breadth_sites(name: str, model: torch.nn.Module) -> list[dict[str, Any]]:
    """Sites of a model beyond the required ones, by the structure of its modules."""
    maker = SiteMaker(model)
    sites: list[dict[str, Any]] = []
    for path, module in maker.modules.items():
        kind = type(module).__name__
        if kind.endswith("Attention"):
            sites += [maker.qkv(path)] if hasattr(module, "q_proj") else []
            rope = maker.rope(path) | {"params": {"style": "interleaved" if name == "cohere" else "half"}}
            sites.append(maker.qk_norm_rope(path) if isinstance(getattr(module, "q_norm", None), torch.nn.Module) else rope)
        elif isinstance(getattr(module, "gate_proj", None), torch.nn.Linear):
            sites.append(maker.gate_up(path, "gelu_tanh" if name == "gemma" else "silu"))
        elif kind.endswith("RMSNorm") and not path.endswith(("q_norm", "k_norm")):
            sites.append(maker.rms_norm(path))
    return sites


def write_request(path: Path, model_dir: Path, sites: list[dict[str, Any]], **fields: Any) -> Path:
    path.write_text(json.dumps({"schema": 1, "model": str(model_dir), "trust_remote_code": False, "sites": sites} | fields))
    return path
