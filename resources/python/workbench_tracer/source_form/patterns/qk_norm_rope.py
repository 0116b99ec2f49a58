"""qk-norm-rope: the norms of each query and key head, the transposition and the rotation become one op.

    query = self.q_norm(self.q_proj(x).view(shape)).transpose(1, 2)      query = self.q_proj(x).view(shape)
    key = self.k_norm(self.k_proj(x).view(shape)).transpose(1, 2)    ->  key = self.k_proj(x).view(shape)
    query, key = apply_rotary_pos_emb(query, key, cos, sin)              query, key = torch.ops.workbench.qk_norm_rope(query, ...)

The norm may stand before or after the transposition (it acts on the last dimension alone), in one expression or in statements.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..context import Context, require_equal
from ..forward import Forward
from ..norms import Norm
from ..refusal import Refusal
from ..request import Site
from ..rewrite import Rewrite
from ..rotations import find_rotation
from ..source_file import Edit, format_call
from .rms_norm import checked_norm

OP = "torch.ops.workbench.qk_norm_rope"


@dataclass
class _Chain:
    """How one of query and key gets to the rotary call: the child that norms it, and the edits that take both steps away."""

    norm: str
    edits: list[Edit]
    first: ast.stmt


def rewrite_qk_norm_rope(site: Site, context: Context) -> Rewrite:
    forward = context.forward(site.module, site)
    forward.require_torch()
    rotation = find_rotation(forward)
    if rotation.arithmetic.width != "input":
        raise Refusal(f"the rotary function of {forward.name} casts its results, which the fused op does not")
    call = rotation.call
    forward.function.require_runs_once(call)
    require_equal("the style", site.params.get("style"), rotation.arithmetic.style)
    query, key = _chain(forward, call.args[0]), _chain(forward, call.args[1])
    norm, key_norm = (_norm(site, context, chain, role) for chain, role in ((query, "query"), (key, "key")))
    _require_same(site, context, (query, norm), (key, key_norm))
    block = forward.function.block(query.first)
    statements = [query.first, key.first, forward.function.statement(call)]
    if any(statement not in block for statement in statements):
        raise Refusal(f"the norms of query and key and the rotary call of {forward.name} stand in different branches")
    first, last = min(map(block.index, statements)), max(map(block.index, statements))
    forward.function.require_no_writes(block[first : last + 1])
    texts = [forward.file.text(argument) for argument in call.args]
    arguments = texts[:2] + [norm.weight_text(f"self.{query.norm}."), key_norm.weight_text(f"self.{key.norm}.")] + texts[2:]
    arguments += norm.keywords(f"self.{query.norm}.") + [f'style="{rotation.arithmetic.style}"']
    text = format_call(OP, arguments, forward.file.line_indent(call), forward.file.outside_columns(call))
    edit = forward.file.replace(call, text)
    return Rewrite("qk-norm-rope", forward, site.module, tuple([edit] + query.edits + key.edits), (),
                   forward.function.guard(call), (query.norm, key.norm))


def _norm(site: Site, context: Context, chain: _Chain, role: str) -> Norm:
    return checked_norm(site.params, f"{role}_weight", f"{site.module}.{chain.norm}", context)[1]


def _require_same(site: Site, context: Context, query: tuple[_Chain, Norm], key: tuple[_Chain, Norm]) -> None:
    epsilons = [norm.epsilon_of(context.module(f"{site.module}.{chain.norm}")) for chain, norm in (query, key)]
    same_kind = (query[1].weight_offset, query[1].cast) == (key[1].weight_offset, key[1].cast)
    if epsilons[0] != epsilons[1] or not same_kind or bool(query[1].weight) != bool(key[1].weight):
        raise Refusal(f"the norms {query[0].norm} and {key[0].norm} of {site.module} differ in epsilon or kind")


def _chain(forward: Forward, value: ast.expr) -> _Chain:
    """Walks back from an argument of the rotary call through one norm and one transpose(1, 2), each value read once."""
    function, file = forward.function, forward.file
    norm, transposed, edits = "", False, []
    while not (norm and transposed):
        if isinstance(value, ast.Name):
            statement = function.reaching(value.id, function.statement(value))
            if function.only_use(statement) is not value:
                raise Refusal(f"{value.id} of {file.where(statement)} is read elsewhere than on its way to the rotary call")
            value = statement.value
            if isinstance(value, ast.Name):
                raise Refusal(f"{value.id} at {file.where(value)} is only renamed on its way to the rotary call")
            continue
        inner = _transposed(value)
        if inner is not None and not transposed:
            transposed = True
        else:
            inner = _argument(value)
            if inner is None or norm:
                raise Refusal(f"`{file.text(value)}` at {file.where(value)} stands between the projection and the rotary call; "
                              "expected one norm and one transpose(1, 2)")
            norm = value.func.attr
        edits += _unwrap(forward, value, inner)
        value = inner
    return _Chain(norm, edits, function.statement(value))


def _transposed(node: ast.expr) -> ast.expr | None:
    """x of x.transpose(1, 2)."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "transpose":
        return None
    values = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    return node.func.value if values in ([1, 2], [2, 1]) and not node.keywords else None


def _argument(node: ast.expr) -> ast.expr | None:
    """x of self.child(x)."""
    plain = (isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords and isinstance(node.func, ast.Attribute)
             and isinstance(node.func.value, ast.Name) and node.func.value.id == "self")
    return node.args[0] if plain else None


def _unwrap(forward: Forward, outer: ast.expr, inner: ast.expr) -> list[Edit]:
    """Edits that leave `inner` of `outer`; a statement `x = f(x)` goes away as a whole."""
    file, function = forward.file, forward.function
    statement = function.statement(outer)
    if isinstance(inner, ast.Name) and function.single_target(statement) == inner.id and statement.value is outer:
        return [file.delete_lines(statement)]
    (start, end), (inner_start, inner_end) = file.span(outer), file.span(inner)
    if file.data[start:inner_start].count(b"\n") or file.data[inner_end:end].count(b"\n"):
        raise Refusal(f"the expression at {file.where(outer)} spans several lines in a way that is not edited")
    return [edit for edit in (Edit(start, inner_start, ""), Edit(inner_end, end, "")) if edit.start < edit.end]
