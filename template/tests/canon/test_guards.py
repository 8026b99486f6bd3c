"""Guards live below the tool: a refusal from there surfaces, whatever tool it was."""

from typing import Any

import pytest

from .clients import call, some_arguments
from .hostile import HostileProvider
from .subject import Subject, errors


@pytest.mark.parametrize("code", [code for code in errors.Code if code is not errors.Code.PARTIAL_RESULT])
async def test_no_tool_swallows_a_refusal(subject: Subject, code: errors.Code) -> None:
    asked: list[errors.Code] = []

    def refuse() -> Any:
        asked.append(code)
        raise errors.ConnectorError(code, retryable=False)

    mcp = subject.build(lambda: HostileProvider(refuse))
    for tool in await mcp.list_tools():
        before = len(asked)
        result = await call(mcp, tool.name, some_arguments(tool.parameters))
        if len(asked) > before:
            content = result.structured_content or {}
            assert (content["status"], content["code"]) == ("failed", code), f"{tool.name} hides a refusal."
            assert content["data"] is None
    assert asked, "No tool asked its provider: nothing was examined."
