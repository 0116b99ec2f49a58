"""`workbench render` draws a module's graph without a display."""

import json
import struct
import xml.etree.ElementTree as ElementTree

import pytest
import support
from support import BAD_INPUT, DONE, USAGE, workbench


@pytest.fixture(scope="module", autouse=True)
def _can_draw():
    if not support.binary().with_name("workbench-layout").exists():
        pytest.skip("this build has no Graphviz or Qt")


@pytest.fixture(scope="module")
def llama():
    return support.model("llama")


def _texts(svg) -> list[str]:
    return [element.text for element in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


def _svg(directory, tmp_path, *options) -> list[str]:
    out = tmp_path / "graph.svg"
    workbench("render", directory, *options, "-o", out).expect(DONE)
    return _texts(out)


def test_the_model_is_drawn_with_its_parts(llama, tmp_path):
    texts = _svg(llama, tmp_path)
    assert {"model", "embed_tokens", "norm", "lm_head", "LlamaDecoderLayer"} <= set(texts)
    assert any(text.startswith("f32[1, T, ") for text in texts)


def test_a_scope_is_drawn_alone(llama, tmp_path):
    texts = _svg(llama, tmp_path, "--scope", "model.layers.0")
    assert {"self_attn", "mlp", "input_layernorm"} <= set(texts)
    assert "lm_head" not in texts


def test_modules_open_in_place(llama, tmp_path):
    closed = _svg(llama, tmp_path, "--scope", "model.layers.0")
    opened = _svg(llama, tmp_path, "--scope", "model.layers.0", "--expand", "model.layers.0.self_attn")
    assert "q_proj" not in closed
    assert {"q_proj", "attention"} <= set(opened)


def test_the_rewritten_graph_has_the_fused_nodes(llama, tmp_path):
    options = ["--scope", "model.layers.0.mlp"]
    before = _svg(llama, tmp_path, *options)
    after = _svg(llama, tmp_path, *options, "--apply", "gate-up", "--rewritten")
    assert "gate_proj" in before and "gate_proj" not in after
    assert any("gate-up" in text and "applied" in text for text in after)


def test_a_png_is_written_in_both_themes(llama, tmp_path):
    pictures = []
    for theme in ("light", "dark"):
        out = tmp_path / f"{theme}.png"
        workbench("render", llama, "--theme", theme, "-o", out).expect(DONE)
        pictures.append(out.read_bytes())
        assert pictures[-1].startswith(b"\x89PNG")
        width, height = struct.unpack(">II", pictures[-1][16:24])
        assert width > 400 and height > 400
    assert pictures[0] != pictures[1]


def test_proofs_and_measured_gains_are_laid_over_the_graph(llama, tmp_path):
    plan, bench = tmp_path / "plan.json", tmp_path / "bench.json"
    workbench("verify", llama, "--apply-all", "--export", plan).expect(DONE)
    legend = _svg(llama, tmp_path, "--plan", plan, "--overlay", "error")
    assert any(text.startswith("error of the rewrite") for text in legend)
    options = ["--leave-one-out", "--json", "--rounds", "2", "--new-tokens", "4"]
    bench.write_text(workbench("bench", llama, "--plan", plan, *options).expect(DONE).out)
    gains = ["--plan", plan, "--overlay", "gain", "--measurement", bench]
    assert any(text.startswith("measured gain") for text in _svg(llama, tmp_path, *gains))
    assert "--leave-one-out" in workbench(
        "render", llama, "--overlay", "gain", "--measurement", bench, "-o", tmp_path / "none.svg"
    ).expect(BAD_INPUT).err  # nothing is applied there


def test_the_measured_time_of_nodes_is_laid_over_both_graphs(llama, tmp_path):
    bench = tmp_path / "bench.json"
    options = ["--json", "--rounds", "2", "--new-tokens", "4"]
    report = workbench("bench", llama, "--apply-all", *options).expect(DONE).json()
    bench.write_text(json.dumps(report))
    # Nearly all of the time in the model is the nodes'.
    for program in ("before", "after"):
        profile = report["profile"][program]
        model_ms = 1000 * profile["model_s"] / profile["steps"]
        assert 0.5 * model_ms < sum(report["node_ms"][program].values()) <= model_ms
    assert len(report["node_ms"]["after"]) < len(report["node_ms"]["before"])
    time = ["--overlay", "time", "--measurement", bench]
    legend = _svg(llama, tmp_path, *time)
    assert any(text.startswith("measured time before") for text in legend)
    assert any(text.endswith(" ms") for text in legend)
    rewritten = _svg(llama, tmp_path, *time, "--apply-all", "--rewritten")
    assert any(text.startswith("measured time after") for text in rewritten)
    workbench("render", llama, *time, "--apply", "rms-norm", "--rewritten", "-o", tmp_path / "none.svg").expect_error(BAD_INPUT, "other decisions")
    other = support.model("qwen3")
    workbench("render", other, *time, "-o", tmp_path / "none.svg").expect_error(BAD_INPUT, "another graph", "LlamaForCausalLM")


def test_it_needs_no_display(llama, tmp_path):
    # What the session has does not matter.
    environment = support.environment(DISPLAY=None, WAYLAND_DISPLAY=None, QT_QPA_PLATFORM="xcb")
    workbench("render", llama, "-o", tmp_path / "graph.png", env=environment).expect(DONE)


@pytest.mark.parametrize(
    "options, said",
    [
        (["--scope", "model.layers.0.mpl"], "model.layers.0"),
        (["--expand", "model.layer"], "model.layer"),
        (["--theme", "sepia"], "sepia"),
        (["--overlay", "error"], "--plan"),
        (["--overlay", "gain"], "--measurement"),
        (["--overlay", "time"], "--measurement"),
    ],
)
def test_wrong_usage_says_what_there_is(llama, tmp_path, options, said):
    out = tmp_path / "graph.svg"
    assert said in workbench("render", llama, *options, "-o", out).expect(USAGE).err
    assert not out.exists()


def test_a_picture_has_a_known_suffix(llama, tmp_path):
    out = tmp_path / "graph.jpeg"
    assert ".svg" in workbench("render", llama, "-o", out).expect(USAGE).err
    workbench("render", llama).expect(USAGE)
