"""Times one tool through everything and the same tool on bare FastMCP. Runs inside a rendering; prints JSON."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport

WARM_UP: Final = 50
CALLS: Final = 500
ERAS: Final[tuple[Literal["auto", "legacy"], ...]] = ("auto", "legacy")
PACKAGE: Final = os.environ["CONNECTOR_PACKAGE"]
TOOL: Final = "search_acts"
ARGUMENTS: Final = {"query": "data", "limit": 10}

Call = Callable[[], Awaitable[object]]


def bare() -> FastMCP:
    """Return a bare server with the same tool: same question, same records, no envelope, caller, line or span."""
    definition = import_module(f"{PACKAGE}.acts.definition")
    provider = import_module(f"{PACKAGE}.acts.providers.fixture").FixtureProvider()
    found = import_module(f"{PACKAGE}.acts.tools").Found
    paging = import_module(f"{PACKAGE}.canon.paging")
    mcp = FastMCP("bare")

    async def search_acts(query: str = "", limit: int = 10, cursor: str | None = None) -> Any:
        question = definition.Query(query, limit, paging.decode_cursor(cursor, query))
        page = await provider.search(question)
        more = question.offset + len(page.entries) < page.total
        following = paging.encode_cursor(query, question.offset + len(page.entries)) if more else None
        return found(items=tuple(page.entries), total=page.total, next_cursor=following)

    search_acts.__annotations__["return"] = found
    mcp.tool(search_acts)
    return mcp


def connector(collector: str, folder: Path) -> FastMCP:
    """Return the connector, with its spans on their way to a collector."""
    settings = import_module(f"{PACKAGE}.settings").Settings
    chosen = settings(audit_dir=folder / "audit", api_keys_file=folder / "keys.json", otlp_endpoint=collector)
    server: FastMCP = import_module(f"{PACKAGE}.server").build_server(chosen)
    return server


class _Collector(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Take the spans."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def collector() -> Iterator[str]:
    """Run a collector on loopback and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces"
    server.shutdown()


@asynccontextmanager
async def process(*arguments: str, **variables: str) -> AsyncIterator[tuple[str, int]]:
    """Run a server in a process of its own and yield its address and its id."""
    with subprocess.Popen(
        [sys.executable, *arguments], stderr=subprocess.PIPE, text=True, env={**os.environ, **variables}
    ) as server:
        assert server.stderr is not None
        line = next(line for line in server.stderr if "Listening on" in line)
        try:
            yield line.split()[-1], server.pid
        finally:
            server.terminate()


async def interleaved(first: Call, second: Call) -> tuple[float, float]:
    """Return the median of each in milliseconds, the two called in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(WARM_UP + CALLS):
        for kept, call in zip(times, (first, second), strict=True):
            started = time.perf_counter()
            await call()
            if number >= WARM_UP:
                kept.append(time.perf_counter() - started)
    return statistics.median(times[0]) * 1_000, statistics.median(times[1]) * 1_000


async def measured(one: Any, other: Any) -> dict[str, tuple[float, float]]:
    """Return the medians of two servers in each era."""
    found: dict[str, tuple[float, float]] = {}
    for era in ERAS:
        async with Client(one, mode=era) as plain, Client(other, mode=era) as whole:
            calls = (partial(client.call_tool, TOOL, ARGUMENTS) for client in (plain, whole))
            found[era] = await interleaved(*calls)
    return found


def installed(folder: Path, collector: str) -> tuple[str, dict[str, str]]:
    """Mint a key in a folder, and return it with the settings of a connector that keeps its files there."""
    keys = import_module(f"{PACKAGE}.canon.keys").KeyFile(folder / "keys.json")
    key = keys.mint("bench", import_module(f"{PACKAGE}.canon.identity").Caller("org", "user"))
    prefix = f"{PACKAGE}_".upper()
    return key, {
        f"{prefix}AUDIT_DIR": str(folder / "audit"),
        f"{prefix}API_KEYS_FILE": str(folder / "keys.json"),
        f"{prefix}OTLP_ENDPOINT": collector,
    }


async def main() -> None:
    """Measure in memory and over HTTP."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = stack.enter_context(collector())
        memory = await measured(bare(), connector(address, folder))
        key, settings = installed(folder, address)
        plain, _ = await stack.enter_async_context(process(__file__, "bare"))
        whole, _ = await stack.enter_async_context(process("-m", PACKAGE, "serve", "--http", "--port", "0", **settings))
        over_http = await measured(
            StreamableHttpTransport(plain), StreamableHttpTransport(whole, headers={"x-api-key": key})
        )
        lines = len((folder / "audit" / "audit.jsonl").read_bytes().splitlines())
    calls = 2 * len(ERAS) * (WARM_UP + CALLS)
    print(json.dumps({"memory": memory, "http": over_http, "lines": lines, "calls": calls}))


def serve_bare() -> None:
    """Serve the bare server as a connector is served."""
    http = import_module(f"{PACKAGE}.canon.http")
    logs = import_module(f"{PACKAGE}.canon.logs")
    logs.configure("INFO")
    app = bare().http_app(path=http.ENDPOINT, stateless_http=True)
    asyncio.run(http.serve(app, http.listen("127.0.0.1", 0)))


if __name__ == "__main__":
    if sys.argv[1:] == ["bare"]:
        serve_bare()
    else:
        asyncio.run(main())
