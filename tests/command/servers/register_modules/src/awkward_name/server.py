from typing import Any

from mcp.server import MCPServer

from awkward_name.tools import register_all

app = MCPServer[Any]("register modules")
register_all(app)


def main() -> None:
    app.run(transport="stdio")
