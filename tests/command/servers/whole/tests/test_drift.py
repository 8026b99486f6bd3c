import re
from pathlib import Path

from whole.codes import CODES
from whole.instructions import INSTRUCTIONS
from whole.server import mcp


async def test_the_instructions_name_no_ghost():
    registered = {tool.name for tool in await mcp.list_tools()}
    mentioned = set(re.findall(r"`(\w+)", INSTRUCTIONS))
    assert mentioned
    assert not mentioned - registered


async def test_every_tool_is_named():
    for tool in await mcp.list_tools():
        assert tool.name in INSTRUCTIONS


async def test_codes_are_described():
    for tool in await mcp.list_tools():
        description = tool.description
        for code in CODES:
            if code == "invalid_input":
                assert code in description


def test_codes_are_stable():
    assert CODES == {
        "not_found", "invalid_input", "upstream_unavailable", "rate_limited", "forbidden", "partial_result",
    }


async def test_readme_lists_the_tools():
    tools = await mcp.list_tools()
    readme = Path("README.md").read_text()
    assert all(tool.name in readme for tool in tools)
