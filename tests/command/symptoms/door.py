"""A server whose door knows one channel and says no in its own words."""

import sys

import uvicorn
from fastmcp import FastMCP
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

mcp = FastMCP("rulings")


@mcp.tool
def search_rulings(query: str) -> str:
    """Find rulings."""
    return query


class Door:
    """Lets a bearer in."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and headers.get(b"authorization") != b"Bearer rulings_pat_1":
            return await PlainTextResponse("Please log in.", status_code=401)(scope, receive, send)
        return await self.app(scope, receive, send)


app = Door(mcp.http_app(path="/mcp", stateless_http=True))

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
