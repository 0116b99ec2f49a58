"""org/name[@revision] to a folder of the local Hugging Face cache. HF_HOME, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are honoured."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .errors import TracerError, bad_input, one_line
from .model_directory import INDEX, SINGLE, named_shards

_NAME = re.compile(r"(?P<repo>\w[\w.-]*/\w[\w.-]*)(?:@(?P<revision>\w[\w./-]*))?", re.ASCII)
_WANTED = ["*.json", "*.py", "*.jinja", "*.txt", "*.model"]
# Weights as pickles are never read, so they are not fetched.
_WEIGHTS = ["*.safetensors", "*.safetensors.index.json"]


def resolve(model: str, download: bool, weights: bool = True) -> tuple[Path, str]:
    """The folder, and a sentence where the weights that were asked for are not in it. Raises TracerError naming repository and revision."""
    match = _NAME.fullmatch(model)
    if match is None:
        raise bad_input("bad-name", f"{model} is neither a folder nor a name like org/name or org/name@revision.", model)
    repo, revision = match["repo"], match["revision"]
    from huggingface_hub import constants

    local_only = constants.HF_HUB_OFFLINE or not download
    # Without a network a model whose weights are not here can still be planned.
    for wanted in (weights, False) if local_only else (weights,):
        folder = _cached(repo, revision, wanted)
        if folder is not None and _is_whole(folder, wanted):
            return folder, _lacking(folder, repo, revision, weights)
    if not download:
        raise _not_found(repo, revision)
    folder = _download(repo, revision, weights)  # the library gives what is cached where the network is away
    return folder, _lacking(folder, repo, revision, weights)


def _lacking(folder: Path, repo: str, revision: str | None, weights: bool) -> str:
    if not weights or _is_whole(folder, True):
        return ""
    return f"{_named(repo, revision)} has no whole safetensors weights in the local Hugging Face cache, and none could be fetched."


def _patterns(weights: bool) -> dict[str, list[str] | None]:
    return {"allow_patterns": _WANTED + (_WEIGHTS if weights else []), "ignore_patterns": None if weights else _WEIGHTS}


def _cached(repo: str, revision: str | None, weights: bool) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(repo, revision=revision, local_files_only=True, **_patterns(weights)))
    except LocalEntryNotFoundError:
        return None
    except Exception as error:  # the library raises many kinds
        raise bad_input("not-resolved", f"{_named(repo, revision)} cannot be looked up in the cache: {_clean(error)}", repo) from error


def _is_whole(folder: Path, weights: bool) -> bool:
    if not (folder / "config.json").exists():
        return False
    if not weights or (folder / SINGLE).exists():
        return True
    if not (folder / INDEX).exists():
        return any(folder.glob("*.safetensors"))
    return all((folder / shard).exists() for shard in named_shards(folder / INDEX) or ())


def _named(repo: str, revision: str | None) -> str:
    return f"{repo}@{revision}" if revision else repo


def _not_found(repo: str, revision: str | None) -> TracerError:
    return bad_input(
        "not-in-cache",
        f"{_named(repo, revision)} is neither a folder nor in the local Hugging Face cache; download it or name a model directory.",
        repo,
    )


def _download(repo: str, revision: str | None, weights: bool) -> Path:
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    named, endpoint = _named(repo, revision), constants.ENDPOINT
    if constants.HF_HUB_OFFLINE:
        raise bad_input(
            "offline", f"{named} is not in the local Hugging Face cache, and HF_HUB_OFFLINE forbids to download it.", repo
        )
    try:
        return Path(snapshot_download(repo, revision=revision, **_patterns(weights)))
    except GatedRepoError as error:
        raise bad_input("gated", f"{named} is gated: ask for access at {endpoint} and set HF_TOKEN.", repo) from error
    except RevisionNotFoundError as error:
        raise bad_input("no-such-revision", f"{repo} at {endpoint} has no revision {revision}.", repo) from error
    except RepositoryNotFoundError as error:
        raise bad_input("no-such-model", f"{endpoint} has no model {named}, or HF_TOKEN gives no access to it.", repo) from error
    except HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "an error")
        raise bad_input(
            "download-failed",
            f"{named} cannot be downloaded: {endpoint} answered {status}; check HF_TOKEN and HF_ENDPOINT.",
            repo,
        ) from error
    except (LocalEntryNotFoundError, OSError) as error:
        raise bad_input(
            "download-failed",
            f"{named} is not whole in the local cache and cannot be downloaded from {endpoint}: {_clean(error)}",
            repo,
        ) from error
    except Exception as error:  # HTTP libraries raise their own kinds
        raise bad_input("download-failed", f"{named} cannot be downloaded from {endpoint}: {_clean(error)}", repo) from error


def _clean(error: BaseException) -> str:
    """Never the token, whatever a library puts into its message."""
    text = one_line(error, 200)
    token = os.environ.get("HF_TOKEN")
    return text.replace(token, "***") if token else text
