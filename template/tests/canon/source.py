"""Reads the connector's source: which function calls which, by name, and what it names on the way.

By name alone, so a call may be followed to a function it never reaches. A gate built on this asks for too much rather
than too little.
"""

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import FunctionTool

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """The modules of a package."""

    modules: Mapping[Path, ast.Module]

    @classmethod
    @cache
    def of(cls, folder: Path) -> "Source":
        """Read every module below a folder, once."""
        found = {path: ast.parse(path.read_text(encoding="utf-8")) for path in modules_below(folder)}
        assert found, f"No Python module below {folder.name}: nothing was examined."
        return cls(found)

    @cached_property
    def functions(self) -> Mapping[str, Sequence[Function]]:
        """Every function and method, by name; a class stands for its `__init__` and `__post_init__`."""
        found: dict[str, list[Function]] = {}
        for module in self.modules.values():
            for node in ast.walk(module):
                if isinstance(node, Function):
                    found.setdefault(node.name, []).append(node)
                elif isinstance(node, ast.ClassDef):
                    made = [part for part in node.body if isinstance(part, Function) and part.name in CONSTRUCTION]
                    found.setdefault(node.name, []).extend(made)
        return found

    @cached_property
    def tables(self) -> Mapping[str, ast.Dict]:
        """Every mapping that a module holds under a name."""
        found: dict[str, ast.Dict] = {}
        for module in self.modules.values():
            for node in module.body:
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                value = getattr(node, "value", None)
                found |= {
                    part.id: value for part in targets if isinstance(part, ast.Name) and isinstance(value, ast.Dict)
                }
        return found

    def reached_from(self, start: Function) -> Iterator[Function]:
        """Yield a function and all that it may call, directly or through others."""
        seen: set[int] = set()
        waiting = [start]
        while waiting:
            function = waiting.pop()
            if id(function) in seen:
                continue
            seen.add(id(function))
            yield function
            for name in called(function):
                waiting.extend(self.functions.get(name, ()))


NOT_OURS = {"build", "dist", "node_modules", "site-packages", "test", "tests", "venv"}
"""Folders that hold what the connector is not made of. So do those whose name begins with a dot."""


def modules_below(folder: Path) -> Iterator[Path]:
    """Return the Python files that a connector is made of, in order."""
    return (path for path in sorted(folder.rglob("*.py")) if is_ours(path, folder))


def is_ours(path: Path, folder: Path) -> bool:
    """Tell whether a file below a folder belongs to the connector."""
    return not any(part in NOT_OURS or part.startswith(".") for part in path.relative_to(folder).parts[:-1])


CONSTRUCTION = ("__init__", "__post_init__")


@cache
def called(function: Function) -> frozenset[str]:
    """Return the names that a function calls."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            target = node.func
            if isinstance(target, ast.Attribute):
                names.add(target.attr)
            elif isinstance(target, ast.Name):
                names.add(target.id)
    return frozenset(names)


def codes_given(functions: Iterable[Function], source: Source) -> set[str]:
    """Return the members of `Code`, lower-case, that functions hand on: in a call, or in a table that they look up."""
    codes = set()
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                codes |= {code for argument in node.args for code in _members(argument)}
                codes |= {code for keyword in node.keywords for code in _members(keyword.value)}
            elif isinstance(node, ast.Return) and node.value is not None:
                codes |= _members(node.value)
            elif isinstance(node, ast.Name) and node.id in source.tables:
                codes |= _members(source.tables[node.id])
    return codes


def _members(node: ast.AST) -> set[str]:
    return {
        part.attr.lower()
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "Code"
    }


async def tool_functions(mcp: FastMCP) -> Mapping[str, Callable[..., Any]]:
    """Return the Python function behind each registered tool."""
    tools = await mcp.list_tools()
    found = {tool.name: inspect.unwrap(tool.fn) for tool in tools if isinstance(tool, FunctionTool)}
    assert found, "The server lists no tool: nothing was examined."
    missing = sorted({tool.name for tool in tools} - set(found))
    assert not missing, f"No source can be read for {', '.join(missing)}."
    return found


def definition_of(function: Callable[..., Any], source: Source) -> Function:
    """Return the syntax of a function, found by file and line."""
    path, line = Path(inspect.getfile(function)).resolve(), function.__code__.co_firstlineno
    for candidate in source.functions.get(function.__name__, ()):
        start = min([candidate.lineno, *(decorator.lineno for decorator in candidate.decorator_list)])
        if start <= line <= (candidate.end_lineno or start) and _within(candidate, path, source):
            return candidate
    raise AssertionError(f"The source of {function.__name__} is not below the package: it cannot be examined.")


def _within(function: Function, path: Path, source: Source) -> bool:
    module = next((module for known, module in source.modules.items() if known.resolve() == path), None)
    return module is not None and any(node is function for node in ast.walk(module))
