"""Ways to reach a server in a test: in memory in both protocol eras, and over HTTP through the whole application."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

import httpx2
from fastmcp import Client, FastMCP
from fastmcp.client.client import CallToolResult

from .subject import http

Era = Literal["auto", "legacy"]
ERAS: Final[tuple[Era, ...]] = ("auto", "legacy")
"""The protocol of 2026-07-28 and the handshake before it."""

MESSAGE_HEADERS: Final = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


async def call(mcp: FastMCP, name: str, arguments: Mapping[str, Any] = {}, era: Era = "auto") -> CallToolResult:
    """Call one tool and return whatever it answers."""
    async with Client(mcp, mode=era) as connected:
        result: CallToolResult = await connected.call_tool(name, dict(arguments), raise_on_error=False)
    return result


def text_of(result: CallToolResult) -> str:
    """Return the prose of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")


def everything(result: CallToolResult) -> str:
    """Return all that a client can see of a result, as one text."""
    return json.dumps([text_of(result), result.structured_content, result.meta], ensure_ascii=False, default=str)


def some_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for every argument that must be given, of the right type and without meaning."""
    samples = {"string": "x", "integer": 1, "number": 1.0, "boolean": False, "array": [], "object": {}}
    properties = schema.get("properties", {})
    return {name: samples.get(properties[name].get("type"), "x") for name in schema.get("required", [])}


@asynccontextmanager
async def served(
    mcp: FastMCP, *public_hosts: str, variable: Callable[[str], str] = str.upper
) -> AsyncIterator[httpx2.AsyncClient]:
    """Serve over HTTP on a free port of this machine and yield a client of it."""
    opened = http.listen("127.0.0.1", 0)
    server = http.server_for(http.http_app(mcp, public_hosts, variable))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    # Without uvicorn's own loop, which looks for the end of the world ten times a second.
    await server.startup(sockets=[opened])
    try:
        address = f"http://127.0.0.1:{opened.getsockname()[1]}"
        # Plain HTTP has no certificate to check, and loading the authorities is slow.
        async with httpx2.AsyncClient(
            base_url=address, headers=MESSAGE_HEADERS, trust_env=False, verify=False
        ) as client:
            yield client
    finally:
        for listening in server.servers:
            listening.close()
        opened.close()
        await server.lifespan.shutdown()


def initialize() -> dict[str, Any]:
    """Return the message that opens a session of the handshake era."""
    return message(
        "initialize",
        protocolVersion="2025-11-25",
        capabilities={},
        clientInfo={"name": "gate", "version": "1"},
    )


def message(method: str, **parameters: Any) -> dict[str, Any]:
    """Return a JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
