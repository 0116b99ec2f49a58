"""The `trace` command: model directory in, trace folder (trace.pt2, trace.json) out."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import PreTrainedModel

from . import archive, computed, parameters, program, sources
from .build import Plan, build, decoder_facts, new_fake_mode, plan_build
from .errors import TracerError
from .events import Events
from .layer_number import LayerNumber, observed_numbers
from .layers import Layers, choose_layers
from .model_directory import ModelDirectory, open_directory
from .options import TraceOptions
from .output import whole_folder
from .proof import proving
from .replica_trace import random_weights, reduced
from .version import VERSION

SCHEMA = 1


def run(options: TraceOptions, events: Events) -> None:
    """Writes options.out. Raises TracerError."""
    torch.set_num_threads(1)
    with whole_folder(options.out) as folder:
        events.stage("build", str(options.model))
        directory = open_directory(options.model)
        plan = plan_build(directory, options.dtype, options.trust_remote_code)
        if options.replica:
            plan, directory = reduced(plan, directory)
        with new_fake_mode() as mode:
            whole = build(plan, plan.config, dtype=plan.dtype)
        names = parameters.ParameterMap.of(whole, directory, plan.text_part)
        if names.untied:
            # As transformers does it where the configuration and the checkpoint disagree.
            plan.config.tie_word_embeddings = False
            with mode:
                whole = build(plan, plan.config, dtype=plan.dtype)
            names = parameters.ParameterMap.of(whole, directory, plan.text_part)
            names.warnings.append(
                "config.json ties the word embeddings, but the checkpoint holds two different ones; traced as two."
            )
        layers = choose_layers(plan, whole, mode, names.computed, force_full=options.full)
        with proving(plan, layers.config) if options.proof else contextlib.nullcontext() as small:
            events.stage("export", layers.summary)
            traced, layers = _export(plan, whole, layers, mode)
            if small:
                events.stage("proof", f"{plan.model_class.__name__} at a reduced size")
            proof = small.finish(layers.config, traced.calls) if small else None
        events.stage("write", str(options.out))
        described = _write(folder, directory, plan, layers, names, traced, random_weights(plan) if options.replica else {})
        described["proof"] = proof.described() if proof else None
        (folder / "trace.json").write_text(json.dumps(described, allow_nan=False) + "\n", encoding="utf-8")
    events.send("done", out=str(options.out))


def _export(plan: Plan, whole: PreTrainedModel, layers: Layers, mode: FakeTensorMode) -> tuple[program.Traced, Layers]:
    """Falls back to all layers where a layer computes with its own number, since no layer can then stand for another."""
    with mode:
        if layers.traced is not None:
            with observed_numbers(layers.traced) as used:
                try:
                    traced = program.trace(layers.model, program.example_inputs())
                except TracerError as error:
                    # torch asks a number for its type before it does anything to it.
                    if not used and LayerNumber.__name__ not in error.message:
                        raise
                    used.append("its type")
            if not used:
                return traced, layers
            warning = f"Every layer of {type(whole).__name__} is traced by itself, which takes longer: its layers compute with their number."
            layers = Layers(whole, plan.config, None, None, warnings=[warning])
        return program.trace(layers.model, program.example_inputs()), layers


def _write(
    folder: Path,
    directory: ModelDirectory,
    plan: Plan,
    layers: Layers,
    names: parameters.ParameterMap,
    traced: program.Traced,
    weights: dict[str, torch.Tensor],
) -> dict[str, Any]:
    """weights: data of the parameters, where they are not those of a checkpoint."""
    values = computed.computed_buffers(layers.model, names.computed)
    persistent = {name: value for name, value in values.items() if name in traced.program.state_dict}
    others = {name: value for name, value in values.items() if name not in persistent}
    others.update(layers.of_copies(computed.lifted_constants(traced.program)))
    archive.write_archive(folder / "trace.pt2", traced.program, weights | persistent, others)
    return {
        "schema": SCHEMA,
        "tracer": {"version": VERSION, **_versions()},
        "model": _model_facts(directory, plan, traced),
        "layers": layers.described(),
        "parameters": names.parameters,
        "tied": names.tied,
        "computed": sorted(values),
        "sources": sources.source_files(layers.model),
        "warnings": [*directory.warnings, *plan.warnings, *names.warnings, *layers.warnings],
    }


def _versions() -> dict[str, str]:
    import transformers

    return {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__}


def _model_facts(directory: ModelDirectory, plan: Plan, traced: program.Traced) -> dict[str, Any]:
    config = {key: value for key, value in plan.config.to_dict().items() if key not in ("transformers_version", "_name_or_path")}
    return {
        "class": plan.model_class.__name__,
        "model_type": plan.config.model_type,
        "dtype": str(plan.dtype).removeprefix("torch."),
        "checkpoint_dtype": plan.checkpoint_dtype,
        **decoder_facts(directory, plan.config),
        "max_window": max((call.mask.window for call in traced.calls), default=0),
        "config": _plain(json.loads(json.dumps(config, default=str, sort_keys=True))),
    }


def _plain(value: Any) -> Any:
    """JSON has no infinity, which some configurations hold: a text stands for it."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
