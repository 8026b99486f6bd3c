import mcp.types as types
from mcp.server import Server

from definitions import Names, read_tool

server = Server("low level")


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [
        types.Tool(name=Names.SEARCH.value, description="Search.", inputSchema={"type": "object", "properties": {"query": {}}}),
        read_tool,
    ]


@server.call_tool()
async def call_tool(name: str, arguments: dict) -> list[types.TextContent]:
    return []
