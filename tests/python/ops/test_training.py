"""Gradients, tracing and compilation of every operator."""

import pytest
import torch
from cases import all_cases, ops

NAMES = list(all_cases())


def tensors_of(case) -> tuple[list[torch.Tensor], "callable"]:
    """The differentiable tensors, keyword ones too, and a function of them."""
    operator, args, keywords = case
    places = [(args_or_keywords, key) for args_or_keywords, keys in ((0, range(len(args))), (1, keywords)) for key in keys]
    values = {(0, i): value for i, value in enumerate(args)} | {(1, key): value for key, value in keywords.items()}
    free = [place for place in places if isinstance(values[place], torch.Tensor) and values[place].requires_grad]

    def function(*tensors):
        bound = {**values, **dict(zip(free, tensors, strict=True))}
        return operator(*(bound[0, i] for i in range(len(args))), **{key: bound[1, key] for key in keywords})

    return [values[place] for place in free], function


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_finite_differences(name):
    tensors, function = tensors_of(all_cases()[name])
    assert torch.autograd.gradcheck(function, tensors)


@pytest.mark.parametrize("name", NAMES)
def test_registration_is_sound(name):
    operator, args, keywords = all_cases()[name]
    torch.library.opcheck(operator, args, keywords, test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))


@pytest.mark.parametrize("name", NAMES)
def test_compiles_without_graph_break(name):
    torch._dynamo.reset()
    tensors, function = tensors_of(all_cases()[name])

    def loss(*tensors):
        output = function(*tensors)
        return sum(one.square().sum() for one in (output if isinstance(output, tuple) else (output,)))

    expected = torch.autograd.grad(loss(*tensors), tensors)
    actual = torch.autograd.grad(torch.compile(loss, fullgraph=True, backend="aot_eager")(*tensors), tensors)
    for one, other in zip(actual, expected, strict=True):
        torch.testing.assert_close(one, other)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(16))

    def forward(self, x, positions):
        normed = ops.rms_norm(x, self.weight, eps=1e-5, weight_offset=0.0, cast="before_weight")
        heads = normed.unflatten(-1, (2, 8)).transpose(1, 2)
        mixed = ops.attention(heads, heads, heads, positions, layer=0, scale=0.3, mask="causal", window=0, softcap=0.0, sinks=None, slopes=None)
        normed, total = ops.add_rms_norm(mixed.flatten(2), x, self.weight, eps=1e-5, weight_offset=0.0, cast="before_weight")
        return torch.cat([ops.act_and_mul(normed, activation="silu"), total], -1)


def test_inductor_compiles_a_block():
    block = Block().requires_grad_(False)
    x, positions = torch.randn(1, 9, 16), torch.arange(9)[None]
    torch.testing.assert_close(torch.compile(block, fullgraph=True)(x, positions), block(x, positions))


def test_exports_with_a_free_token_count():
    block = Block().requires_grad_(False)
    tokens = torch.export.Dim("tokens", min=1)
    with torch.no_grad():
        program = torch.export.export(block, (torch.randn(1, 7, 16), torch.arange(7)[None]), dynamic_shapes=({1: tokens}, {1: tokens}),
                                      strict=False).run_decompositions({})
    names = [str(node.target) for node in program.graph.nodes if "workbench" in str(node.target)]
    assert names == ["workbench.rms_norm.default", "workbench.attention.default", "workbench.add_rms_norm.default", "workbench.act_and_mul.default"]
    for count in (1, 33):
        x, positions = torch.randn(1, count, 16), torch.arange(count)[None]
        torch.testing.assert_close(program.module()(x, positions), block(x, positions))
