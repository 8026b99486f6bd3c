"""A server whose instructions fell behind its tools."""

from fastmcp import FastMCP

mcp = FastMCP(
    "rulings",
    instructions="""Rulings of the courts.

1. Call `find_rulings` with the words of the question.
2. Call `read_ruling` for one of them.
""",
)


@mcp.tool
def search_rulings(query: str) -> str:
    """Find rulings."""
    return query


@mcp.tool
def read_ruling(number: str) -> str:
    """Read one ruling."""
    return number


@mcp.tool
def list_courts() -> str:
    """List the courts."""
    return "one"


if __name__ == "__main__":
    mcp.run(show_banner=False)
