from mcp.server import Server
from mcp_types import ListToolsResult, Tool


async def listed(context, params) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name="search", input_schema={"type": "object", "properties": {}})])


server = Server("handler", instructions="First search.", on_list_tools=listed)
