"""Reads the memory of a bare server and of a connector after the same calls. Runs inside a rendering; prints JSON."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from benchmarks.measured.call import PACKAGE, collector, installed, process

CALLS: Final = 200
TOOL: Final = "coverage"


async def resident(transport: StreamableHttpTransport, pid: int) -> float:
    """Return the MiB that a server holds after some calls."""
    async with Client(transport) as client:
        for _ in range(CALLS):
            await client.call_tool(TOOL)
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


async def main() -> None:
    """Measure both."""
    with tempfile.TemporaryDirectory() as name, collector() as address:
        key, settings = installed(Path(name), address)
        async with (
            process(__file__, "bare") as (plain, plain_pid),
            process("-m", PACKAGE, "serve", "--http", "--port", "0", **settings) as (whole, whole_pid),
        ):
            found = {
                "bare": await resident(StreamableHttpTransport(plain), plain_pid),
                "connector": await resident(StreamableHttpTransport(whole, headers={"x-api-key": key}), whole_pid),
            }
    print(json.dumps(found))


def serve_bare() -> None:
    """Serve a tool on bare FastMCP, with nothing of the connector."""
    import socket

    import uvicorn
    from fastmcp import FastMCP

    mcp = FastMCP("bare")

    @mcp.tool
    async def coverage() -> dict[str, Any]:
        return {"records": 34}

    opened = socket.create_server(("127.0.0.1", 0))
    print(f"Listening on http://127.0.0.1:{opened.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    config = uvicorn.Config(mcp.http_app(path="/mcp", stateless_http=True), log_config=None, access_log=False)
    asyncio.run(uvicorn.Server(config).serve(sockets=[opened]))


if __name__ == "__main__":
    if sys.argv[1:] == ["bare"]:
        serve_bare()
    else:
        asyncio.run(main())
