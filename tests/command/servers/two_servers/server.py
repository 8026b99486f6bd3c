from fastmcp import FastMCP

mcp = FastMCP("main one")


@mcp.tool
def search() -> str:
    """Search."""
    return ""


@mcp.tool
def read() -> str:
    """Read."""
    return ""


def main() -> None:
    mcp.run()
