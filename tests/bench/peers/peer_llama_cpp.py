"""llama.cpp by its own llama-batched-bench, which runs requests at once too: peer_llama_cpp.py MODEL.gguf [--loads ...].

Debian has it in llama.cpp-tools; LLAMA_BATCHED_BENCH names the binary, or a command that starts it elsewhere. The GGUF:
`convert_hf_to_gguf.py MODEL_DIR --outtype bf16` of llama.cpp's sources.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess

import workloads

RUNS = 2  # of each load; the better one counts, as the others warm up before they are timed


def main() -> None:
    given = workloads.arguments(__doc__)
    tool = shlex.split(os.environ.get("LLAMA_BATCHED_BENCH", "llama-batched-bench"))

    def seconds(requests: int, prompt: int, new: int) -> tuple[float, float]:
        """Of all prompts, and of all new tokens; a new token is one step of all requests."""
        command = [*tool, "-m", given.model, "-t", given.threads, "-tb", given.threads, "-c", requests * (prompt + new) + 64,
                   "-b", 2048, "-ub", 512, "-npp", prompt, "-ntg", new, "-npl", requests, "--output-format", "jsonl"]
        runs = []
        for _ in range(RUNS):
            done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
            rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            if not rows:
                raise SystemExit(f"{shlex.join(str(part) for part in command)}: it printed no result\n{done.stderr[-1000:]}")
            runs.append((rows[0]["t_pp"], rows[0]["t_tg"]))
        return min(runs, key=sum)

    version = subprocess.run([*tool, "--version"], capture_output=True, text=True)
    version = (version.stdout + version.stderr).partition("version:")[2].split()
    speeds = {}
    if "decode" in given.loads:
        prompt, new = workloads.DECODE
        speeds["decode"] = new / seconds(1, prompt, new)[1]
    if "prefill" in given.loads:
        speeds["prefill"] = workloads.PREFILL / seconds(1, workloads.PREFILL, 1)[0]
    if "mixed" in given.loads:
        requests, prompt, new = workloads.MIXED
        speeds["mixed"] = requests * new / sum(seconds(requests, prompt, new - 1))  # the prompt gives the first one
    if "long" in given.loads:
        prompt, new = workloads.LONG
        of_prompt, of_text = seconds(1, prompt, new)
        speeds |= {"long prefill": prompt / of_prompt, "long decode": new / of_text}
    workloads.report("llama.cpp", speeds, llama_cpp=version[0] if version else "unknown")


if __name__ == "__main__":
    main()
