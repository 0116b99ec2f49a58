"""The worker as a process: what it answers to nonsense, how it is cancelled and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable

import pytest
import worker_client
from conftest import TracedModel
from worker_client import HEADER, WORKER, Worker, WorkerError, read_frame, write_frame

PROMPT = [3, 17, 5, 29]


def ended(worker: Worker) -> int:
    return worker.process.wait(timeout=60)


def last_line(worker: Worker) -> str:
    return worker.process.stderr.read().decode().strip().splitlines()[-1]


def test_hello_tells_what_it_is(worker: Worker) -> None:
    hello = worker.call("hello")
    assert hello["torch"].startswith("2.")
    assert hello["threads"] >= 1
    assert hello["devices"][0] == "cpu"
    assert hello["isa"]
    assert hello["version"]


def test_nonsense_is_answered_and_survived(worker: Worker) -> None:
    for text in ('{"id": 1, "method"', "[]", '{"id": 5}', '{"id": 5, "method": 3}', '{"id": 5, "method": "run", "params": []}', "\udcff"):
        worker_client.write_frame(worker.process.stdin, text) if text.isascii() else worker.process.stdin.write(
            HEADER.pack(b"FWB1", 1, 2, 0) + b"\xff\xfe"
        )
        worker.process.stdin.flush()
        answer = worker.read()
        assert answer["error"]["message"].endswith("."), answer
        assert answer["id"] == (5 if '"id": 5' in text else None)
    with pytest.raises(WorkerError, match="no method 'fly'"):
        worker.call("fly")
    with pytest.raises(WorkerError, match="No program called 'original' is loaded"):
        worker.call("run", program="original", tokens=[1])
    with pytest.raises(WorkerError, match="'program' must be a string"):
        worker.call("run", program=3, tokens=[1])
    assert worker.call("hello")


@pytest.mark.parametrize(
    ("bytes_sent", "sentence"),
    [
        (b"GET / HTTP/1.1\r\nHost: worker\r\n\r\n", "not in the workbench's protocol"),
        (HEADER.pack(b"FWB1", 9, 2, 0) + b"{}", "speaks version 9 of the protocol"),
        (HEADER.pack(b"FWB1", 1, 2**31, 0), "is refused: the limit is"),
        (HEADER.pack(b"FWB1", 1, 100, 0) + b"{}", "ended inside a frame"),
    ],
)
def test_a_stream_that_is_no_frame_ends_it_with_a_sentence(worker: Worker, bytes_sent: bytes, sentence: str) -> None:
    worker.process.stdin.write(bytes_sent)
    worker.process.stdin.close()
    assert ended(worker) == 5
    assert sentence in last_line(worker)


def test_end_of_input_ends_it(worker: Worker) -> None:
    worker.process.stdin.close()
    assert ended(worker) == 0


def test_shutdown_ends_it(worker: Worker) -> None:
    assert worker.call("shutdown") == {}
    assert ended(worker) == 0


def test_requests_before_the_end_of_input_are_answered(tmp_path) -> None:
    requests = tmp_path / "requests"
    with requests.open("wb") as stream:
        for number in range(3):
            write_frame(stream, json.dumps({"id": number, "method": "hello"}))
    done = subprocess.run([WORKER], stdin=requests.open("rb"), capture_output=True, timeout=60)
    assert done.returncode == 0
    answers = tmp_path / "answers"
    answers.write_bytes(done.stdout)
    with answers.open("rb") as stream:
        assert [read_frame(stream)[0]["id"] for _ in range(3)] == [0, 1, 2]
        assert stream.read() == b""


def test_it_ends_when_nobody_reads_answers(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    worker.send("generate", program="original", prompt=PROMPT, max_tokens=100_000)
    worker.read()
    worker.process.stdout.close()
    worker.process.stdin.close()
    assert ended(worker) in (0, 5)
    worker.process.stdout = open("/dev/null")  # noqa: SIM115: closed by the fixture


def test_cancel_stops_a_running_request(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    request = worker.send("generate", program="original", prompt=PROMPT, max_tokens=100_000)
    assert worker.read()["event"] == "token"
    worker.cancel(request)
    with pytest.raises(WorkerError) as caught:
        worker.answer(request)
    assert caught.value.code == "cancelled"
    assert len(worker.events) < 10_000
    assert worker.call("run", program="original", tokens=PROMPT)["rows"] == len(PROMPT)


def test_cancel_stops_a_waiting_request(worker: Worker, traced: Callable[..., TracedModel]) -> None:
    traced("llama").load(worker)
    running = worker.send("generate", program="original", prompt=PROMPT, max_tokens=100_000)
    waiting = worker.send("hello")
    worker.cancel(waiting)
    worker.cancel(12345)  # unknown: nothing happens
    worker.cancel(running)
    for request in (running, waiting):
        with pytest.raises(WorkerError) as caught:
            worker.answer(request)
        assert caught.value.code == "cancelled"


def test_it_can_be_killed_and_interrupted(traced: Callable[..., TracedModel]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        with Worker() as worker:
            traced("llama").load(worker)
            worker.send("generate", program="original", prompt=PROMPT, max_tokens=100_000)
            worker.read()
            worker.process.send_signal(number)
            assert ended(worker) == -number
