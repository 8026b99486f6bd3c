"""Elements 1 and 2: the instructions orchestrate, and do not drift from the server in either direction."""

import re
from collections.abc import Iterator

import pytest
from fastmcp import Client, FastMCP

from .clients import ERAS, Era
from .source import Source, called, codes_given, definition_of, tool_functions
from .subject import CODE, Subject, configuration, errors, instructions

TOKEN = re.compile(r"[A-Za-z0-9_-]+")
QUOTED = re.compile(r"`([^`\n]+)`")
CALLED = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)\(")
NAMED_BY_THE_BOUNDARY = {"invalid_input", "upstream_unavailable"}
"""Codes that any tool can leave with, whatever its own source says."""


async def read_instructions(mcp: FastMCP) -> str:
    async with Client(mcp) as client:
        text: str | None = client.instructions
    assert text, "The server sends no instructions."
    return text


async def tool_names(mcp: FastMCP) -> set[str]:
    names = {tool.name for tool in await mcp.list_tools()}
    assert names, "The server lists no tool: nothing was examined."
    return names


def names_in(text: str) -> set[str]:
    """Return the words that are names and not prose: quoted as code, written as a call, or with an underscore."""
    quoted = {name for code in QUOTED.findall(text) for name in TOKEN.findall(code.partition("(")[0])}
    return quoted | set(CALLED.findall(text)) | {word for word in TOKEN.findall(text) if "_" in word.strip("_")}


async def known_words(mcp: FastMCP) -> set[str]:
    """Names of something other than a tool: codes, arguments and fields."""
    words = {str(code) for code in errors.Code}
    for tool in await mcp.list_tools():
        words |= set(tool.parameters.get("properties", {}))
        words |= set(_properties(tool.output_schema or {}))
    return words


def _properties(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties", {})
        yield from properties if isinstance(properties, dict) else ()
        for part in schema.values():
            yield from _properties(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _properties(part)


async def test_instructions_name_no_tool_that_is_not_there(subject: Subject) -> None:
    mcp = subject.build()
    text, tools = await read_instructions(mcp), await tool_names(mcp)
    assert tools & names_in(text), "The instructions name no tool at all."
    ghosts = names_in(text) - tools - await known_words(mcp)
    assert not ghosts, f"The instructions name what is not there: {sorted(ghosts)}."


async def test_instructions_leave_the_codes_to_the_descriptions(subject: Subject) -> None:
    found = names_in(await read_instructions(subject.build())) & {str(code) for code in errors.Code}
    assert not found, f"The instructions list {sorted(found)}: the description of each tool does."


async def test_instructions_name_every_tool(subject: Subject) -> None:
    mcp = subject.build()
    named = set(TOKEN.findall(await read_instructions(mcp)))
    missing = await tool_names(mcp) - named
    assert not missing, f"The instructions never name {sorted(missing)}: no model will call it."


async def test_every_code_that_a_tool_can_return_stands_in_its_description(subject: Subject) -> None:
    mcp = subject.build()
    source = Source.of(CODE)
    functions = await tool_functions(mcp)
    descriptions = {tool.name: tool.description or "" for tool in await mcp.list_tools()}
    for name, function in functions.items():
        reached = list(source.reached_from(definition_of(function, source)))
        codes = codes_given(reached, source) | NAMED_BY_THE_BOUNDARY
        if any("degraded" in called(part) for part in reached):
            codes.add("partial_result")
        missing = codes - set(TOKEN.findall(descriptions[name]))
        assert not missing, f"{name} can return {sorted(missing)}, and its description does not say so."


async def test_descriptions_name_no_code_that_does_not_exist(subject: Subject) -> None:
    mcp = subject.build()
    known = await known_words(mcp) | await tool_names(mcp)
    for tool in await mcp.list_tools():
        ghosts = names_in(tool.description or "") - known
        assert not ghosts, f"{tool.name} names {sorted(ghosts)}, which is no code, tool or field."


async def test_what_a_client_reads_first_is_within_its_limits(subject: Subject) -> None:
    mcp = subject.build()
    text = await read_instructions(mcp)
    assert len(text.encode()) <= instructions.BYTE_LIMIT
    for tool in await mcp.list_tools():
        assert len((tool.description or "").encode()) <= instructions.BYTE_LIMIT, tool.name


async def test_the_opening_stands_alone(subject: Subject) -> None:
    opening = (await read_instructions(subject.build()))[: instructions.OPENING]
    for needed in ("API", "ok", "degraded", "failed"):
        assert needed in TOKEN.findall(opening), f"The first {instructions.OPENING} characters do not say {needed}."


@pytest.mark.parametrize("era", ERAS)
async def test_both_eras_receive_the_instructions(subject: Subject, era: Era) -> None:
    async with Client(subject.build(), mode=era) as client:
        assert client.instructions


def test_text_that_is_too_long_is_refused_and_not_cut() -> None:
    limit = "ż" * (instructions.BYTE_LIMIT // 2)
    assert instructions.checked_text("The text", limit) == limit
    with pytest.raises(configuration.ConfigurationError, match="has 2050 bytes and clients read 2048"):
        instructions.checked_text("The text", limit + "ż")
