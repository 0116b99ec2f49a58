"""The text of a rewritten forward: a runnable file of its own, and a unified diff against the real file."""

from __future__ import annotations

import ast
import builtins
import difflib
import importlib.util
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from .forward import Forward
from .refusal import Refusal
from .rewrite import Merge
from .source_file import Edit, apply_edits, close_gaps


@dataclass(frozen=True)
class Rendered:
    source: str
    diff: str
    added: int
    removed: int


def render(forward: Forward, edits: list[Edit], patterns: list[str], merges: list[Merge], sizes: list[list[int]]) -> Rendered:
    """`sizes` are those of one instance, shown as an example. Refuses when the new function needs a name that has no import."""
    before = forward.file.data.decode("utf-8")
    after = apply_edits(forward.file.data, close_gaps(forward.file.data, edits)).decode("utf-8")
    tree = ast.parse(after)
    function = _find(tree, forward)
    notes = _notes(forward, patterns, merges, sizes)
    body = _dedented(after, function)
    how = ["Bind all sources of this folder to a model: workbench_tracer.source_form.bind(model, folder)."]
    source = "".join(f"# {line}\n" for line in notes + how) + "\n" + _future(tree) + _imports(forward, tree, function) + "\n\n" + body
    diff, added, removed = _diff(forward, before, after)
    return Rendered(source, "".join(f"{line}\n" for line in notes) + diff, added, removed)


def _find(tree: ast.Module, forward: Forward) -> ast.FunctionDef:
    body: list[ast.stmt] = tree.body
    for part in forward.owner.__qualname__.split("."):
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == part)
    return next(node for node in body if isinstance(node, ast.FunctionDef) and node.name == "forward")


def _notes(forward: Forward, patterns: list[str], merges: list[Merge], sizes: list[list[int]]) -> list[str]:
    package = forward.owner.__module__.split(".")[0]
    try:
        origin = f"{package} {version(package)}"
    except PackageNotFoundError:
        origin = package
    notes = [f"{forward.name}, rewritten by Fusion Workbench: {', '.join(patterns)}.",
             f"From {forward.relative_path()}:{forward.node.lineno} ({origin}).",
             "The ops torch.ops.workbench.* come from the package workbench_ops, which must be imported."]
    for merge, rows in zip(merges, sizes):
        weights = ", ".join(f"{child}.weight" for child in merge.children)
        notes.append(f"self.{merge.name} is one torch.nn.Linear with weight torch.cat([{weights}]) (biases alike); it replaces "
                     "these layers.")
        if merge.sizes_attribute:
            notes.append(f"self.{merge.sizes_attribute} holds the rows of each, for example {tuple(rows)}.")
    return notes


def _dedented(text: str, function: ast.FunctionDef) -> str:
    """The function at column 0. Strings that span lines keep theirs, for their text is part of the program."""
    first = min([function.lineno] + [decorator.lineno for decorator in function.decorator_list])
    lines = text.split("\n")[first - 1 : function.end_lineno]
    indent = " " * function.col_offset
    docstring = function.body[0].value if isinstance(function.body[0], ast.Expr) else None
    kept: set[int] = set()
    for node in ast.walk(function):
        is_text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        if is_text and node is not docstring:
            kept |= set(range(node.lineno + 1, node.end_lineno + 1))
    return "".join(f"{line if first + number in kept else line.removeprefix(indent)}\n" for number, line in enumerate(lines))


def _future(tree: ast.Module) -> str:
    names = [alias.name for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"
             for alias in node.names]
    return f"from __future__ import {', '.join(names)}\n\n" if names else ""


def _imports(forward: Forward, tree: ast.Module, function: ast.FunctionDef) -> str:
    bound = {argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)}
    bound |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    plain: set[str] = {"import torch"}
    by_module: dict[str, set[str]] = {}
    for name in sorted(used - bound - {"torch"}):
        if name not in vars(forward.module) and hasattr(builtins, name):
            continue
        statement = _top_level_import(forward, tree, name)
        if isinstance(statement, str):
            plain.add(statement)
        else:
            by_module.setdefault(statement[0], set()).add(statement[1])
    lines = sorted(plain) + [_from_import(module, sorted(names)) for module, names in sorted(by_module.items())]
    return "\n".join([*lines, "", "import workbench_ops  # noqa: F401  (registers torch.ops.workbench)"]) + "\n"


def _from_import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= 119 else f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def _top_level_import(forward: Forward, tree: ast.Module, name: str) -> str | tuple[str, str]:
    """A whole `import` statement, or (module, what to import) for a name that the file imports or defines."""
    for node in tree.body:
        for alias in getattr(node, "names", []) if isinstance(node, (ast.Import, ast.ImportFrom)) else []:
            if (alias.asname or alias.name.split(".")[0]) != name:
                continue
            renamed = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
            if isinstance(node, ast.Import):
                return f"import {renamed}"
            dots = "." * node.level + (node.module or "")
            return (importlib.util.resolve_name(dots, forward.module.__package__) if node.level else dots), renamed
    if name not in vars(forward.module):
        raise Refusal(f"{forward.name} uses the name {name}, which {forward.file.path.name} does not define")
    return forward.module.__name__, name


def _diff(forward: Forward, before: str, after: str) -> tuple[str, int, int]:
    path = forward.relative_path()
    lines = list(difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"))
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return text, added, removed
