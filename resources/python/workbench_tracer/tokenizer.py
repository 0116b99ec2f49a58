"""A helper process around the model's own tokenizer: one JSON request per line in, one JSON answer per line out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .errors import bad_input, one_line
from .events import Events


class RequestError(Exception):
    """A request that cannot be answered; the process goes on."""


def serve(model: Path, trust_remote_code: bool, requests: Iterable[str], events: Events) -> None:
    """Answers until the input ends. Raises TracerError when there is no tokenizer."""
    tokenizer = load_tokenizer(model, trust_remote_code)
    for line in requests:
        if line.strip():
            events.print(answer(tokenizer, line))


def load_tokenizer(model: Path, trust_remote_code: bool) -> Any:
    if not model.is_dir():
        raise bad_input("no-such-directory", f"{model} does not exist; name a model directory.", model)
    from transformers import AutoTokenizer

    if not any((model / name).is_file() for name in ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json")):
        raise bad_input("no-tokenizer", f"{model} has no tokenizer files; give token ids instead of text.", model)
    try:
        return AutoTokenizer.from_pretrained(model, trust_remote_code=trust_remote_code, local_files_only=True)
    except Exception as error:  # tokenizers raise anything
        raise bad_input("bad-tokenizer", f"The tokenizer of {model} cannot be loaded: {one_line(error)}", model) from error


def answer(tokenizer: Any, line: str) -> dict[str, Any]:
    """{"ids"} or {"text"}, or {"error"} for a request that cannot be answered."""
    try:
        request = json.loads(line)
        if not isinstance(request, dict) or request.get("op") not in _OPERATIONS:
            raise RequestError(f"op must be one of {', '.join(_OPERATIONS)}")
        return _OPERATIONS[request["op"]](tokenizer, request)
    except RequestError as error:
        return {"error": str(error)}
    except ValueError as error:
        return {"error": f"The request is no valid JSON: {one_line(error)}"}
    except Exception as error:  # tokenizers and templates raise anything
        return {"error": f"The tokenizer failed: {one_line(error)}"}


def _field(request: dict[str, Any], name: str, kind: type) -> Any:
    value = request.get(name)
    if not isinstance(value, kind):
        raise RequestError(f"{name} must be a {kind.__name__}")
    return value


def _encode(tokenizer: Any, request: dict[str, Any]) -> dict[str, Any]:
    ids = tokenizer.encode(_field(request, "text", str), add_special_tokens=bool(request.get("add_special_tokens", True)))
    return {"ids": list(ids)}


def _decode(tokenizer: Any, request: dict[str, Any]) -> dict[str, Any]:
    ids = _field(request, "ids", list)
    if not all(isinstance(token, int) and not isinstance(token, bool) and token >= 0 for token in ids):
        raise RequestError("ids must be token ids")
    skip = bool(request.get("skip_special_tokens", True))
    # Cleaning up spaces would change text that the model wrote, and differs between a prefix and the whole.
    return {"text": tokenizer.decode(ids, skip_special_tokens=skip, clean_up_tokenization_spaces=False)}


def _chat(tokenizer: Any, request: dict[str, Any]) -> dict[str, Any]:
    if tokenizer.chat_template is None:
        raise RequestError("the tokenizer has no chat template; send the text itself")
    ids = tokenizer.apply_chat_template(
        _field(request, "messages", list),
        add_generation_prompt=bool(request.get("add_generation_prompt", True)),
        tokenize=True,
        return_dict=False,
    )
    return {"ids": list(ids)}


_OPERATIONS: dict[str, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {"encode": _encode, "decode": _decode, "chat": _chat}
