"""From config.json to plan, with an empty trace cache. Runs alone (see CMakeLists.txt); the figures are printed."""

import json
import resource
import time
from collections import Counter

import pytest
import support

SECONDS = 15.0
TRACER_GIB = 2.0


@pytest.mark.parametrize("name", ["Qwen3-0.6B", "Qwen3-235B-A22B"])
def test_from_config_to_plan(name, tmp_path, capsys):
    directory = support.TESTS / "models" / "configs" / name
    plan_file = tmp_path / "plan.json"
    started = time.monotonic()
    env = support.environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
    support.workbench(directory, "--apply-all", "--export", plan_file, env=env).expect(support.DONE)
    seconds = time.monotonic() - started
    # The largest of all processes that ended so far: the tracer is by far the largest here.
    gib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1 << 20)
    with capsys.disabled():
        print(f"\n{name}: config.json to plan in {seconds:.1f} s, tracer at most {gib:.2f} GiB")
    sites = json.loads(plan_file.read_text())["sites"]
    found = Counter(site["pattern"] for site in sites if site["verdict"] != "refused")
    assert {pattern: found[pattern] for pattern in support.PATTERNS} == support.expected_counts(name)
    assert gib <= TRACER_GIB
    assert seconds <= SECONDS
