from enum import Enum

from mcp.types import Tool, ToolAnnotations


class Names(str, Enum):
    SEARCH = "search"


read_tool = Tool(name="read", description="Read.", inputSchema={"type": "object"}, annotations=ToolAnnotations(readOnlyHint=True))
