"""One Python file as bytes and syntax tree, edited by byte ranges so that everything outside an edit keeps its form."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from .refusal import Refusal


@dataclass(frozen=True, order=True)
class Edit:
    """Bytes [start, end) of the file become `text`."""

    start: int
    end: int
    text: str


@dataclass
class SourceFile:
    path: Path
    data: bytes
    tree: ast.Module
    line_starts: list[int] = field(default_factory=list)

    @staticmethod
    def read(path: Path) -> "SourceFile":
        """Raises Refusal when the file cannot be read as UTF-8 Python."""
        try:
            data = path.read_bytes()
            tree = ast.parse(data.decode("utf-8"), filename=str(path))
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            raise Refusal(f"the source of {path.name} cannot be read: {error}") from error
        if b"\r" in data:
            raise Refusal(f"{path.name} has carriage returns at its line ends, which the edits do not keep")
        starts = [0]
        for line in data.split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        return SourceFile(path, data, tree, starts)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a syntax tree position (lines from 1, columns in UTF-8 bytes)."""
        return self.line_starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode("utf-8")

    def lines(self, first: int, last: int) -> str:
        """Lines first..last (from 1, inclusive) with their line ends."""
        return self.data[self.line_starts[first - 1] : self.line_starts[last]].decode("utf-8")

    def indent(self, node: ast.stmt) -> str:
        """The white space before a statement; refuses one that shares its line with something else."""
        prefix = self.data[self.line_starts[node.lineno - 1] : self.offset(node.lineno, node.col_offset)].decode("utf-8")
        if prefix.strip():
            raise Refusal(f"the statement at {self.where(node)} shares its line with another")
        return prefix

    def whole_lines(self, node: ast.stmt) -> tuple[int, int]:
        """Byte range of the lines of a statement that has them for itself (a comment at their end goes with them)."""
        self.indent(node)
        start, end = self.line_starts[node.lineno - 1], self.line_starts[node.end_lineno]
        rest = self.data[self.offset(node.end_lineno, node.end_col_offset) : end].decode("utf-8").strip()
        if rest and not rest.startswith("#"):
            raise Refusal(f"the statement at {self.where(node)} shares its line with another")
        return start, min(end, len(self.data))

    def line_indent(self, node: ast.AST) -> str:
        """The white space at the start of the line that `node` begins on."""
        line = self.lines(node.lineno, node.lineno).rstrip("\n")
        return line[: len(line) - len(line.lstrip())]

    def outside_columns(self, node: ast.AST) -> int:
        """Columns of the text that stands before and behind `node` on its first and last line."""
        behind = len(self.lines(node.end_lineno, node.end_lineno).encode("utf-8").rstrip(b"\n")) - node.end_col_offset
        return node.col_offset + behind

    def where(self, node: ast.AST) -> str:
        return f"{self.path.name}:{node.lineno}"

    def replace(self, node: ast.AST, text: str) -> Edit:
        start, end = self.span(node)
        return Edit(start, end, text)

    def delete_lines(self, node: ast.stmt) -> Edit:
        start, end = self.whole_lines(node)
        return Edit(start, end, "")

    def insert_before(self, node: ast.stmt, text: str) -> Edit:
        """A new statement on the lines before `node`, at its indentation."""
        indent = self.indent(node)
        start = self.line_starts[node.lineno - 1]
        return Edit(start, start, "".join(f"{indent}{line}\n" for line in text.split("\n")))


def apply_edits(data: bytes, edits: list[Edit], offset: int = 0) -> bytes:
    """`data` (which begins at byte `offset` of the file) with all edits made. Edits must not overlap."""
    for edit in sorted(edits, reverse=True):
        start, end = edit.start - offset, edit.end - offset
        data = data[:start] + edit.text.encode("utf-8") + data[end:]
    return data


def close_gaps(data: bytes, edits: list[Edit]) -> list[Edit]:
    """Where deleted lines leave a blank line on both sides, takes one of the two away."""
    result: list[Edit] = []
    for edit in sorted(edits):
        if result and result[-1].end == edit.start and not result[-1].text and not edit.text:
            edit = Edit(result.pop().start, edit.end, "")  # neighbours leave one gap
        result.append(edit)
    return [Edit(edit.start, edit.end + 1, "") if _leaves_gap(data, edit) else edit for edit in result]


def _leaves_gap(data: bytes, edit: Edit) -> bool:
    whole_lines = not edit.text and data[edit.start - 1 : edit.start] == b"\n" and data[edit.end - 1 : edit.end] == b"\n"
    return whole_lines and data[edit.start - 2 : edit.start] == b"\n\n" and data[edit.end : edit.end + 1] == b"\n"


def overlap(edits: list[Edit]) -> bool:
    ordered = sorted(edits)
    return any(after.start < before.end or (after.start == before.start and after.end > after.start)
               for before, after in zip(ordered, ordered[1:]))


def format_call(function: str, arguments: list[str], indent: str, used_columns: int, columns: int = 119) -> str:
    """`function(arguments)`, one argument a line where it does not fit beside `used_columns` of other text on its line."""
    one_line = f"{function}({', '.join(arguments)})"
    if used_columns + len(one_line) <= columns:
        return one_line
    return f"{function}(\n" + "".join(f"{indent}    {argument},\n" for argument in arguments) + f"{indent})"
