"""Questions about one function's syntax tree: where is a name read, what runs between two statements, what may write."""

from __future__ import annotations

import ast
from typing import Iterator

from .refusal import Refusal
from .source_file import SourceFile

# A node below one of these may run never or more than once when its statement runs once.
_CONDITIONAL = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_READ_ONLY_ATTRIBUTES = frozenset({"shape", "dtype", "device", "ndim", "size", "dim", "is_cuda"})


class Function:
    """A function definition with parent links. Positions in messages are `file:line`."""

    def __init__(self, file: SourceFile, node: ast.FunctionDef) -> None:
        self.file = file
        self.node = node
        self._parents: dict[ast.AST, ast.AST] = {}
        for parent in ast.walk(node):
            for child in ast.iter_child_nodes(parent):
                self._parents[child] = parent

    def where(self, node: ast.AST) -> str:
        return self.file.where(node)

    def parent(self, node: ast.AST) -> ast.AST:
        return self._parents[node]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while node is not self.node:
            node = self._parents[node]
            yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds `node`."""
        while not isinstance(node, ast.stmt):
            node = self._parents[node]
        return node

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that `statement` stands in."""
        parent = self._parents[statement]
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        raise Refusal(f"the statement at {self.where(statement)} stands in no plain block")

    @property
    def parameters(self) -> list[str]:
        arguments = self.node.args
        names = [argument.arg for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
        return names + [extra.arg for extra in (arguments.vararg, arguments.kwarg) if extra is not None]

    def names(self) -> set[str]:
        """Every name that the function mentions, its parameters included."""
        found = {node.id for node in ast.walk(self.node) if isinstance(node, ast.Name)}
        return found | {node.arg for node in ast.walk(self.node) if isinstance(node, ast.arg)}

    def free_names(self, candidates: list[tuple[str, ...]]) -> tuple[str, ...]:
        """The first tuple none of whose names the function uses."""
        used = self.names()
        for names in candidates:
            if used.isdisjoint(names):
                return names
        raise Refusal(f"the names {', '.join(candidates[-1])} that the new lines need are in use in {self.node.name}")

    def self_attributes(self, name: str) -> list[ast.Attribute]:
        return [node for node in ast.walk(self.node) if is_self_attribute(node, name)]

    def self_call(self, name: str) -> ast.Call:
        """The one call `self.<name>(argument)`; refuses any other use of `self.<name>` in the function."""
        uses = self.self_attributes(name)
        if not uses:
            raise Refusal(f"self.{name} does not occur in {self.node.name} ({self.where(self.node)})")
        if len(uses) > 1:
            lines = " and ".join(self.where(use) for use in uses)
            raise Refusal(f"self.{name} is used {len(uses)} times, at {lines}; merging needs a single call")
        call = self._parents[uses[0]]
        if not isinstance(call, ast.Call) or call.func is not uses[0]:
            raise Refusal(f"self.{name} is used otherwise than in a call at {self.where(uses[0])}")
        if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
            raise Refusal(f"self.{name} is not called with exactly one plain argument at {self.where(call)}")
        return call

    def require_runs_once(self, node: ast.AST) -> None:
        """Refuses a node that may run never or twice while its statement runs once, or that sits in a loop or nested function."""
        statement = self.statement(node)
        for ancestor in self.ancestors(node):
            inside = ancestor is not statement and not isinstance(ancestor, ast.stmt)
            if inside and isinstance(ancestor, _CONDITIONAL):
                raise Refusal(f"the expression at {self.where(node)} runs only under a condition or repeatedly")
            if isinstance(ancestor, _LOOPS):
                raise Refusal(f"the statement at {self.where(node)} stands in a loop")
            if isinstance(ancestor, (ast.Try, ast.Match)):
                raise Refusal(f"the statement at {self.where(node)} stands in a try or match block")
            if isinstance(ancestor, _SCOPES) and ancestor is not self.node:
                raise Refusal(f"the expression at {self.where(node)} stands in a nested function")
        if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)):
            raise Refusal(f"the expression at {self.where(node)} does not stand in a plain assignment or return")

    def common_block(self, nodes: list[ast.AST]) -> tuple[list[ast.stmt], int, int]:
        """The block that holds the statements of all nodes, and the first and last index; refuses different branches."""
        statements = [self.statement(node) for node in nodes]
        block = self.block(statements[0])
        if any(statement not in block for statement in statements):
            raise Refusal("the calls at " + ", ".join(self.where(node) for node in nodes) + " stand in different branches")
        indices = [block.index(statement) for statement in statements]
        return block, min(indices), max(indices)

    def guard(self, node: ast.AST) -> str:
        """`name` when the node runs only if `self.<name>` is true (the innermost such `if`), else empty."""
        child = node
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, ast.If) and child in ancestor.body and isinstance(ancestor.test, ast.Attribute):
                if is_self_attribute(ancestor.test, ancestor.test.attr):
                    return ancestor.test.attr
            child = ancestor
        return ""

    def require_no_writes(self, statements: list[ast.stmt]) -> None:
        """Refuses any statement that may write to a tensor in place or delete a name. Deliberately over-approximate."""
        for statement in statements:
            for node in ast.walk(statement):
                reason = _write(node)
                if reason:
                    raise Refusal(f"{reason} at {self.where(node)} stands between the calls that would be merged")

    def require_results_unwritten(self, calls: list[ast.Call]) -> None:
        """Nothing in the function writes in place to what the calls return: after a merge they are views of one tensor."""
        names = {node.id for call in calls for node in self._stored_names(self.statement(call))}
        names = set().union(*(self._aliases(name, []) for name in names)) if names else names
        for node in ast.walk(self.node):
            reason = _write(node)
            if reason and any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node)):
                raise Refusal(f"{reason} at {self.where(node)} writes to a projection's value, which would be a view of the merged one")

    def _stored_names(self, statement: ast.stmt) -> list[ast.Name]:
        return [node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]

    def require_stable_input(self, name: str, statements: list[ast.stmt], readers: list[ast.Call]) -> None:
        """In `statements`, `name` is read by `readers` and for its shape alone, and neither it nor an alias of it can change."""
        self.require_no_writes(statements)
        aliases = self._aliases(name, readers)
        allowed = {call.args[0] for call in readers}
        for statement in statements:
            for node in ast.walk(statement):
                if not isinstance(node, ast.Name) or node.id not in aliases or node in allowed:
                    continue
                if isinstance(node.ctx, ast.Store) and node.id == name:
                    raise Refusal(f"the input {name} is rebound at {self.where(node)}, between the calls that would be merged")
                if isinstance(node.ctx, ast.Load) and not self._reads_shape_only(node) and self._reaches_call(node):
                    raise Refusal(f"{node.id} goes into another call at {self.where(node)}, between the calls that would be "
                                  "merged, and that call might write to it")

    def _reads_shape_only(self, name: ast.Name) -> bool:
        parent = self._parents[name]
        return isinstance(parent, ast.Attribute) and parent.attr in _READ_ONLY_ATTRIBUTES

    def _reaches_call(self, node: ast.AST) -> bool:
        return any(isinstance(ancestor, ast.Call) for ancestor in self.ancestors(node) if not isinstance(ancestor, ast.stmt))

    def _aliases(self, name: str, readers: list[ast.Call]) -> set[str]:
        """`name` and every name that may share memory with it: assigned from an expression that mentions one of them."""
        results = {reader.args[0] for reader in readers}
        aliases = {name}
        grown = True
        while grown:
            grown = False
            for statement in ast.walk(self.node):
                if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
                    continue
                mentions = any(isinstance(node, ast.Name) and node.id in aliases and node not in results
                               and not self._reads_shape_only(node) for node in ast.walk(statement.value))
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                new = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
                if mentions and not new <= aliases:
                    aliases |= new
                    grown = True
        return aliases

    def single_target(self, statement: ast.stmt) -> str:
        """`name` of a statement `name = value`, else empty."""
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            return statement.targets[0].id
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
            return statement.target.id
        return ""

    def only_use(self, statement: ast.stmt) -> ast.Name:
        """The one place that reads the value which `name = value` gives, in a later statement of the same block."""
        name = self.single_target(statement)
        block = self.block(statement)
        found: list[ast.Name] = []
        rest = block[block.index(statement) + 1 :]
        for later in rest:
            loads = [node for node in ast.walk(later) if isinstance(node, ast.Name) and node.id == name]
            found += [node for node in loads if isinstance(node.ctx, ast.Load)]
            if any(not isinstance(node.ctx, ast.Load) for node in loads):
                if self.single_target(later) != name and not _plain_tuple_store(later, name):
                    raise Refusal(f"{name} is bound again in a compound statement at {self.where(later)}")
                break
        else:
            if block is not self.node.body:
                end = block[-1].end_lineno
                found += [node for node in ast.walk(self.node) if isinstance(node, ast.Name) and node.id == name
                          and isinstance(node.ctx, ast.Load) and node.lineno > end]
        if len(found) != 1:
            raise Refusal(f"{name} of {self.where(statement)} is read {len(found)} times, not once")
        if self.statement(found[0]) not in rest:
            raise Refusal(f"{name} of {self.where(statement)} is read in another branch at {self.where(found[0])}")
        return found[0]

    def reaching(self, name: str, statement: ast.stmt) -> ast.stmt:
        """The statement `name = value` of the same block whose value `statement` sees in `name`."""
        block = self.block(statement)
        for earlier in reversed(block[: block.index(statement)]):
            stores = [node for node in ast.walk(earlier) if isinstance(node, ast.Name) and node.id == name
                      and not isinstance(node.ctx, ast.Load)]
            if not stores:
                continue
            if self.single_target(earlier) != name:
                raise Refusal(f"{name} is not set by a plain assignment at {self.where(earlier)}")
            return earlier
        raise Refusal(f"{name} of {self.where(statement)} is not set in the same block")


def is_self_attribute(node: ast.AST, name: str) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.value, ast.Name)
            and node.value.id == "self")


def _plain_tuple_store(statement: ast.stmt, name: str) -> bool:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return isinstance(target, ast.Tuple) and any(isinstance(item, ast.Name) and item.id == name for item in target.elts)


def _write(node: ast.AST) -> str:
    """What `node` writes besides plain names, in words; empty when nothing."""
    if isinstance(node, ast.AugAssign):
        return "an augmented assignment (it writes in place)"
    if isinstance(node, ast.NamedExpr):
        return "an assignment inside of an expression"
    if isinstance(node, (ast.Delete, ast.Global, ast.Nonlocal)):
        return "a del, global or nonlocal statement"
    if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
        return "an assignment into a tensor or object"
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_") and not node.func.attr.endswith("__"):
            return f"the in-place call {node.func.attr}"
        if any(keyword.arg in ("out", "inplace") for keyword in node.keywords):
            return "a call with an out or inplace argument"
    if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
        return "a yield or await"
    return ""
