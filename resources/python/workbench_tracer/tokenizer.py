"""A helper process around the model's own tokenizer: one JSON request per line in, one JSON answer per line out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .errors import bad_input, one_line
from .events import Events
from .fast_tokenizer import open_fast


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
    if not any((model / name).is_file() for name in ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json")):
        raise bad_input("no-tokenizer", f"{model} has no tokenizer files; give token ids instead of text.", model)
    try:
        if (fast := open_fast(model)) is not None:
            return fast
        from transformers import AutoTokenizer

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


def _token_ids(value: Any) -> list[int]:
    if not isinstance(value, list) or not all(isinstance(token, int) and not isinstance(token, bool) and token >= 0 for token in value):
        raise RequestError("ids must be token ids")
    return value


def _text(tokenizer: Any, ids: list[int], skip: bool) -> str:
    # Cleaning up spaces would change text that the model wrote, and differs between a prefix and the whole.
    return tokenizer.decode(ids, skip_special_tokens=skip, clean_up_tokenization_spaces=False)


def _decode(tokenizer: Any, request: dict[str, Any]) -> dict[str, Any]:
    return {"text": _text(tokenizer, _token_ids(request.get("ids")), bool(request.get("skip_special_tokens", True)))}


def _decode_many(tokenizer: Any, request: dict[str, Any]) -> dict[str, Any]:
    return {"texts": [_text(tokenizer, _token_ids(ids), True) for ids in _field(request, "lists", list)]}


def _pieces(tokenizer: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Each token alone: its text, special ones included, and its bytes where the text cannot tell them."""
    ids = _token_ids(request.get("ids"))
    texts = [_text(tokenizer, [token], False) for token in ids]
    names = tokenizer.convert_ids_to_tokens(ids)
    return {"pieces": [{"text": text, "bytes": _bytes_of(name, text)} for text, name in zip(texts, names, strict=True)]}


def _bytes_of(name: str | None, text: str) -> list[int]:
    if "\ufffd" in text and name:
        if len(name) == 6 and name.startswith("<0x") and name.endswith(">"):  # byte fallback of SentencePiece
            return [int(name[3:5], 16)]
        if all(character in _BYTE_OF for character in name):
            return [_BYTE_OF[character] for character in name]
    return list(text.encode())


def _bytes_by_character() -> dict[str, int]:
    """The letters that byte-level BPE writes for bytes (OpenAI's GPT-2, encoder.py): printable ones stand for themselves."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + index): byte for index, byte in enumerate(others)}


_BYTE_OF = _bytes_by_character()


def _chat(tokenizer: Any, request: dict[str, Any]) -> dict[str, Any]:
    if tokenizer.chat_template is None:
        raise RequestError("the tokenizer has no chat template; send the text itself")
    ids = tokenizer.apply_chat_template(
        _field(request, "messages", list),
        **{key: value for key, value in request.get("variables", {}).items() if key not in _OWN_VARIABLES},
        add_generation_prompt=bool(request.get("add_generation_prompt", True)),
        tokenize=True,
        return_dict=False,
    )
    return {"ids": list(ids)}


# What a request may not set for the template: it has fields of its own, or changes what is returned.
_OWN_VARIABLES = ("self", "messages", "tools", "documents", "conversation", "chat_template", "add_generation_prompt", "continue_final_message", "tokenize",
    "return_dict", "return_tensors", "padding", "truncation", "max_length", "return_assistant_tokens_mask", "tokenizer_kwargs")  # fmt: skip

_OPERATIONS: dict[str, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {"encode": _encode, "decode": _decode, "decode_many": _decode_many, "pieces": _pieces, "chat": _chat}
