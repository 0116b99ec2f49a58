"""From config.json to plan, with an empty trace cache. Runs alone (see CMakeLists.txt); the figures are printed."""

import json
import resource
import subprocess
import sys
import time
from collections import Counter

import pytest
import support

SECONDS = 15.0
TRACER_GIB = 2.0
# The limit is for a machine that imports torch and transformers in this time; a slower one has as much more.
IMPORT_SECONDS = 4.0


@pytest.fixture(scope="module")
def slowness() -> float:
    program = "import torch, transformers; from transformers import Qwen3MoeForCausalLM"
    times = []
    for _ in range(2):  # the first one reads the files
        started = time.monotonic()
        subprocess.run([sys.executable, "-c", program], check=True)
        times.append(time.monotonic() - started)
    return max(1.0, min(times) / IMPORT_SECONDS)


@pytest.mark.parametrize("name", ["Qwen3-0.6B", "Qwen3-235B-A22B"])
def test_from_config_to_plan(name, slowness, tmp_path, capsys):
    directory = support.TESTS / "models" / "configs" / name
    plan_file = tmp_path / "plan.json"
    started = time.monotonic()
    env = support.environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
    support.workbench(directory, "--apply-all", "--export", plan_file, env=env).expect(support.DONE)
    seconds = time.monotonic() - started
    # The largest of all processes that ended so far: the tracer is by far the largest here.
    gib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1 << 20)
    with capsys.disabled():
        print(f"\n{name}: config.json to plan in {seconds:.1f} s, tracer at most {gib:.2f} GiB; this machine is {slowness:.1f} times slower than the limit's")
    sites = json.loads(plan_file.read_text())["sites"]
    found = Counter(site["pattern"] for site in sites if site["verdict"] != "refused")
    assert {pattern: found[pattern] for pattern in support.PATTERNS} == support.expected_counts(name)
    assert gib <= TRACER_GIB
    assert seconds <= SECONDS * slowness
