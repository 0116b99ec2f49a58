#!/usr/bin/env python3
"""Stands for the Python of the tracer: `fake_python.py -m workbench_tracer COMMAND ...` behaves as $FAKE_TRACER says."""

import json
import os
import pathlib
import signal
import sys
import time

MODE = os.environ.get("FAKE_TRACER", "works")
command, arguments = sys.argv[3], sys.argv[4:]
options = {name: value for name, value in zip(arguments, arguments[1:]) if name.startswith("--")}


def say(**message):
    print(json.dumps(message), flush=True)


def trace(out):
    with open(os.environ["FAKE_TRACER_LOG"], "a") as log:
        log.write(" ".join(arguments) + "\n")
    say(event="stage", name="build", detail="a model")
    partial = out.with_name(".partial")
    partial.mkdir()
    if MODE == "killed":
        print("a library's warning", file=sys.stderr)
        print("the last words", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "hangs":
        time.sleep(1000)
    if MODE == "bad-input":
        say(event="error", code="adapter", message="This is an adapter.", where="there")
        sys.exit(3)
    if MODE == "untrusted" and "--trust-remote-code" not in arguments:
        say(event="error", code="untrusted-code", message="It runs only with --trust-remote-code.", where=options["--model"] + "/config.json")
        sys.exit(3)
    if MODE == "not-traced":
        say(event="error", code="data", message="It looks at data.", where="a.py:7")
        sys.exit(4)
    if MODE == "chatty":
        print("a model that prints")
        print('["no", "object"]')
    if MODE != "writes-nothing":
        (partial / "trace.json").write_text("{}")
        (partial / "trace.pt2").write_text("")
        partial.rename(out)
    say(event="done", out=str(out))


WORDS = {1: b" Hello", 2: b" wor", 3: b"ld", 4: b"\xc3", 5: b"\xa9", 6: b"\n", 7: b"  x"}


def tokenizer():
    print("a library says hello")
    for line in sys.stdin:
        request = json.loads(line)
        if MODE == "killed":
            print("no tokenizer", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        if MODE == "bad-input":
            say(error="There is no chat template.")
        elif MODE == "not-loaded":
            say(event="error", code="bad-tokenizer", message="The tokenizer cannot be loaded.", where="")
            sys.exit(3)
        elif MODE == "begins-texts":
            say(ids=[1, *request["text"].encode()])
        elif request["op"] == "decode":
            text = b"".join(WORDS[token] for token in request["ids"]).decode("utf-8", "replace")
            say(text=text.removeprefix(" "))
        else:
            say(ids=[len(request.get("text", "")), 2, 3] if request["op"] == "encode" else [9])


if command == "cache-key":
    say(key="../escape" if MODE == "evil-key" else "key" + options["--dtype"])
elif command == "trace":
    trace(pathlib.Path(options["--out"]))
elif command == "resolve":
    say(path="/models/" + options["--model"])
elif command == "tokenizer":
    tokenizer()
