"""Element 5: title and four hints on every tool, and reads that only read."""

import ast
from collections.abc import Iterator

from .source import Function, Source, called, definition_of, tool_functions
from .subject import CODE, Subject

HINTS = ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")
CHANGES = {
    "delete",
    "executemany",
    "executescript",
    "patch",
    "post",
    "put",
    "rename",
    "store",
    "unlink",
    "write_bytes",
    "write_text",
}
"""Names of calls that change something: HTTP methods, files, stores."""
CHANGING_METHODS = {"DELETE", "PATCH", "POST", "PUT"}
"""HTTP methods that change something, where a call is given one as text."""


async def test_every_tool_has_a_title_and_four_hints(subject: Subject) -> None:
    tools = await subject.build().list_tools()
    assert tools, "The server lists no tool: nothing was examined."
    for tool in tools:
        assert tool.annotations is not None, f"{tool.name} has no hints."
        assert tool.annotations.title, f"{tool.name} has no title."
        for hint in HINTS:
            assert isinstance(getattr(tool.annotations, hint), bool), f"{tool.name} does not say {hint}."
        if tool.annotations.read_only_hint:
            assert not tool.annotations.destructive_hint, f"{tool.name} reads only, so it destroys nothing."
            assert tool.annotations.idempotent_hint, f"{tool.name} reads only, so it can be repeated."


async def test_a_tool_that_reads_reaches_nothing_that_changes(subject: Subject) -> None:
    mcp = subject.build()
    capability = Source.of(CODE)
    functions = await tool_functions(mcp)
    for tool in await mcp.list_tools():
        if tool.annotations is not None and tool.annotations.read_only_hint:
            reached = capability.reached_from(definition_of(functions[tool.name], capability))
            changes = _changes(reached)
            assert not changes, f"{tool.name} says that it only reads, and reaches {sorted(changes)}."


def _changes(functions: Iterator[Function]) -> set[str]:
    return {
        f"{name} in {function.name}"
        for function in functions
        for name in (called(function) & CHANGES) | (_texts_given(function) & CHANGING_METHODS)
    }


def _texts_given(function: Function) -> set[str]:
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    given = [value for call in calls for value in (*call.args, *(keyword.value for keyword in call.keywords))]
    return {value.value for value in given if isinstance(value, ast.Constant) and isinstance(value.value, str)}
