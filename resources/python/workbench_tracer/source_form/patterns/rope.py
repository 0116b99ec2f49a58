"""rope: the rotary function's call becomes one op.

    query, key = apply_rotary_pos_emb(query, key, cos, sin)
    ->  query, key = torch.ops.workbench.rope(query, key, cos, sin, style="half")

The called function is read, not known by name. Where it computes in a wider dtype and casts its results back, so do the new lines.
Tables that are narrower than the heads leave the rest of each head as it is, in the function as in the op.
"""

from __future__ import annotations

import ast

from ..context import Context, require_equal
from ..forward import Forward
from ..refusal import Refusal
from ..request import Site
from ..rewrite import Rewrite
from ..rotations import Rotation, find_rotation
from ..source_file import Edit, format_call

OP = "torch.ops.workbench.rope"


def rewrite_rope(site: Site, context: Context) -> Rewrite:
    forward = context.forward(site.module, site)
    forward.require_torch()
    rotation = find_rotation(forward)
    require_equal("the style", site.params.get("style"), rotation.arithmetic.style)
    plain = rotation.arithmetic.width == "input"
    edits = [_plain_edit(forward, rotation)] if plain else _casting_edits(forward, rotation)
    return Rewrite("rope", forward, site.module, tuple(edits), (), forward.function.guard(rotation.call))


def _plain_edit(forward: Forward, rotation: Rotation) -> Edit:
    file, call = forward.file, rotation.call
    arguments = [file.text(argument) for argument in call.args] + [f'style="{rotation.arithmetic.style}"']
    return file.replace(call, format_call(OP, arguments, file.line_indent(call), file.outside_columns(call)))


def _casting_edits(forward: Forward, rotation: Rotation) -> list[Edit]:
    """q, k = f(q, k, cos, sin) with names on both sides, as two statements."""
    file, call = forward.file, rotation.call
    statement = forward.function.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    names = [node.id for node in call.args if isinstance(node, ast.Name)]
    if statement.value is not call or not isinstance(target, ast.Tuple) or len(target.elts) != 2 or len(names) != 4:
        raise Refusal(f"the rotary call at {file.where(call)} is not a plain assignment of names, which its casts need")
    query, key, cos, sin = names
    (rotated,) = forward.function.free_names([("rotated",), ("rotated_pair",)])
    indent = file.indent(statement)
    tables = [cos, sin]
    if rotation.arithmetic.width == "tables":
        inputs = [f"{query}.to({cos}.dtype)", f"{key}.to({cos}.dtype)"]
    else:
        inputs, tables = [f"{query}.float()", f"{key}.float()"], [f"{table}.float()" for table in tables]
    arguments = inputs + tables + [f'style="{rotation.arithmetic.style}"']
    first = f"{rotated} = " + format_call(OP, arguments, indent, len(indent) + len(rotated) + 3)
    key_back = key if rotation.arithmetic.back_to == "own" else query
    second = f"{file.text(target)} = {rotated}[0].to({query}.dtype), {rotated}[1].to({key_back}.dtype)"
    return [file.replace(statement, f"{first}\n{indent}{second}")]
