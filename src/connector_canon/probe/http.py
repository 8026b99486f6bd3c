"""How a server over HTTP answers at its door."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

import httpx2

from connector_canon.findings import CannotLook
from connector_canon.probe.stdio import HELLO
from connector_canon.probe.visit import Door, HttpAnswer

MOST_BYTES = 1_000_000
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
WRONG = "canon-wrong-credential"
DISCOVERY = (
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server",
    "/register",
    "/authorize",
    "/token",
)


def credential(headers: Mapping[str, str]) -> str | None:
    """Return the credential among the headers the caller gave, whichever channel it came in."""
    for name, value in headers.items():
        if name.lower() == "x-api-key":
            return value
        if name.lower() == "authorization" and value.lower().startswith("bearer "):
            return value[7:].strip()
    return None


def is_loopback(url: str) -> bool:
    """Whether an address leads to this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def examine_door(url: str, headers: Mapping[str, str], seconds: float) -> Door:
    """Ask without, with wrong, and with the given credential.

    Raises CannotLook when nothing answers or what answers is not MCP.
    """
    others = {k: v for k, v in headers.items() if k.lower() not in {"x-api-key", "authorization"}}
    async with httpx2.AsyncClient(timeout=seconds, follow_redirects=False) as client:

        async def hello(address: str, more: Mapping[str, str]) -> HttpAnswer:
            return await _answer(client, "POST", address, {**ACCEPT, **others, **more})

        without = await hello(url, {})
        if without.status is None:
            raise CannotLook(f"Nothing answered at {url}: {without.body}.")
        key = credential(headers)
        given = await hello(url, headers) if key is not None else without
        _is_mcp(url, without, given)
        door = Door(
            without,
            wrong_key=await hello(url, {"x-api-key": WRONG}),
            wrong_bearer=await hello(url, {"authorization": f"Bearer {WRONG}"}),
        )
        parts = urlsplit(url)
        root = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        for path in DISCOVERY:
            door.discovery[path] = await _answer(client, "GET", root + path, {"accept": "application/json"})
        other = parts.path[:-1] if parts.path.endswith("/") else parts.path + "/"
        door.with_slash = await hello(urlunsplit(parts._replace(path=other)), headers)
        if key is not None:
            door.by_key = await hello(url, {"x-api-key": key})
            door.by_bearer = await hello(url, {"authorization": f"Bearer {key}"})
            door.conflicting = await hello(url, {"x-api-key": key, "authorization": f"Bearer {WRONG}"})
            # An address is written to logs on its way: a real key goes into one only where nothing is on the way.
            if is_loopback(url):
                door.in_query = await hello(f"{url}?api_key={key}", {})
        return door


def _is_mcp(url: str, without: HttpAnswer, given: HttpAnswer) -> None:
    if any(answer.status in {200, 202, 400, 401, 403, 406} and not _is_page(answer) for answer in (without, given)):
        return
    what = "an HTML page" if _is_page(without) else f"status {without.status}"
    raise CannotLook(f"{url} answers {what}, not MCP; name the server's whole address, such as https://host/mcp.")


def _is_page(answer: HttpAnswer) -> bool:
    return "text/html" in answer.headers.get("content-type", "") or answer.body.lstrip()[:9].lower() == "<!doctype"


async def _answer(client: httpx2.AsyncClient, method: str, url: str, headers: Mapping[str, str]) -> HttpAnswer:
    try:
        async with client.stream(
            method, url, headers=dict(headers), json=HELLO if method == "POST" else None
        ) as response:
            body = b""
            # The stream of an open event channel never ends: the first event is enough.
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MOST_BYTES or b"\n\n" in body or b"\r\n\r\n" in body:
                    break
            kept = {name.lower(): value for name, value in response.headers.items()}
            return HttpAnswer(response.status_code, kept, body[:MOST_BYTES].decode("utf-8", "replace"))
    except httpx2.HTTPError as fault:
        return HttpAnswer(None, {}, str(fault) or type(fault).__name__)
    except (httpx2.InvalidURL, ValueError) as fault:
        raise CannotLook(f"{url} is no address that can be asked: {fault}.") from None
