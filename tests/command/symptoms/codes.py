"""A server that writes its codes into sentences."""

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("rulings")


@mcp.tool
def read_ruling(number: str) -> str:
    """Read one ruling."""
    if not number.isdigit():
        raise ToolError(f"Error: {number} is no number of a ruling (invalid_input)")
    return "error: not found"


if __name__ == "__main__":
    mcp.run(show_banner=False)
