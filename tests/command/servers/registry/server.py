from fastmcp import FastMCP

REGISTRY = []


def exposed(function):
    REGISTRY.append(function)
    return function


@exposed
def alpha() -> str:
    """Alpha."""
    return ""


@exposed
def beta() -> str:
    """Beta."""
    return ""


mcp = FastMCP("registry")
for entry in REGISTRY:
    mcp.tool(entry)
