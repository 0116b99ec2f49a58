"""What the end-to-end tests share: starting the command line, models made once per machine, transformers as the reference."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

TESTS = Path(__file__).resolve().parents[1]
REPO = TESTS.parent
sys.path.insert(0, str(TESTS / "models"))

import zoo  # noqa: E402

_TABLE = json.loads((TESTS / "models" / "expected_counts.json").read_text())
PATTERNS = tuple(_TABLE["definitions"])

# Exit codes as the README states them.
DONE, FAILED, USAGE, BAD_INPUT, NO_TRACE, RUNTIME, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


def expected_counts(name: str) -> dict[str, int]:
    """Sites per pattern that a model must have, worked out from its source; of a pattern without an entry, none."""
    sites = _TABLE["models"][name]["patterns"]
    return {pattern: sites[pattern]["count"] if pattern in sites else 0 for pattern in PATTERNS}


def expected_denominators(name: str) -> dict[str, int]:
    """What each pattern's sites are counted of."""
    places = _TABLE["models"][name]["denominators"]
    return {pattern: places.get(_TABLE["definitions"][pattern]["counted"], 0) for pattern in PATTERNS}


def binary() -> Path:
    return Path(os.environ.get("WORKBENCH_BIN", REPO / "build" / "dev" / "bin" / "workbench"))


def _hash_of(*roots: Path) -> str:
    digest = hashlib.sha256()
    for root in roots:
        for file in sorted([root] if root.is_file() else root.rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Kept between test files and runs; ctest sets it to a folder in the build tree."""
    root = Path(os.environ.get("WORKBENCH_TEST_CACHE", Path(tempfile.gettempdir()) / "workbench-tests"))
    root.mkdir(parents=True, exist_ok=True)
    return root


def trace_cache() -> Path:
    """A trace cache that no change of the tracer outlives."""
    return cache_root() / f"traces-{_hash_of(REPO / 'resources' / 'python')}"


def made_once(name: str, make: Callable[[Path], Any]) -> Path:
    """The directory `name`, made by make(directory) where it is missing; appears complete, safe among parallel test processes."""
    target = cache_root() / f"models-{_hash_of(TESTS / 'models' / 'zoo.py')}" / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=".", dir=target.parent))
        make(partial)
        try:
            partial.rename(target)
        except OSError:  # another process was faster
            shutil.rmtree(partial)
    return target


def model(name: str, dtype: str = "float32") -> Path:
    return made_once(f"{name}-{dtype}", lambda directory: zoo.save(name, directory, dtype))


def example_model() -> Path | None:
    """The real SmolLM2, where packaging/test made it."""
    path = os.environ.get("WORKBENCH_TEST_MODEL")
    return Path(path) if path else None


@dataclass
class Run:
    """A finished command."""

    command: list[str]
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def expect(self, code: int) -> Run:
        assert self.code == code, f"{' '.join(self.command)}\nexit code {self.code}, not {code}\n{self.out[-3000:]}\n{self.err[-3000:]}"
        return self

    def expect_error(self, code: int, *words: str) -> str:
        """The command failed with that code and one clear sentence that has all of the words; returns the sentence."""
        self.expect(code)
        lines = [line for line in self.err.splitlines() if line.startswith("error:")]
        assert len(lines) == 1, f"not one error line:\n{self.err}"
        for noise in ("Traceback", "terminate called", "what():", "core dumped", "Sanitizer"):
            assert noise not in self.err + self.out, self.err
        for word in words:
            assert word.lower() in lines[0].lower(), f"'{word}' is missing in: {lines[0]}"
        assert len(lines[0]) > 20, f"too short to help: {lines[0]}"
        return lines[0]


def environment(**overrides: str | None) -> dict[str, str]:
    settings = dict(os.environ)
    settings.update(XDG_CACHE_HOME=str(trace_cache()), HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")
    settings.setdefault("WORKBENCH_PYTHON", sys.executable)
    for key, value in overrides.items():
        if value is None:
            settings.pop(key, None)
        else:
            settings[key] = value
    return settings


def workbench(
    *arguments: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None, timeout: float = 300, **options: Any
) -> Run:
    command = [str(binary()), *map(str, arguments)]
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env or environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        **options,
    )
    return Run(command, done.returncode, done.stdout, done.stderr)


def tree(directory: Path) -> dict[str, str]:
    """Every file below a directory with the hash of its content: equal before and after means that nothing was written."""
    return {
        str(file.relative_to(directory)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(directory.rglob("*"))
        if file.is_file()
    }


def eager_logits(directory: Path, sequences: list[list[int]], dtype: str = "float32") -> Any:
    """Logits [all tokens, vocabulary] f32 of transformers eager on a saved model, each sequence alone."""
    import torch
    import transformers

    loaded = transformers.AutoModelForCausalLM.from_pretrained(
        directory, dtype=getattr(torch, dtype), attn_implementation="eager"
    ).eval()
    with torch.no_grad():
        rows = [loaded(input_ids=torch.tensor([ids]), use_cache=False).logits[0].float() for ids in sequences]
    return torch.cat(rows)


def random_tokens(vocabulary: int, lengths: list[int], seed: int = 0) -> list[list[int]]:
    import random

    draw = random.Random(seed)
    return [[draw.randrange(vocabulary) for _ in range(length)] for length in lengths]


def write_tokens(file: Path, sequences: list[list[int]]) -> Path:
    """A file for --tokens: one packed sequence a line."""
    file.write_text("".join(",".join(map(str, ids)) + "\n" for ids in sequences))
    return file


def start(*arguments: str | Path, cwd: Path, **overrides: str | None) -> subprocess.Popen:
    """Starts the command line without waiting for it."""
    return subprocess.Popen(
        [str(binary()), *map(str, arguments)],
        cwd=cwd,
        env=environment(**overrides),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def child_of(process: subprocess.Popen, part: str, seconds: float = 60) -> Any:
    """The first child process whose command line has the given part, waited for."""
    import time

    import psutil

    parent = psutil.Process(process.pid)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        for child in parent.children(recursive=True):
            try:
                if any(part in word for word in child.cmdline()):
                    return child
            except psutil.Error:
                continue
        time.sleep(0.01)  # polling, not timing: a missed child fails the test
    raise AssertionError(f"no child process with '{part}' within {seconds} s")


def children_of(process: subprocess.Popen, part: str) -> list[Any]:
    """Every child process whose command line has the given part."""
    import psutil

    return [child for child in psutil.Process(process.pid).children(recursive=True) if any(part in word for word in child.cmdline())]


def finished(process: subprocess.Popen, timeout: float = 60) -> Run:
    out, err = process.communicate(timeout=timeout)
    return Run(list(process.args), process.returncode, out, err)


def refused(work, model, code, *words, command=(), options=("--apply-all", "--export", "plan.json")) -> str:
    """The command ends with that code and one sentence, which is returned, and writes nothing into its current directory."""
    run = workbench(*command, model, *options, cwd=work)
    sentence = run.expect_error(code, *words)
    assert not list(work.iterdir()), "something was written"
    return sentence


def edit_config(directory: Path, **changes: Any) -> None:
    """Changes keys of config.json; None removes one."""
    file = directory / "config.json"
    config = json.loads(file.read_text())
    for key, value in changes.items():
        if value is None:
            config.pop(key, None)
        else:
            config[key] = value
    file.write_text(json.dumps(config))
