"""The model whose classes are rewritten, built without weights: its modules are looked at, never run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from .refusal import SourceFormError


def load_config(directory: Path, trust_remote_code: bool) -> Any:
    """The transformers configuration of a directory. Imports code of the directory only with `trust_remote_code`."""
    settings = _read_config(directory)
    if "auto_map" in settings and not trust_remote_code and not _known(settings):
        raise SourceFormError("remote-code", f"{directory} brings its own model code; allow it with --trust-remote-code",
                              str(directory), 4)
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(directory, trust_remote_code=trust_remote_code, local_files_only=True)
    except Exception as error:
        raise _not_built(directory, error) from error
    # The spellings that run without values: no kernel of a device, and no loop over the experts that data has chosen.
    config._attn_implementation = "eager"
    if hasattr(config, "_experts_implementation"):
        config._experts_implementation = "batched_mm"
    return config


def build(config: Any, directory: Path, trust_remote_code: bool) -> torch.nn.Module:
    """The causal language model of a configuration, on the device or under the mode that the caller has entered."""
    from transformers import AutoModelForCausalLM

    try:
        return AutoModelForCausalLM.from_config(config, trust_remote_code=trust_remote_code).eval()
    except Exception as error:  # whatever the model's constructor raises is the model's own failure
        raise _not_built(directory, error) from error


def _not_built(directory: Path, error: Exception) -> SourceFormError:
    text = str(error).strip().split("\n")[0] or type(error).__name__
    return SourceFormError("model-not-built", f"the model of {directory} could not be built: {text}", str(directory), 4)


def _read_config(directory: Path) -> dict[str, Any]:
    path = directory / "config.json"
    if not path.is_file():
        what = "is no directory" if not directory.is_dir() else "has no config.json"
        raise SourceFormError("bad-model", f"{directory} {what}; the source form needs a model directory", str(directory))
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SourceFormError("bad-model", f"{path} cannot be read: {error}", str(path)) from error
    if not isinstance(settings, dict):
        raise SourceFormError("bad-model", f"{path} does not hold an object", str(path))
    return settings


def _known(settings: dict[str, Any]) -> bool:
    """Whether transformers itself has this model type, so that the directory's code is not needed."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return settings.get("model_type") in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
