"""Our own engine with everything fused: peer_workbench.py MODEL_DIR [--loads ...] [--weights int8]. WORKBENCH_BIN names the binary; options that
are not known here are those of `bench`.
"""

from __future__ import annotations

import json
import os
import subprocess

import workloads


def main() -> None:
    given = workloads.arguments(__doc__, passes_on=True)
    binary = os.environ.get("WORKBENCH_BIN", "workbench")
    speeds = {}
    for load in given.loads:
        command = [binary, "bench", given.model, "--apply-all", "--load", load, "--rounds", "1", "--json", "--quiet", *given.rest]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        speeds[load] = json.loads(done.stdout)["after"]["tokens_per_s"]["median"]
    version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    workloads.report("workbench", speeds, workbench=version)


if __name__ == "__main__":
    main()
