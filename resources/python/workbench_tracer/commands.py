"""Command line: arguments, exit status, and the last resort that turns any failure into one sentence."""

from __future__ import annotations

import argparse
import gc
import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

from . import lifeline
from .errors import TracerError, not_traced, one_line
from .events import Events, private_stdout
from .options import TraceOptions
from .output import Stopped

# What `workbench setup` installs and nothing here works without.
_PACKAGES = ("torch", "transformers", "safetensors", "tokenizers", "huggingface_hub")


def main(arguments: list[str] | None = None) -> int:
    lifeline.watch()
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] == "source-form":
        from .source_form import main as source_form

        return source_form(arguments[1:])
    options = _parser().parse_args(arguments)
    if not options.debug:
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        warnings.simplefilter("ignore")
    with private_stdout() as events:
        return guarded(lambda: options.run(options, events), events, options.debug)


def guarded(run: Callable[[], None], events: Events, debug: bool) -> int:
    """Exit status; every failure becomes one `error` event."""
    try:
        run()
        return 0
    except TracerError as error:
        failure = error
    except Stopped as stopped:
        return 128 + int(stopped.args[0])
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        failure = not_traced("out-of-memory", "There is not enough memory to trace the model.")
    except Exception as error:  # the last resort: nothing may reach the user as a traceback alone
        failure = _unexpected(error, debug)
        failure.__cause__ = error
    if debug:
        traceback.print_exception(failure, file=sys.stderr)
    events.error(failure)
    return failure.exit_status


def _unexpected(error: Exception, debug: bool) -> TracerError:
    if isinstance(error, ModuleNotFoundError) and error.name in _PACKAGES:
        return not_traced(
            "missing-package",
            f"The Python {sys.executable} has no {error.name}; run `workbench setup`, and unset WORKBENCH_PYTHON if it names this Python.",
            sys.executable,
        )
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{frame.filename}:{frame.lineno}"
    hint = "" if debug else _debugging(sys.argv[1:])
    return not_traced("internal", f"{type(error).__name__} at {where}: {one_line(error)}{hint}", where)


def _debugging(arguments: list[str]) -> str:
    """The shell command that shows the traceback. The folder and the request that `workbench` names are gone when it has ended."""
    if arguments[:1] == ["source-form"]:
        return ""
    words = [shlex.quote(word) for word in arguments]
    words = ['"$(mktemp -d)"' if before == "--out" else word for before, word in zip(["", *words], words, strict=False)]
    packages = shlex.quote(os.environ.get("PYTHONPATH") or str(Path(__file__).parents[1]))
    command = " ".join([f"PYTHONPATH={packages}", shlex.quote(sys.executable), "-P -m workbench_tracer", *words, "--debug"])
    return f"; the whole traceback is shown by: {command}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="workbench_tracer", description="Traces Hugging Face language models without loading their weights."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, text, run in (
        ("trace", "write the traced program of a model directory", _trace),
        ("cache-key", "print the key under which a trace can be kept", _cache_key),
        ("tokenizer", "encode, decode and apply chat templates: JSON lines in, JSON lines out", _tokenizer),
        ("eager", "run loads as transformers does: JSON lines in, JSON lines out", _eager),
        ("resolve", "find org/name[@revision] in the local Hugging Face cache, or download it", _resolve),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--model", required=True, help="model directory" if name != "resolve" else "org/name[@revision]")
        command.add_argument("--trust-remote-code", action="store_true", help="run the Python code that the model brings")
        command.add_argument("--debug", action="store_true", help="print tracebacks on stderr")
        command.set_defaults(run=run)
        if name in ("trace", "cache-key", "eager"):
            command.add_argument(
                "--dtype", choices=("auto", "float32", "bfloat16"), default="auto", help="auto: that of the checkpoint"
            )
        if name in ("trace", "cache-key"):
            command.add_argument("--full", action="store_true", help="trace every layer instead of each distinct one")
            command.add_argument(
                "--replica", action="store_true", help="a reduced-size copy with random weights instead of the model itself"
            )
            command.add_argument("--no-proof", dest="proof", action="store_false", help="do not compare with transformers eager")
        if name == "trace":
            command.add_argument("--out", required=True, type=Path, help="folder to write; an earlier trace there is replaced")
        if name == "eager":
            command.add_argument("--threads", type=int, required=True, help="of PyTorch's products")
        if name == "resolve":
            command.add_argument("--download", action="store_true", help="fetch what is not in the cache")
            command.add_argument("--weights", action="store_true", help="weights are among what is needed")
    commands.add_parser(
        "source-form", help="write the forward of rewritten module classes (own arguments: see source-form --help)"
    )
    return parser


def _trace(options: argparse.Namespace, events: Events) -> None:
    gc.disable()  # a process of some seconds: looking for cycles costs a tenth of them and frees nothing to speak of
    from .trace import run

    run(trace_options(options), events)


def trace_options(options: argparse.Namespace) -> TraceOptions:
    return TraceOptions(
        Path(options.model).absolute(),
        Path(getattr(options, "out", ".")).absolute(),
        options.dtype,
        options.full,
        options.trust_remote_code,
        options.proof,
        options.replica,
    )


def _cache_key(options: argparse.Namespace, events: Events) -> None:
    from .cache_key import cache_key

    events.print({"key": cache_key(trace_options(options))})


def _tokenizer(options: argparse.Namespace, events: Events) -> None:
    from .tokenizer import serve

    serve(Path(options.model).absolute(), options.trust_remote_code, sys.stdin, events)


def _eager(options: argparse.Namespace, events: Events) -> None:
    from .eager import serve

    serve(Path(options.model).absolute(), options.dtype, options.threads, options.trust_remote_code, sys.stdin, events)


def _resolve(options: argparse.Namespace, events: Events) -> None:
    from .resolve import resolve

    path, warning = resolve(options.model, options.download, options.weights)
    events.print({"path": str(path), "warning": warning})
