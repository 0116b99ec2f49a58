"""Runs peers in turn, so that what the machine does meets all of them, and prints how many times as fast the first one is.

    python run.py --rounds 3 "PYTHON peer_workbench.py MODEL" "PYTHON peer_openvino.py IR_DIR" ...

A round in which other processes took a core for more than a tenth of its time is named; measure on a quiet machine. Decoding, whose speed is
memory's, is compared only in the rounds in which memory was as fast for the one peer as for the other, before and after (not beside a busy
neighbour, who is not there then).
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from memory_speed import MemorySpeed, alike

BUSY_CORES = 0.1
MEMORY_BOUND = {"decode", "long decode"}


def _idle_seconds() -> float:
    fields = Path("/proc/stat").read_text().splitlines()[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def run(command: str, timeout: float) -> tuple[dict, float]:
    """What the peer reports, and how many cores others took meanwhile."""
    started, idle, own = time.monotonic(), _idle_seconds(), _own_seconds()
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, timeout=timeout, cwd=Path(__file__).parent)
    seconds = time.monotonic() - started
    others = (os.cpu_count() or 1) - (_idle_seconds() - idle + _own_seconds() - own) / seconds
    lines = [line for line in done.stdout.splitlines() if line.startswith("PEER ")]
    if done.returncode != 0 or not lines:
        raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(lines[-1].removeprefix("PEER ")), max(0.0, others)


@contextmanager
def neighbour() -> Iterator[None]:
    """Somebody else who keeps the last core busy."""
    code = f"import os\nos.sched_setaffinity(0, {{{(os.cpu_count() or 1) - 1}}})\nwhile True: pass"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def table(results: dict[str, list[dict]], memory_bound: set[str]) -> str:
    """Median (least to most) of each peer and load; ratios are taken within each round, and say of how many rounds they are."""
    names = list(results)
    loads = list(results[names[0]][0]["tokens_per_s"])
    lines = ["| tokens/s | " + " | ".join(loads) + " |", "|---|" + "---|" * len(loads)]
    for name in names:
        cells = []
        for load in loads:
            values = [r["tokens_per_s"][load] for r in results[name] if load in r["tokens_per_s"]]
            cells.append(f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})" if values else "-")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    for name in names[1:]:
        cells = []
        for load in loads:
            pairs = [(a, b) for a, b in zip(results[names[0]], results[name], strict=True) if load in b["tokens_per_s"]]
            if load in memory_bound:
                pairs = [(a, b) for a, b in pairs if alike(a["memory"] + b["memory"])]
            ratios = [a["tokens_per_s"][load] / b["tokens_per_s"][load] for a, b in pairs]
            cells.append(f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), {len(ratios)} rounds" if ratios else "-")
        lines.append(f"| {names[0]} / {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers", nargs="+", help="command of a peer; the first is what the others are compared with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--busy-neighbour", action="store_true", help="keep one core busy meanwhile")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one peer in one round")
    given = parser.parse_args()
    memory = MemorySpeed()
    results: dict[str, list[dict]] = {}  # by command: a peer may run with other weights too
    for round_number in range(given.rounds):
        turn = round_number % len(given.peers)
        for command in given.peers[turn:] + given.peers[:turn]:
            before = memory.measure()
            with neighbour() if given.busy_neighbour else nullcontext():
                result, others = run(command, given.timeout)
            result["memory"] = [round(speed, 1) for speed in (before, memory.measure())]  # GB/s
            if others > BUSY_CORES and not given.busy_neighbour:
                print(f"round {round_number + 1}, {result['peer']}: others took {others:.2f} cores", file=sys.stderr)
            print(json.dumps({"round": round_number + 1, "others": round(others, 2), **result}), file=sys.stderr)
            results.setdefault(command, []).append(result)
    reports = [results[command] for command in given.peers]
    names = [report[0]["peer"] for report in reports]
    named = {name if names.count(name) == 1 else f"{name} {at + 1}": reports[at] for at, name in enumerate(names)}
    print(table(named, set() if given.busy_neighbour else MEMORY_BOUND))


if __name__ == "__main__":
    main()
