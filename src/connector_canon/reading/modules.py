"""One parsed Python file: its scopes, calls, definitions and imports, gathered in a single pass."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Node = TypeVar("Node", bound=ast.AST)
BINDING: frozenset[type[ast.AST]] = frozenset(
    {
        ast.AnnAssign, ast.Assign, ast.AsyncFor, ast.AsyncFunctionDef, ast.AsyncWith, ast.AugAssign, ast.Call,
        ast.ClassDef, ast.ExceptHandler, ast.For, ast.FunctionDef, ast.If, ast.Import, ast.ImportFrom, ast.NamedExpr,
        ast.With, ast.comprehension,
    }
)  # fmt: skip
WITHOUT_CONTENT: frozenset[type[ast.AST]] = frozenset({ast.Load, ast.Store, ast.Del})
LEAVES: frozenset[type[ast.AST]] = frozenset({ast.Constant, ast.Name, ast.alias})
LONG_LINE = re.compile(r"[^\n]{20001}")


@dataclass(eq=False, slots=True)
class Scope:
    """A module, class or function body and the names bound in it."""

    node: ast.Module | Definition | ast.Lambda | None
    parent: Scope | None = None
    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    loops: dict[str, tuple[ast.expr, ast.expr]] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    star_imports: list[str] = field(default_factory=list)
    located: dict[str, tuple[ast.expr, Module, Scope]] = field(default_factory=dict)

    def parameter(self, name: str) -> ast.arg | None:
        """Return the function's parameter of that name."""
        if not isinstance(self.node, Function):
            return None
        arguments = self.node.args
        return next(
            (a for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if a.arg == name), None
        )


@dataclass(frozen=True, slots=True)
class Where:
    """What surrounds a node: its scope, whether a condition decides, the loops around it."""

    scope: Scope
    conditional: bool = False
    loops: tuple[ast.For | ast.AsyncFor, ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """A call where it stands."""

    call: ast.Call
    module: Module
    scope: Scope
    conditional: bool
    loops: tuple[ast.For | ast.AsyncFor, ...]


@dataclass(frozen=True, slots=True)
class Defined:
    """A function or class where it is defined."""

    node: Definition
    module: Module
    scope: Scope
    conditional: bool


@dataclass(eq=False, slots=True)
class Module:
    """A Python file that was read and parsed."""

    path: Path
    shown: str
    parts: tuple[str, ...]
    text: str
    is_test: bool
    tree: ast.Module | None = None
    error: str | None = None
    scope: Scope = field(default_factory=lambda: Scope(None))
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)
    calls: list[Site] = field(default_factory=list)
    definitions: list[Defined] = field(default_factory=list)
    by_type: dict[type[ast.AST], list[ast.AST]] = field(default_factory=dict)
    attribute_values: dict[tuple[str, str], list[tuple[ast.expr, Scope]]] = field(default_factory=dict)
    _strings: list[tuple[str, int]] | None = None
    _lines: list[str] | None = None

    @property
    def package(self) -> tuple[str, ...]:
        """The dotted parts that a relative import starts from."""
        return self.parts if self.path.name == "__init__.py" else self.parts[:-1]

    def mentions(self, *words: str) -> bool:
        """Whether any of the words stands anywhere in the text; a cheap look before parsing."""
        return any(word in self.text for word in words)

    def lines_of(self, node: Definition) -> list[str]:
        """Return the lines a function or class is written in."""
        if self._lines is None:
            self._lines = self.text.splitlines()
        return self._lines[node.lineno - 1 : node.end_lineno]

    def parsed(self) -> Module:
        """Parse and index once; a file that cannot be parsed has an empty tree and an error."""
        if self.tree is None:
            try:
                if LONG_LINE.search(self.text):
                    raise ValueError("a line is longer than code written by people")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self.tree = ast.parse(self.text)
                self._index()
            except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
                self.tree = ast.Module(body=[], type_ignores=[])
                self.error = python_2_or(self.text, fault)
        return self

    def nodes(self, *types: type[Node]) -> Iterator[Node]:
        """Yield the module's nodes of some types, type by type, each in the order of the text."""
        self.parsed()
        for wanted in types:
            for node in self.by_type.get(wanted, ()):
                assert isinstance(node, wanted)
                yield node

    def collections(self) -> list[ast.Set | ast.Tuple | ast.List]:
        """Return the written-out sets, tuples and lists."""
        return [*self.nodes(ast.Set), *self.nodes(ast.Tuple), *self.nodes(ast.List)]

    def strings(self) -> list[tuple[str, int]]:
        """Return the string constants that are code (no docstrings, no bare literals) with their lines."""
        if self._strings is None:
            bare = {id(node.value) for node in self.nodes(ast.Expr)}
            self._strings = [
                (node.value, node.lineno)
                for node in self.nodes(ast.Constant)
                if isinstance(node.value, str) and id(node) not in bare
            ]
        return self._strings

    def _index(self) -> None:
        assert self.tree is not None
        self.scope = Scope(self.tree)
        stack: list[tuple[ast.AST, Where]] = [(child, Where(self.scope)) for child in reversed(self.tree.body)]
        while stack:
            node, where = stack.pop()
            kind = type(node)
            self.by_type.setdefault(kind, []).append(node)
            if kind in LEAVES:
                continue
            inside = self._take_in(node, where) if kind in BINDING else where
            for name in reversed(node._fields):
                value = getattr(node, name, None)
                # Decorators are evaluated where the definition stands, not in its body.
                around = where if name == "decorator_list" else inside
                if isinstance(value, list):
                    stack += [(item, around) for item in reversed(value) if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST) and type(value) not in WITHOUT_CONTENT:
                    stack.append((value, around))

    def _take_in(self, node: ast.AST, where: Where) -> Where:
        """Note what a node binds or calls, and return where its children stand."""
        scope = where.scope
        match node:
            case ast.Call():
                self.calls.append(Site(node, self, scope, where.conditional, where.loops))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                scope.definitions[node.name] = node
                self.definitions.append(Defined(node, self, scope, where.conditional))
                self.scopes[node] = Scope(node, scope)
                return Where(self.scopes[node], False, where.loops)
            case ast.Import():
                for alias in node.names:
                    head = alias.name.split(".", 1)[0]
                    scope.imports[alias.asname or head] = alias.name if alias.asname else head
            case ast.ImportFrom():
                origin = self._origin(node)
                for alias in node.names:
                    if alias.name == "*":
                        scope.star_imports.append(origin)
                    else:
                        scope.imports[alias.asname or alias.name] = f"{origin}.{alias.name}"
            case ast.Assign():
                for target in node.targets:
                    self._bind(target, node.value, scope)
            case ast.AnnAssign() | ast.NamedExpr() | ast.AugAssign() if node.value is not None:
                self._bind(node.target, node.value, scope)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, item.context_expr, scope)
            case ast.For() | ast.AsyncFor():
                for name in ast.walk(node.target):
                    if isinstance(name, ast.Name):
                        scope.loops[name.id] = (node.target, node.iter)
                return Where(scope, where.conditional, (*where.loops, node))
            case ast.comprehension():
                for name in ast.walk(node.target):
                    if isinstance(name, ast.Name):
                        scope.loops.setdefault(name.id, (node.target, node.iter))
            case ast.If() if not is_main_guard(node):
                return Where(scope, True, where.loops)
            case ast.ExceptHandler():
                return Where(scope, True, where.loops)
        return where

    def _origin(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        base = self.package[: len(self.package) - node.level + 1]
        return ".".join(("", *base, *((node.module,) if node.module else ())))

    def _bind(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        match target:
            case ast.Name():
                scope.values.setdefault(target.id, []).append(value)
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                holder: Scope | None = scope
                while holder is not None and not isinstance(holder.node, ast.ClassDef):
                    holder = holder.parent
                if holder is not None and isinstance(holder.node, ast.ClassDef):
                    self.attribute_values.setdefault((holder.node.name, target.attr), []).append((value, scope))
            case ast.Attribute(value=ast.Name(id=name)):
                self.attribute_values.setdefault((name, target.attr), []).append((value, scope))
            case ast.Tuple() | ast.List():
                values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
                for place, element in zip(target.elts, values, strict=False):
                    self._bind(place, element, scope)


def is_main_guard(node: ast.If) -> bool:
    """Whether this is `if __name__ == …` or `if TYPE_CHECKING`, which decide nothing about what is registered."""
    return any(isinstance(name, ast.Name) and name.id in {"__name__", "TYPE_CHECKING"} for name in ast.walk(node.test))


def python_2_or(text: str, fault: BaseException) -> str:
    """Say why a file cannot be parsed, naming Python 2 where its print statement gives it away."""
    if re.search(r"^\s*print\s+[\"'\w]|^\s*except\s+\w+\s*,\s*\w+\s*:|^\s*exec\s+[\"']", text, re.MULTILINE):
        return "it is Python 2"
    if isinstance(fault, SyntaxError):
        return f"a syntax error in line {fault.lineno or 0}"
    return str(fault) or type(fault).__name__
