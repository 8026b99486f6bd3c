import importlib.metadata

from fastmcp import FastMCP

mcp = FastMCP("run time loop")

for point in importlib.metadata.entry_points(group="tools"):
    mcp.tool(point.load())


@mcp.tool
def known() -> str:
    """Known."""
    return ""
