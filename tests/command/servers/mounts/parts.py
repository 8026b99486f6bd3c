from fastmcp import FastMCP

acts = FastMCP("acts", instructions="First call search.")
courts = FastMCP("courts")


@acts.tool
def search(query: str) -> str:
    """Search."""
    return query


@courts.tool
def read(id: str) -> str:
    """Read."""
    return id
