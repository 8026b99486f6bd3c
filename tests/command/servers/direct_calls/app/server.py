from mcp.server.fastmcp import FastMCP

from .work import first, second, third

server = FastMCP(name="direct calls")
server.tool(first)
server.tool("renamed")(second)
server.add_tool(third, "third_by_position")
server.add_tool(third, name="third_by_keyword", description="Third.")
