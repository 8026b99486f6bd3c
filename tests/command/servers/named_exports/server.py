from fastmcp import FastMCP

import acts
import courts

mcp = FastMCP("named exports")

for module in (acts, courts):
    for name in module.__all__:
        mcp.tool(getattr(module, name))
