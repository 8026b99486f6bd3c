from fastmcp import FastMCP

mcp = FastMCP("dead door")


@mcp.tool
def search(query: str) -> str:
    """Search."""
    return query


if __name__ == "__main__":
    mcp.run(transport="http")
