"""Providers that go wrong in every way, each with a secret in its hands."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import httpx2
from mcp import MCPError

from .subject import errors

SECRET: Final = "CANARY-7f3a"
"""Planted wherever a careless connector would pass it on."""


class HostileProvider:
    """Answers every method with the same failure."""

    source = "hostile"

    def __init__(self, fail: Callable[[], Any]) -> None:
        self._fail = fail

    def __getattr__(self, name: str) -> Any:
        async def method(*arguments: Any, **options: Any) -> Any:
            return await awaited(self._fail())

        return method


async def awaited(value: Any) -> Any:
    """Return a value, or what a coroutine returns."""
    return await value if asyncio.iscoroutine(value) else value


def _request() -> httpx2.Request:
    headers = {"authorization": f"Bearer {SECRET}", "x-api-key": SECRET}
    return httpx2.Request("GET", f"https://{SECRET}.example/?api_key={SECRET}", headers=headers)


def _server_error() -> httpx2.HTTPStatusError:
    request = _request()
    return httpx2.HTTPStatusError(SECRET, request=request, response=httpx2.Response(500, text=SECRET, request=request))


def _raises(error: BaseException) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


def _chained() -> Any:
    try:
        raise KeyError(SECRET)
    except KeyError as error:
        raise RuntimeError(f"while reading {SECRET}") from error


async def _stopped_elsewhere() -> Any:
    """Wait for work that somebody else has cancelled, which does not cancel this call."""
    work = asyncio.create_task(asyncio.sleep(60), name=SECRET)
    work.cancel(SECRET)
    await work


def _grouped() -> Any:
    raise ExceptionGroup(SECRET, [ValueError(SECRET), errors.ConnectorError(errors.Code.RATE_LIMITED)])


class _SecretiveError(Exception):
    def __repr__(self) -> str:
        return SECRET

    def __str__(self) -> str:
        return SECRET


FAILURES: Final[dict[str, Callable[[], Any]]] = {
    "exception": _raises(RuntimeError(f"token={SECRET}")),
    "chain": _chained,
    "group": _grouped,
    "repr": _raises(_SecretiveError()),
    "connect": _raises(httpx2.ConnectError(f"{SECRET} refused", request=_request())),
    "timeout": _raises(httpx2.ReadTimeout(SECRET, request=_request())),
    "status": _raises(_server_error()),
    "file": _raises(FileNotFoundError(2, "No such file", f"/home/{SECRET}/keys.json")),
    "end of the process": _raises(SystemExit(f"fatal: {SECRET}")),
    "cancelled elsewhere": _stopped_elsewhere,
    "another server's error": _raises(MCPError(code=-32000, message=SECRET, data={"detail": SECRET})),
    "unicode": _raises(UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET)),
    "wrong type": lambda: {"text": SECRET},
    "nothing": lambda: None,
}
