"""A small connector that can be started: over stdio, or as the ASGI application `app` behind a door."""

from __future__ import annotations

import json
import sys
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools.base import ToolResult
from mcp_types import ToolAnnotations
from starlette.types import ASGIApp, Receive, Scope, Send

KEY = "live_pat_0123456789"
INSTRUCTIONS = """Acts of law. Send your key as X-API-Key. Every answer is ok, degraded or failed.

Call order
1. `coverage` tells what is here.
2. `search_acts(query=…)` finds acts.
"""
CODES = ["not_found", "invalid_input", "upstream_unavailable", "rate_limited", "forbidden", "partial_result"]
SCHEMA = {
    "type": "object",
    "properties": {
        "status": {"enum": ["ok", "degraded", "failed"]},
        "code": {"anyOf": [{"enum": CODES}, {"type": "null"}]},
        "coverage": {"type": "object", "properties": {"unit": {}, "total": {}, "usable": {}}},
        "data": {},
    },
}
COVERAGE = {
    "status": "ok",
    "as_of_note": "Dates say when data was captured, not that it still holds.",
    "families": [{"name": "acts", "tool": "search_acts", "records": 1, "captured_at": "2026-11-30"}],
    "known_gaps": [{"id": "G-1", "family": "acts", "missing": "annexes", "fallback": "the official journal"}],
}
written: list[str] = []


def hints(title: str, *, read_only: bool = True) -> ToolAnnotations:
    return ToolAnnotations(
        title=title, read_only_hint=read_only, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )


mcp = FastMCP("live", version="1.0.0", instructions=INSTRUCTIONS)


@mcp.tool(annotations=hints("Search acts"), output_schema=SCHEMA)
async def search_acts(query: str) -> ToolResult:
    """Find acts. Can answer invalid_input."""
    return ToolResult(content=f"1 act about {query}.", structured_content={"status": "ok", "data": [query]})


@mcp.tool(annotations=hints("Coverage"), output_schema=SCHEMA)
async def coverage() -> ToolResult:
    """Say what is here, since when, and what is missing."""
    return ToolResult(content="1 act, captured on 30 November 2026.", structured_content=COVERAGE)


@mcp.resource("live://status", mime_type="application/json")
async def status() -> str:
    return json.dumps({"status": "ok"})


class Door:
    """Lets in who sends the one key, in either channel."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/mcp"):
            return await self.app(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        sent = {headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ") or None} - {None}
        if len(sent) > 1:
            return await self.refuse(send, 400)
        if sent != {KEY}:
            return await self.refuse(send, 401)
        return await self.app(scope, receive, send)

    async def refuse(self, send: Send, status: int) -> None:
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Send a key."}}
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


def application() -> ASGIApp:
    inner = mcp.http_app(path="/mcp", stateless_http=True)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/mcp/":
            scope = dict(scope, path="/mcp", raw_path=b"/mcp")
        await inner(scope, receive, send)

    return Door(app)


if __name__ == "__main__":
    if "--banner" in sys.argv:
        print("Welcome to the live connector!", flush=True)  # noqa: T201
    mcp.run(show_banner=False)
