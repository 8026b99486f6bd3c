"""The HTTP server: stateless, one endpoint under two spellings, only for the hosts it is meant for."""

import socket
from collections.abc import Callable
from typing import Final

import uvicorn
from fastmcp import FastMCP
from sse_starlette.sse import AppStatus
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .configuration import ConfigurationError
from .logs import log

ENDPOINT: Final = "/mcp"
HEALTH: Final = "/health"
REFUSED_HOST: Final = 421
BACKLOG: Final = 2048


def add_health(mcp: FastMCP) -> None:
    """Serve `GET /health`, which says that the process answers and nothing else."""

    @mcp.custom_route(HEALTH, methods=["GET"])
    async def health(request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})


def http_app(mcp: FastMCP, public_hosts: tuple[str, ...], variable: Callable[[str], str]) -> ASGIApp:
    """Return the ASGI application of a server.

    It is stateless, so any worker can answer any request, and it answers loopback names and `public_hosts` only, which
    keeps web pages from reaching it by DNS rebinding. `variable` names the variable of a setting, for the log.
    """
    app = mcp.http_app(
        path=ENDPOINT,
        stateless_http=True,
        host_origin_protection=True,
        allowed_hosts=list(public_hosts),
        allowed_origins=[f"https://{host}" for host in public_hosts],
    )
    app.router.redirect_slashes = False
    return _BothSpellings(_ExplainRefusedHost(app, variable("public_hosts")))


class _BothSpellings:
    """Serves `/mcp/` where `/mcp` is: a redirect would make clients drop their credential."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == f"{ENDPOINT}/":
            scope = {**scope, "path": ENDPOINT, "raw_path": ENDPOINT.encode()}
        await self._app(scope, receive, send)


class _ExplainRefusedHost:
    """Logs a host that was refused, with the setting that would admit it."""

    def __init__(self, app: ASGIApp, setting: str) -> None:
        self._app = app
        self._setting = setting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == REFUSED_HOST:
                host = dict(scope["headers"]).get(b"host", b"").decode("ascii", "replace")
                shown = "".join(character for character in host if character.isalnum() or character in ".:-[]")
                log.warning("Refused the host %s: %s names the hosts that are admitted.", shown[:100], self._setting)
            await send(message)

        await self._app(scope, receive, watched if scope["type"] == "http" else send)


def listen(host: str, port: int) -> socket.socket:
    """Open the port.

    Raises:
        ConfigurationError: it cannot be opened.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sends without delay only on sockets that name it.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        opened.close()
        raise ConfigurationError(
            f"Port {port} cannot be opened there ({type(error).__name__}): name others with --host and --port."
        ) from None
    return opened


def server_for(app: ASGIApp) -> uvicorn.Server:
    """Return a server that logs nothing of a request."""
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="on", server_header=False, timeout_graceful_shutdown=5
    )
    return uvicorn.Server(config)


async def serve(app: ASGIApp, opened: socket.socket) -> None:
    """Serve on an open port until the process is told to stop; what is being answered then is answered first."""
    AppStatus.enable_automatic_graceful_drain = False
    host, port = opened.getsockname()[:2]
    log.info("Listening on http://%s:%s%s", f"[{host}]" if ":" in host else host, port, ENDPOINT)
    await server_for(app).serve(sockets=[opened])
