"""Our own engine with everything fused: peer_workbench.py MODEL_DIR [--loads ...] [--weights int8]. WORKBENCH_BIN names the binary; options that
are not known here are those of `bench`.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile

import workloads


def main() -> None:
    given = workloads.arguments(__doc__, passes_on=True)
    binary = os.environ.get("WORKBENCH_BIN", "workbench")

    def measured(*load: object) -> dict[str, dict]:
        command = [binary, "bench", given.model, "--apply-all", "--load", *load, "--rounds", "1", "--json", "--quiet", *given.rest]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["after"]

    speeds = {load: measured(load)["tokens_per_s"]["median"] for load in given.loads if load != "long"}
    if "long" in given.loads:
        prompt, new = workloads.LONG
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as trace:
            trace.write(json.dumps({"arrival_s": 0, "prompt_tokens": prompt, "new_tokens": new}))
            trace.flush()
            after = measured("trace", trace.name)
        speeds |= {f"long {part}": after[part]["tokens_per_s"]["median"] for part in ("prefill", "decode")}
    version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    workloads.report("workbench", speeds, workbench=version)


if __name__ == "__main__":
    main()
