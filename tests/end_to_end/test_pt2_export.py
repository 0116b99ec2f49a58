"""The exported archive is a program of PyTorch: it loads without our binaries, gives eager's logits, compiles, and trains."""

import pytest
import support
import torch
import zoo

TOLERANCE = 1e-4  # of the largest logit, f32
ATTENTION_ONLY = ("--apply", "attention")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The archive of a zoo model, loaded as a user would."""

    def load(name, *decisions, dtype="float32"):
        import workbench_ops  # noqa: F401  the operators' definitions in PyTorch

        file = tmp_path_factory.mktemp(name) / "model.pt2"
        support.workbench(support.model(name, dtype), *(decisions or ["--apply-all"]), "--export-pt2", file).expect(support.DONE)
        return torch.export.load(file)

    return load


def _call(vocabulary=211):
    """Two packed sequences, each longer than any window, and the rows of all logits."""
    tokens = support.random_tokens(vocabulary, [17, 9])
    ids = torch.tensor([sum(tokens, [])])
    positions = torch.tensor([[at for one in tokens for at in range(len(one))]])
    return tokens, (ids, positions, torch.arange(ids.shape[1]))


def _eager(name, tokens):
    model = zoo.build(name)
    with torch.no_grad():
        return torch.cat([model(input_ids=torch.tensor([one]), use_cache=False).logits[0] for one in tokens])


def _relative(found, expected):
    return float((found - expected).abs().max() / expected.abs().max())


@pytest.mark.parametrize("name", zoo.ZOO)
def test_the_archive_gives_eagers_logits(name, exported):
    tokens, call = _call()
    program = exported(name)
    assert any("workbench." in str(node.target) for node in program.graph.nodes), "nothing is fused"
    with torch.no_grad():
        assert _relative(program.module()(*call)[0], _eager(name, tokens)) <= TOLERANCE


def test_the_archive_compiles(exported):
    tokens, call = _call()
    compiled = torch.compile(exported("qwen3").module())
    with torch.no_grad():
        assert _relative(compiled(*call)[0], _eager("qwen3", tokens)) <= TOLERANCE


def test_the_archive_trains_as_the_original_does(exported):
    """Gradients of every parameter, those of the merged weights put together from the original's."""
    _, call = _call()
    gradients = []
    for decisions in (("--apply-all",), ATTENTION_ONLY):
        module = exported("qwen3", *decisions).module()
        module(*call)[0].logsumexp(-1).sum().backward()
        gradients.append({name: parameter.grad for name, parameter in module.named_parameters()})
        assert all(gradient is not None and gradient.abs().max() > 0 for gradient in gradients[-1].values())
    fused, plain = gradients
    merged = {name for name in fused if name not in plain}
    assert merged, "nothing was merged"
    for name in fused.keys() & plain.keys():
        assert _relative(fused[name], plain[name]) <= TOLERANCE, name
    total = lambda some: sum(float(value.square().sum()) for value in some)
    rest = plain.keys() - fused.keys()
    assert total(fused[name] for name in merged) == pytest.approx(total(plain[name] for name in rest), rel=1e-3)
