"""What every peer runs, and how it is timed: prompts are token ids, greedy, end tokens ignored, two threads.

decode   8 tokens, then 128 new ones; later tokens over their time
prefill  512 tokens and the next one; prompt tokens over their time
mixed    16 requests at once, 64 -> 64 tokens each; new tokens over the time of all, prompts included
long     4096 tokens, then 64 new ones; "long prefill" and "long decode" as above (only where it is asked for)
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

LOADS = ("decode", "prefill", "mixed", "long")
DECODE = (8, 128)
PREFILL = 512
MIXED = (16, 64, 64)
LONG = (4096, 64)

Generate = Callable[[list[list[int]], int], object]


def prompts(count: int, length: int, seed: int) -> list[list[int]]:
    source = random.Random(seed)
    return [[source.randrange(100, 40_000) for _ in range(length)] for _ in range(count)]


def _seconds(generate: Generate, texts: list[list[int]], new_tokens: int) -> float:
    started = time.perf_counter()
    generate(texts, new_tokens)
    return time.perf_counter() - started


def measure(generate: Generate, loads: list[str]) -> dict[str, float]:
    """Tokens per second of each load; every shape runs once before it is timed. `generate` makes so many tokens for each prompt."""
    speeds = {}
    if "decode" in loads:
        length, count = DECODE
        generate(prompts(1, length, 1), 8)
        text = prompts(1, length, 2)
        first = _seconds(generate, text, 1)
        speeds["decode"] = (count - 1) / (_seconds(generate, text, count) - first)
    if "prefill" in loads:
        generate(prompts(1, PREFILL, 3), 1)
        speeds["prefill"] = PREFILL / min(_seconds(generate, prompts(1, PREFILL, seed), 1) for seed in (4, 5))
    if "mixed" in loads:
        requests, length, count = MIXED
        generate(prompts(requests, length, 6), 4)
        speeds["mixed"] = requests * count / _seconds(generate, prompts(requests, length, 7), count)
    if "long" in loads:
        length, count = LONG
        first = min(_seconds(generate, prompts(1, length, seed), 1) for seed in (8, 9))
        speeds["long prefill"] = length / first
        speeds["long decode"] = (count - 1) / (_seconds(generate, prompts(1, length, 10), count) - first)
    return speeds


def arguments(description: str, passes_on: bool = False) -> argparse.Namespace:
    """`passes_on`: what is not known here lies in `rest`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("model", type=Path)
    parser.add_argument("--loads", default=",".join(LOADS[:3]), help="some of " + ", ".join(LOADS))
    parser.add_argument("--threads", type=int, default=2)
    given, given.rest = parser.parse_known_args()
    if given.rest and not passes_on:
        parser.error("unknown: " + " ".join(given.rest))
    given.loads = given.loads.split(",")
    os.environ["OMP_NUM_THREADS"] = str(given.threads)
    return given


def report(name: str, speeds: dict[str, float], **versions: str) -> None:
    """The line that run.py reads."""
    print("PEER " + json.dumps({"peer": name, "tokens_per_s": speeds, "versions": versions}), flush=True)
