"""Guards live below the tool: a refusal from there surfaces, whatever tool it was."""

from itertools import product
from typing import Any

from fastmcp import Client

from .clients import some_arguments
from .hostile import HostileProvider
from .subject import Subject, errors


async def test_no_tool_swallows_a_refusal(subject: Subject) -> None:
    asked: list[errors.Code] = []

    def refuse() -> Any:
        asked.append(code)
        raise errors.ConnectorError(code, retryable=False)

    mcp = subject.build(lambda: HostileProvider(refuse))
    tools = await mcp.list_tools()
    codes = [code for code in errors.Code if code is not errors.Code.PARTIAL_RESULT]
    async with Client(mcp) as client:
        for code, tool in product(codes, tools):
            before = len(asked)
            result = await client.call_tool(tool.name, some_arguments(tool.parameters), raise_on_error=False)
            if len(asked) > before:
                content = result.structured_content or {}
                assert (content["status"], content["code"]) == ("failed", code), f"{tool.name} hides a refusal."
                assert content["data"] is None
    assert {*asked} == {*codes}, "No tool asked its provider: nothing was examined."
