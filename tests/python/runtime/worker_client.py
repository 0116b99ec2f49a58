"""Talks to a workbench-worker as a session does: frames of JSON and payload over its standard streams."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from pathlib import Path
from typing import Any, BinaryIO

WORKER = Path(os.environ.get("WORKBENCH_BIN", "")).parent / "workbench-worker"
HEADER = struct.Struct("<4sIIQ")


class WorkerError(Exception):
    def __init__(self, error: dict[str, str]):
        super().__init__(error["message"])
        self.code = error["code"]


def write_frame(stream: BinaryIO, message: str) -> None:
    text = message.encode()
    stream.write(HEADER.pack(b"FWB1", 1, len(text), 0) + text)
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[dict[str, Any], bytes]:
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        raise EOFError("the worker closed its output")
    magic, version, json_bytes, payload_bytes = HEADER.unpack(header)
    assert (magic, version) == (b"FWB1", 1)
    return json.loads(stream.read(json_bytes)), stream.read(payload_bytes)


class Worker:
    """A worker process; a context manager that ends it."""

    def __init__(self, **environment: str):
        self.process = subprocess.Popen(
            [WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment}
        )
        self.events: list[dict[str, Any]] = []
        self.payload = b""
        self._next_id = 1

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def send(self, method: str, **params: Any) -> int:
        self._next_id += 1
        write_frame(self.process.stdin, json.dumps({"id": self._next_id, "method": method, "params": params}))
        return self._next_id

    def cancel(self, request: int) -> None:
        write_frame(self.process.stdin, json.dumps({"method": "cancel", "params": {"id": request}}))

    def read(self) -> dict[str, Any]:
        message, self.payload = read_frame(self.process.stdout)
        return message

    def answer(self, request: int) -> dict[str, Any]:
        """The result of a request; its events are kept in `events`."""
        self.events = []
        while True:
            message = self.read()
            assert message["id"] == request
            if "event" in message:
                self.events.append(message)
            elif "error" in message:
                raise WorkerError(message["error"])
            else:
                return message["result"]

    def answers(self, requests: list[int]) -> dict[int, dict[str, Any]]:
        """The results of requests that run side by side, in whatever order they come; an error is under "error"."""
        self.events = []
        results: dict[int, dict[str, Any]] = {}
        while len(results) < len(requests):
            message = self.read()
            assert message["id"] in requests
            if "event" in message:
                self.events.append(message)
            else:
                results[message["id"]] = message.get("result", message)
        return results

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self.answer(self.send(method, **params))
