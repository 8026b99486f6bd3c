from fastmcp import FastMCP

mcp = FastMCP("decorators")


@mcp.tool
def bare(text: str) -> str:
    """Return the text."""
    return text


@mcp.tool()
def called(text: str) -> str:
    """Return the text."""
    return text


@mcp.tool("by_position")
def other_name(text: str) -> str:
    """Return the text."""
    return text


@mcp.tool(name="by_keyword", annotations={"readOnlyHint": True})
async def yet_another_name(text: str) -> str:
    """Return the text."""
    return text


# @mcp.tool
# def in_a_comment(): ...

"""
@mcp.tool
def in_a_string(): ...
"""


def test_coverage_report() -> None:
    """Not a tool, whatever its name holds."""
