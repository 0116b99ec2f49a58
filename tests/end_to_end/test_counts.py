"""Every pattern is found exactly as often as the modeling source says it occurs."""

import pytest
import support
import zoo


def _check(report: dict, name: str) -> None:
    patterns = report["patterns"]
    assert {pattern: counts["applicable"] for pattern, counts in patterns.items()} == support.expected_counts(name)
    assert {pattern: counts["denominator"] for pattern, counts in patterns.items()} == support.expected_denominators(name)


@pytest.mark.parametrize("name", zoo.ZOO)
def test_float32(name):
    _check(support.workbench("inspect", support.model(name), "--json").expect(support.DONE).json(), name)


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_bfloat16(name):
    _check(support.workbench("inspect", support.model(name, "bfloat16"), "--json").expect(support.DONE).json(), name)


@pytest.mark.parametrize("name", zoo.REQUIRED)
def test_config_only_finds_the_same_sites(name):
    directory = support.made_once(f"{name}-config", lambda target: zoo.save_config(name, target))
    with_weights = support.workbench("inspect", support.model(name), "--json").expect(support.DONE).json()
    without = support.workbench("inspect", directory, "--json").expect(support.DONE).json()
    assert [site["id"] for site in without["sites"]] == [site["id"] for site in with_weights["sites"]]


def test_sites_add_up_to_the_counts():
    report = support.workbench("inspect", support.model("qwen3"), "--json").expect(support.DONE).json()
    for pattern in support.PATTERNS:
        ids = [site["id"] for site in report["sites"] if site["pattern"] == pattern and site["verdict"] in ("applicable", "present")]
        assert len(ids) == len(set(ids)) == report["patterns"][pattern]["applicable"]


@pytest.mark.skipif(support.example_model() is None, reason="WORKBENCH_TEST_MODEL is not set: packaging/test makes the real model")
def test_real_smollm2():
    report = support.workbench("inspect", support.example_model(), "--json").expect(support.DONE).json()
    _check(report, "SmolLM2-135M-Instruct")


@pytest.mark.parametrize("name", ["llama", "starcoder2", "olmo2", "phi3", "cohere", "mixtral"])
def test_every_place_that_is_not_found_says_why(name):
    report = support.workbench("inspect", support.model(name), "--json").expect(support.DONE).json()
    left = {pattern: counts["denominator"] - counts["applicable"] for pattern, counts in report["patterns"].items()}
    assert any(left.values()), "nothing is left, so nothing is tested"
    for pattern, places in left.items():
        misses = [miss for miss in report["near_misses"] if miss["pattern"] == pattern]
        assert len(misses) == places, pattern
        for miss in misses:
            assert miss["node"] and miss["op"] and miss["source"]["line"] > 0, miss
            assert miss["expected"] and miss["found"], miss
