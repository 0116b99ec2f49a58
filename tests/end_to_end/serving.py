"""A server of the command line, started for a test."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import support


class Server:
    """`workbench serve` on a port of its own; a context manager that ends it."""

    def __init__(self, model: Path, *options: str | Path, cwd: Path, **environment: str | None):
        command = ("serve", model, "--port", "0", "--model-name", "test", *options)
        self.process = support.start(*command, cwd=cwd, **environment)
        self.address = self._address()

    def _address(self) -> str:
        line = self.process.stdout.readline()
        if not line.startswith("serving test on "):
            out, err = self.process.communicate(timeout=60)
            raise AssertionError(f"the server did not start: {line}{out}{err}")
        return line.split(" on ")[1].strip().removesuffix("/v1")

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def client(self, **options: Any) -> Any:
        import openai

        return openai.OpenAI(base_url=f"{self.address}/v1", api_key="none", max_retries=0, timeout=120, **options)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.address + path, timeout=60) as answer:
            return answer.read().decode()

    def metric(self, name: str) -> float:
        for line in self.get("/metrics").splitlines():
            if line.startswith(f"{name} "):
                return float(line.split()[1])
        raise AssertionError(f"there is no metric {name}")

    def wait_until_free(self, seconds: float = 60) -> None:
        """Until no request holds a block of the KV cache."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            free = self.metric("workbench_kv_blocks_free") == self.metric("workbench_kv_blocks")
            if free and self.metric("workbench_engine_running") == self.metric("workbench_engine_waiting") == 0:
                return
        raise AssertionError(self.get("/metrics"))

    def finish(self, timeout: float = 60) -> support.Run:
        """The end that SIGTERM asks for."""
        self.process.terminate()
        return support.finished(self.process, timeout)


def post_raw(address: str, path: str, body: bytes, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(address + path, data=body, headers={"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
