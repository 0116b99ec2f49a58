#!/usr/bin/env python3
"""How long Netron takes from the load of its page to the first drawn graph of a .pt2, in turn with our own first drawing.

Not part of the tests: it needs `pip install netron websocket-client` and a Chromium on PATH. Usage:

    tests/bench/netron_first_drawing.py --bench build/dev/tests/diagram_bench --layout build/dev/bin/workbench-layout FILE.pt2...

The tracer keeps each distinct layer once: `whole_archive TRACE_DIR FILE.pt2` writes all of them. Both open the same file: Netron from the navigation to its page (reading,
graph, layout, SVG in the document) with the program already started; ours reading and fusion search apart, then the first drawing with nothing cached.
"""

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import netron
import websocket

# Runs in the page before Netron's own code. Netron shows a page of the name "default" once the graph is in the document, and
# "alert" or a notification when it gives up. The frame after that is the first one that has it.
WATCH = """
document.cookie = "consent=1"; // the question about cookies is answered
window.seen = null;
const tick = () => {
    const body = document.body;
    const nodes = document.querySelectorAll('#canvas g.node').length;
    if (!window.seen && body && body.classList.contains('default') && nodes > 0)
        requestAnimationFrame(() => { window.seen = {ms: performance.now(), nodes: nodes}; });
    else if (body && (body.classList.contains('alert') || body.classList.contains('notification'))) {
        const said = document.getElementById('message-text')?.innerText || body.innerText.slice(0, 300);
        if (!said.includes('might take a very long time')) // that one offers to cancel, and goes on
            window.seen = {error: said};
    }
    if (!window.seen) setTimeout(tick, 10);
};
document.addEventListener('DOMContentLoaded', tick);
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """A headless Chromium, driven by the DevTools protocol."""

    def __init__(self, executable: str):
        self._home = tempfile.TemporaryDirectory()
        port = free_port()
        self._process = subprocess.Popen(
            [executable, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1280,800",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # its telemetry costs no time
             f"--user-data-dir={self._home.name}", f"--remote-debugging-port={port}", "--remote-allow-origins=*",
             "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._socket = websocket.create_connection(self._page(port), timeout=60)
        self._id = 0

    def _page(self, port: int) -> str:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                    pages = [page for page in json.load(answer) if page["type"] == "page"]
                    if pages:
                        return pages[0]["webSocketDebuggerUrl"]
            except OSError:
                pass
            time.sleep(0.1)
        raise RuntimeError("Chromium did not start")

    def call(self, method: str, **parameters) -> dict:
        self._id += 1
        self._socket.send(json.dumps({"id": self._id, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._id:
                return answer.get("result", answer)

    def evaluate(self, expression: str):
        try:
            return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")
        except websocket.WebSocketTimeoutException:
            return None  # the page is at work and does not answer

    def close(self) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait()
        self._home.cleanup()


def netron_once(browser_program: str, file: str, limit: float) -> dict:
    """{"ms", "nodes"}, or {"error"}."""
    address = netron.start(file, address=("127.0.0.1", free_port()), browse=False)
    browser = Browser(browser_program)
    try:
        browser.call("Page.enable")
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        begun = time.monotonic()
        browser.call("Page.navigate", url=f"http://{address[0]}:{address[1]}")
        while time.monotonic() - begun < limit:
            seen = browser.evaluate("window.seen")
            if seen:
                return seen
            time.sleep(0.2)
        return {"error": f"nothing is drawn after {limit:.0f} s"}
    finally:
        browser.close()
        netron.stop(address)


def ours_once(bench: str, layout: str, file: str) -> dict:
    """Medians of one run of diagram_bench, in milliseconds."""
    said = subprocess.run([bench, layout, file], capture_output=True, text=True, check=False).stdout
    found = {name: float(re.search(rf"{name}\s+([0-9.]+) ms", said).group(1)) for name in ("reading and finding", "first drawing")}
    return found | {"nodes": int(re.search(r": (\d+) nodes", said).group(1))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, help="diagram_bench")
    parser.add_argument("--layout", required=True, help="workbench-layout")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a drawing is given up")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    parser.add_argument("archives", nargs="+")
    arguments = parser.parse_args()
    print(f"Netron {netron.__version__}, {arguments.runs} runs in turn, load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| archive | nodes | ours: reading and finding | ours: first drawing | Netron | Netron by ours |\n|---|---|---|---|---|---|")
    for file in arguments.archives:
        theirs, ours = [], []
        for run in range(arguments.runs):
            theirs.append(netron_once(arguments.chromium, os.path.abspath(file), arguments.limit))
            ours.append(ours_once(arguments.bench, arguments.layout, file))
            print(f"  run {run + 1}: {theirs[-1]} {ours[-1]}", file=sys.stderr, flush=True)
            if "error" in theirs[-1]:
                break
        reading, drawing = (statistics.median(run[name] for run in ours) for name in ("reading and finding", "first drawing"))
        errors = [run["error"] for run in theirs if "error" in run]
        netron_ms = statistics.median(run["ms"] for run in theirs) if not errors else 0
        print(f"| {os.path.basename(file)} | {ours[0]['nodes']} | {reading:.0f} ms | {drawing:.0f} ms | "
              + (errors[0].replace("\n", " ") if errors else f"{netron_ms:.0f} ms")
              + " | " + ("" if errors else f"{netron_ms / (reading + drawing):.1f}") + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
