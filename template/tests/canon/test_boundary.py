"""The boundary: one way in, every answer an envelope, whatever happens behind it."""

import asyncio
import json
import re
from itertools import product
from typing import Any

import jsonschema
import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool

from .clients import ERAS, call, everything, some_arguments, text_of
from .hostile import FAILURES, SECRET, HostileProvider
from .subject import Subject, errors, paging, results

ENVELOPE = {"status", "code", "message", "detail", "coverage", "data", "source"}


async def the_first(mcp: FastMCP, *, needs_arguments: bool) -> Any:
    tools = await mcp.list_tools()
    return next(tool for tool in tools if bool(tool.parameters.get("required")) is needs_arguments)


def validator(tool: Tool) -> Any:
    assert tool.output_schema is not None, f"{tool.name} publishes no schema for its result."
    kind = jsonschema.validators.validator_for(tool.output_schema)
    kind.check_schema(tool.output_schema)
    return kind(tool.output_schema)


@pytest.mark.parametrize("era", ERAS)
async def test_every_answer_is_an_envelope_of_its_published_schema(subject: Subject, era: Any) -> None:
    answering: list[Any] = [None]
    seen = set()
    for mcp, providers in (
        (subject.build(), [None]),
        (subject.build(lambda: answering[0]), [None, *map(HostileProvider, FAILURES.values())]),
    ):
        tools = await mcp.list_tools()
        published = {tool.name: validator(tool) for tool in tools}
        async with Client(mcp, mode=era) as client:
            refused = [(providers[0], tool, {"no_such_argument": 1}) for tool in tools]
            taken = [(provider, tool, some_arguments(tool.parameters)) for provider, tool in product(providers, tools)]
            for answering[0], tool, arguments in refused + taken:
                result = await client.call_tool(tool.name, arguments, raise_on_error=False)
                content = result.structured_content
                assert content is not None
                assert set(content) >= ENVELOPE
                published[tool.name].validate(content)
                reason = (content["detail"] or {}).get("reason")
                code = content["code"] and errors.Code(content["code"])
                assert result.is_error is bool(code and errors.is_raised(code, reason))
                seen.add(content["status"])
    assert {"ok", "failed"} <= seen


async def test_text_is_prose_and_structure_is_for_the_agent(subject: Subject) -> None:
    mcp = subject.build()
    for tool in await mcp.list_tools():
        result = await call(mcp, tool.name, some_arguments(tool.parameters))
        text = text_of(result)
        assert text.strip()
        in_json = [line for line in text.splitlines() if line.lstrip().startswith(("{", "[{", '["'))]
        assert not in_json, f"{tool.name} answers people in JSON."
        content = result.structured_content or {}
        if content["status"] == "failed":
            assert text == f"failed [{content['code']}]: {content['message']}"


async def test_resources_are_json_and_nothing_else(subject: Subject) -> None:
    for get_provider in (None, lambda: None, lambda: HostileProvider(FAILURES["exception"])):
        mcp = subject.build(get_provider)
        resources = await mcp.list_resources()
        assert resources, "The server lists no resource: nothing was examined."
        async with Client(mcp) as client:
            for resource in resources:
                assert resource.mime_type == "application/json"
                (content,) = await client.read_resource(resource.uri)
                assert isinstance(json.loads(getattr(content, "text", "")), dict)


async def test_a_wrong_argument_is_named_and_its_value_is_not(subject: Subject) -> None:
    mcp = subject.build()
    tool = await the_first(mcp, needs_arguments=True)
    (name,) = tool.parameters["required"]
    for arguments in ({}, {name: {SECRET: SECRET}}, {name: 1, SECRET: SECRET}):
        result = await call(mcp, tool.name, arguments)
        assert result.is_error
        assert (result.structured_content or {})["code"] == "invalid_input"
        assert SECRET not in everything(result)
    assert name in re.findall(r"\w+", text_of(await call(mcp, tool.name, {})))


async def test_a_tool_that_is_not_there_is_a_wrong_argument(subject: Subject) -> None:
    result = await call(subject.build(), f"no {SECRET}")
    assert result.is_error
    assert (result.structured_content or {})["code"] == "invalid_input"
    assert SECRET not in everything(result)


async def test_a_result_that_is_no_envelope_does_not_leave(subject: Subject) -> None:
    mcp = subject.build()
    found: list[Any] = [{"text": SECRET}, SECRET, [SECRET], None, 7]
    for number, value in enumerate(found):

        @mcp.tool(name=f"careless_{number}")
        async def careless(value: Any = value) -> Any:
            return value

        result = await call(mcp, f"careless_{number}")
        assert (result.structured_content or {})["detail"]["reason"] == "internal"
        assert SECRET not in everything(result)


async def test_a_plain_tool_error_does_not_leave_with_its_text(subject: Subject) -> None:
    mcp = subject.build()

    @mcp.tool(output_schema=None)
    async def careless() -> str:
        raise ToolError(SECRET)

    result = await call(mcp, "careless")
    assert (result.structured_content or {})["code"] == "upstream_unavailable"
    assert SECRET not in everything(result)


@pytest.mark.parametrize("code", [code for code in errors.Code if code is not errors.Code.PARTIAL_RESULT])
async def test_a_code_reaches_the_client_as_it_was_raised(subject: Subject, code: errors.Code) -> None:
    mcp = subject.build()

    @mcp.tool(output_schema=None)
    async def refuses() -> str:
        raise errors.ConnectorError(code, "a sentence", retry_after_seconds=7, retryable=True)

    result = await call(mcp, "refuses")
    content = result.structured_content or {}
    assert (content["status"], content["code"], content["message"]) == ("failed", code, "a sentence")
    assert content["detail"]["retry_after_seconds"] == 7
    assert result.is_error is errors.is_raised(code, None)


async def test_a_list_may_come_as_json_text_and_text_stays_text(subject: Subject) -> None:
    mcp, seen = subject.build(), []

    @mcp.tool
    async def takes(ids: list[str] | None = None, query: str = "") -> results.Answer:
        seen.append((ids, query))
        return results.ok({"n": 1}, "m", source="test")

    for arguments in ({"ids": '["a","b"]'}, {"ids": ["a", "b"]}, {"query": '{"a":1}'}):
        assert not (await call(mcp, "takes", arguments)).is_error
    assert seen == [(["a", "b"], ""), (["a", "b"], ""), (None, '{"a":1}')]
    broken = await call(mcp, "takes", {"ids": '["a"'})
    assert (broken.structured_content or {})["code"] == "invalid_input"


async def test_a_result_that_is_too_large_is_refused(subject: Subject) -> None:
    mcp = subject.build()

    @mcp.tool
    async def floods() -> results.Answer:
        return results.ok({"text": "x" * paging.RESULT_LIMIT}, "m", source="test")

    result = await call(mcp, "floods")
    assert (result.structured_content or {})["detail"]["reason"] == "too_large"


async def test_the_size_of_a_result_is_that_on_the_wire(subject: Subject) -> None:
    mcp = subject.build()

    @mcp.tool
    async def quoting() -> Any:
        return results.ok(None, "m", source="live", listing='"' * 30_000)

    result = await call(mcp, "quoting")
    assert result.structured_content is not None
    assert result.structured_content["detail"]["reason"] == "too_large"


async def test_letters_stay_as_they_are(subject: Subject) -> None:
    mcp = subject.build()
    words = "日本語 café 😀 zażółć"

    @mcp.tool
    async def speaks() -> results.Answer:
        return results.ok({"text": words}, words, source="test")

    result = await call(mcp, "speaks")
    assert words in text_of(result)
    assert (result.structured_content or {})["data"]["text"] == words


async def test_calls_at_once_keep_apart(subject: Subject) -> None:
    mcp = subject.build()
    tool = await the_first(mcp, needs_arguments=False)
    async with Client(mcp) as client:
        answers = await asyncio.gather(*(client.call_tool(tool.name, raise_on_error=False) for _ in range(30)))
    assert len(answers) == len(subject.audit_lines) == 30
    assert len({line["call_id"] for line in subject.audit_lines}) == 30
