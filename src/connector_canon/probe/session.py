"""A talk with a server in one protocol era."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

import mcp_types
from fastmcp import Client
from fastmcp.client.transports import ClientTransport, StdioTransport, StreamableHttpTransport

from connector_canon.probe.visit import Talk
from connector_canon.rules.coverage import NAMED

MOST_RESOURCES = 10


def transport_to(
    url: str | None, headers: dict[str, str], command: Sequence[str], environment: dict[str, str]
) -> ClientTransport:
    """Return the way to a server: its address, or the command that starts it."""
    if url is not None:
        return StreamableHttpTransport(url, headers=headers)
    return StdioTransport(command[0], list(command[1:]), env=environment, keep_alive=False, log_file=Path("/dev/null"))


async def talk(
    transport: ClientTransport, mode: Literal["auto", "legacy"], seconds: float, call: Collection[str], read_only: bool
) -> Talk:
    """List everything, read the resources, and call what may be called."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    async with Client(transport, mode=mode, timeout=seconds, init_timeout=seconds) as client:
        tools = await client.list_tools()
        resources: dict[str, tuple[str | None, str | None]] = {}
        capabilities = client.server_capabilities
        if capabilities is not None and capabilities.resources is not None:
            for resource in (await client.list_resources())[:MOST_RESOURCES]:
                contents = await client.read_resource(resource.uri)
                first = contents[0] if contents else None
                text = first.text if isinstance(first, mcp_types.TextResourceContents) else None
                resources[str(resource.uri)] = (first.mime_type if first is not None else None, text)
        answers = {
            tool.name: await client.call_tool_mcp(tool.name, {}) for tool in tools if may_call(tool, call, read_only)
        }
        info = client.server_info
        return Talk(
            version=client.protocol_version or "unknown",
            name=info.name if info is not None else "",
            instructions=client.instructions,
            tools=tools,
            resources=resources,
            answers=answers,
        )


def may_call(tool: mcp_types.Tool, call: Collection[str], read_only: bool) -> bool:
    """Whether a tool may be called: it needs no argument, and is read-only or was asked for by name."""
    if tool.input_schema.get("required"):
        return False
    if tool.name in call:
        return True
    hint = tool.annotations is not None and tool.annotations.read_only_hint is True
    return hint and (read_only or NAMED.search(tool.name) is not None)
