"""A decoder block in plain torch, small enough to rewrite by hand."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

HIDDEN, VOCABULARY = 12, 23


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(HIDDEN))

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))


class Toy(nn.Module):
    """ids [1, T] -> logits [1, T, VOCABULARY]."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.embed = nn.Embedding(VOCABULARY, HIDDEN)
        self.norm = Norm()
        self.q = nn.Linear(HIDDEN, 8, bias=False)
        self.k = nn.Linear(HIDDEN, 4, bias=False)
        self.v = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.register_buffer("kept", torch.randn(HIDDEN))
        self.register_buffer("computed", torch.randn(HIDDEN), persistent=False)
        self.constant = torch.randn(HIDDEN)
        self.head = nn.Linear(HIDDEN, VOCABULARY)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.norm(self.embed(ids))
        with torch.no_grad():
            angles = torch.arange(ids.shape[1], dtype=x.dtype).cos()
        q, k, v = self.q(x).view(ids.shape[1], 2, -1), self.k(x).view(ids.shape[1], 1, -1), self.v(x)
        mixed = v * (q * k).sum((1, 2)).softmax(0)[None, :, None] + angles[None, :, None]
        first, second = mixed.split([5, HIDDEN - 5], dim=-1)
        joined = torch.cat([second, first], -1).reshape(ids.shape[1] * 2, -1).view_as(mixed)
        return self.head(joined * self.kept + self.computed.mul(self.constant))


def export(file: Path, *, decompose: bool) -> torch.export.ExportedProgram:
    """Exported as users do it: gradients on, weights inside."""
    tokens = torch.export.Dim("tokens", min=1)
    program = torch.export.export(Toy(), (ids(6),), dynamic_shapes=({1: tokens},), strict=False)
    if decompose:
        program = program.run_decompositions({})
    torch.export.save(program, file)
    return program


def ids(count: int) -> Tensor:
    return torch.arange(count)[None] * 7 % VOCABULARY


LENGTHS = (1, 2, 6, 33)
