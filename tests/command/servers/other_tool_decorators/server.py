from fastmcp import FastMCP
from pydantic_ai import Agent

agent = Agent("model")
mcp = FastMCP("other decorators")


@agent.tool
def for_the_agent() -> str:
    """Not a tool of the server."""
    return ""


@mcp.tool
def for_clients() -> str:
    """A tool of the server."""
    return ""
