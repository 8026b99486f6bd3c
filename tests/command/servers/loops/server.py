from fastmcp import FastMCP

import tools
from tools import delete_one, read_one, search_all

mcp = FastMCP("loops", instructions="First `search_all`, then `read_one`.")
READ_ONLY = {"readOnlyHint": True, "destructiveHint": False}

for _tool in (search_all, read_one):
    mcp.tool(_tool, annotations=READ_ONLY)

for name, function in {"remove": delete_one}.items():
    mcp.tool(function, name=name)

for extra in [*tools.MORE]:
    mcp.tool(extra)
