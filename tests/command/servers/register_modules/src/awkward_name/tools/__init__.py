from typing import Any

from mcp.server import MCPServer

from . import dates


def register_all(server: MCPServer[Any]) -> None:
    from awkward_name.tools.acts import register as register_acts

    register_acts(server)
    for module in (dates,):
        module.register(server)
