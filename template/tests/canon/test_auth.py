"""Element 3: two channels, one door, on every surface."""

import json
import re
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp.server.dependencies import get_http_headers, get_http_request
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount

from .clients import MESSAGE_HEADERS, initialize, message, served
from .source import modules_below
from .subject import CODE, Subject, auth, configuration, identity, keys

SURFACES: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "initialize": ("POST", "/mcp", initialize()),
    "the other spelling": ("POST", "/mcp/", initialize()),
    "tools": ("POST", "/mcp", message("tools/list")),
    "a call": ("POST", "/mcp", message("tools/call", name="x", arguments={})),
    "resources": ("POST", "/mcp", message("resources/list")),
    "a resource": ("POST", "/mcp", message("resources/read", uri="x://y")),
    "prompts": ("POST", "/mcp", message("prompts/list")),
    "discovery": ("POST", "/mcp", message("server/discover")),
    "a malformed message": ("POST", "/mcp", {"jsonrpc": "2.0"}),
    "the stream": ("GET", "/mcp", None),
    "the end of a session": ("DELETE", "/mcp", None),
    "an extra route": ("GET", "/extra", None),
    "a path that is not there": ("GET", "/nothing", None),
}
PROBES = (
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
    "/register",
    "/authorize",
    "/token",
)


@pytest.fixture
def key(subject: Subject) -> str:
    return keys.KeyFile(subject.keys_file).mint(subject.command, identity.Caller("org-7", "ann"))


@pytest.fixture
async def client(subject: Subject, key: str) -> AsyncIterator[httpx2.AsyncClient]:
    mcp = subject.build()

    @mcp.custom_route("/extra", methods=["GET"])
    async def extra(request: Request) -> PlainTextResponse:
        return PlainTextResponse("extra")

    async with served(mcp, "mcp.example.com") as connected:
        yield connected


async def test_no_surface_opens_without_the_right_key(client: httpx2.AsyncClient, key: str) -> None:
    wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
    credentials: tuple[dict[str, str], ...] = (
        {},
        {"x-api-key": ""},
        {"authorization": "Bearer"},
        {"authorization": f"Basic {key}"},
        {"x-api-key": wrong},
        {"authorization": f"Bearer {wrong}"},
        {"x-api-key": "changeme"},
    )
    for (surface, (method, path, content)), headers in product(SURFACES.items(), credentials):
        response = await client.request(method, path, json=content, headers=headers)
        assert response.status_code == 401, f"{surface} answers {response.status_code} to {list(headers)}."
        challenge = response.headers["www-authenticate"]
        assert challenge.startswith("Bearer ")
        assert "resource_metadata" not in challenge
        body = response.json()
        assert body["jsonrpc"] == "2.0"
        assert body["id"] is None
        assert "X-API-Key" in body["error"]["message"]


@pytest.mark.parametrize("value", [b"", b"  ", b"\t", b"Bearer", b"Bearer   "])
def test_a_blank_is_no_credential(value: bytes) -> None:
    for name in (b"x-api-key", b"authorization"):
        if name == b"x-api-key" and value.strip():
            continue
        with pytest.raises(auth.Refusal) as refused:
            auth.credential({"type": "http", "headers": [(name, value)], "query_string": b""})
        assert refused.value.status == 401


@pytest.mark.parametrize("channel", ["x-api-key", "authorization"])
async def test_both_channels_open_every_surface(client: httpx2.AsyncClient, key: str, channel: str) -> None:
    headers = {channel: key if channel == "x-api-key" else f"Bearer {key}"}
    for surface, (method, path, content) in SURFACES.items():
        response = await client.request(method, path, json=content, headers=headers)
        assert response.status_code not in (401, 403), surface
        assert not response.is_redirect, surface
    for path in ("/mcp", "/mcp/"):
        response = await client.post(path, json=initialize(), headers={**headers, "x-forwarded-proto": "https"})
        assert response.status_code == 200
        assert "instructions" in response.text


@pytest.mark.parametrize(
    "headers",
    [
        [("x-api-key", "KEY"), ("authorization", "Bearer another")],
        [("x-api-key", "another"), ("authorization", "Bearer KEY")],
        [("x-api-key", "KEY"), ("x-api-key", "another")],
        [("authorization", "Bearer KEY"), ("authorization", "Bearer another")],
    ],
)
async def test_credentials_that_disagree_are_refused(
    client: httpx2.AsyncClient, key: str, headers: list[tuple[str, str]]
) -> None:
    sent = [(name, value.replace("KEY", key)) for name, value in headers]
    assert (await client.post("/mcp", json=initialize(), headers=sent)).status_code == 400


async def test_the_same_key_twice_is_one_credential(client: httpx2.AsyncClient, key: str) -> None:
    headers = {"x-api-key": key, "authorization": f"Bearer {key}"}
    assert (await client.post("/mcp", json=initialize(), headers=headers)).status_code == 200


async def test_a_credential_in_the_address_is_refused(client: httpx2.AsyncClient, key: str) -> None:
    for name, headers in product(("api_key", "key", "token", "access_token", "X-API-Key"), ({}, {"x-api-key": key})):
        response = await client.post("/mcp", params={name: key}, json=initialize(), headers=headers)
        assert response.status_code == 400, name
        assert key not in response.text


async def test_clients_find_no_identity_provider(client: httpx2.AsyncClient) -> None:
    for method, path in product(("GET", "POST"), PROBES):
        assert (await client.request(method, path)).status_code == 404, f"{method} {path}"


async def test_health_is_open_and_says_nothing_else(client: httpx2.AsyncClient) -> None:
    response = await client.get("/health")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


async def test_without_any_key_nothing_opens(subject: Subject) -> None:
    async with served(subject.build()) as connected:
        for headers in ({}, {"x-api-key": ""}, {"x-api-key": "changeme"}, {"authorization": "Bearer changeme"}):
            response = await connected.post("/mcp", json=initialize(), headers=headers)
            assert response.status_code == 401, f"No key is minted, and {list(headers)} opens the door."


async def test_callers_are_told_apart_and_not_by_their_keys(subject: Subject, key: str) -> None:
    """The framework's response cache partitions on `token`: one caller must not get another's answer from it."""
    file = keys.KeyFile(subject.keys_file)
    given = [key, file.mint(subject.command, identity.Caller("org-8", "bob"))]
    door = auth.Door(file, realm=subject.command)
    tokens = {access.token for secret in given if (access := await door.verify_token(secret))}
    assert len(tokens) == len(given)
    assert not tokens & set(given)


async def test_a_known_caller_who_may_not_gets_403(subject: Subject, key: str) -> None:
    boss = keys.KeyFile(subject.keys_file).mint(subject.command, identity.Caller("org-7", "boss"))
    async with served(subject.build(owner="boss")) as connected:
        refused = await connected.post("/mcp", json=initialize(), headers={"x-api-key": key})
        admitted = await connected.post("/mcp", json=initialize(), headers={"x-api-key": boss})
    assert (refused.status_code, admitted.status_code) == (403, 200)
    assert refused.json()["id"] is None


async def test_a_revoked_key_is_refused_at_once(subject: Subject, client: httpx2.AsyncClient, key: str) -> None:
    file = keys.KeyFile(subject.keys_file)
    assert (await client.post("/mcp", json=initialize(), headers={"x-api-key": key})).status_code == 200
    assert file.revoke(file.all()[0].id)
    assert (await client.post("/mcp", json=initialize(), headers={"x-api-key": key})).status_code == 401


def test_a_credential_is_found_behind_either_separator_of_a_query() -> None:
    for query in (b"a=1&api_key=x", b"a=1;api_key=x", b"a=1;API%5FKEY", b"x_api_key=x"):
        with pytest.raises(auth.Refusal) as refused:
            auth.refuse_credential_in_address({"type": "http", "headers": [], "query_string": query})
        assert refused.value.status == 400


@pytest.mark.parametrize("path", ["/mcp", "/health", "/.well-known/oauth-protected-resource"])
async def test_a_key_in_the_address_is_refused_whatever_it_is_called(
    client: httpx2.AsyncClient, key: str, path: str
) -> None:
    for query in (f"?note={key}", f"?{key}", f"?a=1;b={key}"):
        response = await client.post(path + query, json=initialize(), headers={"x-api-key": key})
        assert response.status_code == 400, query


@pytest.mark.parametrize("blank", ["\xa0", "\x85", "\x0b"])
def test_what_is_no_blank_in_a_header_belongs_to_the_credential(blank: str) -> None:
    headers = [(b"x-api-key", f" \t{blank}key{blank}\t ".encode("latin-1"))]
    assert auth.credential({"type": "http", "headers": headers, "query_string": b""}) == f"{blank}key{blank}"


@pytest.mark.parametrize("content", [["CANARY-7f3a"], {"jsonrpc": "2.0", "id": 1, "method": ["CANARY-7f3a"]}])
async def test_a_message_that_cannot_be_read_is_not_quoted(client: httpx2.AsyncClient, key: str, content: Any) -> None:
    response = await client.post("/mcp", json=content, headers={"x-api-key": key})
    assert response.status_code == 400
    assert response.json()["error"]["message"]
    assert "CANARY" not in response.text
    assert "\n" not in response.json()["error"]["message"]


async def test_a_host_application_can_mount_it_before_its_provider_is_there(subject: Subject, key: str) -> None:
    inner = subject.build(lambda: None).http_app(path="/", stateless_http=True)
    host = Starlette(routes=[Mount("/mcp", app=inner)])
    transport = httpx2.ASGITransport(app=host)
    async with inner.lifespan(inner), httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as connected:
        for headers, status in (({}, 401), ({"x-api-key": "wrong"}, 401), ({"x-api-key": key}, 200)):
            response = await connected.post("/mcp/", json=initialize(), headers={**MESSAGE_HEADERS, **headers})
            assert response.status_code == status
        assert (await connected.get("/mcp/health")).status_code == 200
        assert (await connected.get("/mcp/nothing")).status_code == 401
        assert (await connected.get("/mcp/.well-known/openid-configuration")).status_code == 404


async def test_the_credential_goes_no_further(subject: Subject, key: str) -> None:
    """What is not there cannot be forwarded."""
    mcp, seen = subject.build(), []

    @mcp.custom_route("/extra", methods=["GET"])
    async def extra(request: Request) -> PlainTextResponse:
        seen.append(json.dumps([dict(request.headers), get_http_headers(include_all=True)]))
        seen.append(str(get_http_request().headers))
        return PlainTextResponse("extra")

    async with served(mcp) as connected:
        for headers in ({"x-api-key": key}, {"authorization": f"Bearer {key}"}):
            await connected.get("/extra", headers={**headers, "cookie": f"session={key}"})
    assert len(seen) == 4
    assert key not in "".join(seen)


def test_nothing_reads_inbound_headers() -> None:
    """The door is the one place that does; a provider that did could forward them."""
    readers = [
        path.name
        for path in modules_below(CODE)
        if re.search(r"get_http_headers|request\.headers|scope\[.headers.\]", path.read_text(encoding="utf-8"))
    ]
    assert set(readers) == {"auth.py", "http.py"}, f"Inbound headers are read in {readers}."


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "mcp.example.com"}, 200),
        ({"host": "mcp.example.com:443"}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "upstream_app", "x-forwarded-host": "mcp.example.com"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"host": "mcp.example.com", "origin": "https://mcp.example.com"}, 200),
    ],
)
async def test_only_hosts_that_are_named_are_served(
    client: httpx2.AsyncClient, key: str, headers: dict[str, str], status: int
) -> None:
    response = await client.post("/mcp", json=initialize(), headers={**headers, "x-api-key": key})
    assert response.status_code == status


async def test_the_log_names_the_setting_that_would_admit_a_host(
    subject: Subject, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(subject.build(), variable=subject.settings.variable) as connected:
        await connected.get("/health", headers={"host": "rebound.example"})
    assert f"rebound.example: {subject.settings.variable('public_hosts')} " in caplog.text


async def test_any_replica_answers_any_request(subject: Subject, key: str) -> None:
    headers = {"x-api-key": key}
    async with served(subject.build()) as first, served(subject.build()) as second:
        opened = await first.post("/mcp", json=initialize(), headers=headers)
        session = opened.headers.get("mcp-session-id", "0123456789abcdef")
        continued = await second.post(
            "/mcp", json=message("tools/list"), headers={**headers, "mcp-session-id": session}
        )
    assert continued.status_code == 200
    assert "tools" in continued.text


def test_a_key_is_stored_as_a_digest_alone(subject: Subject, key: str) -> None:
    text = subject.keys_file.read_text(encoding="utf-8")
    assert re.fullmatch(rf"{subject.command}_pat_[A-Za-z0-9_-]{{43}}", key)
    assert key not in text
    assert key.rpartition("_pat_")[2] not in text
    assert keys.digest(key) in text
    assert subject.keys_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("org", ["", "two words", "x" * 65, "a/b", "ż"])
def test_an_identity_is_no_free_text(org: str) -> None:
    with pytest.raises(ValueError, match="org_id must be"):
        identity.Caller(org, "user")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"keys": [{}]}', '{"keys": [{"id": 1}]}', "\0"])
def test_a_broken_key_file_is_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(configuration.ConfigurationError, match="restore it, or move it away"):
        keys.KeyFile(path).all()


async def test_a_key_file_that_breaks_later_closes_the_door(subject: Subject, key: str) -> None:
    async with served(subject.build()) as connected:
        subject.keys_file.write_text("broken", encoding="utf-8")
        response = await connected.post("/mcp", json=initialize(), headers={"x-api-key": key})
    assert response.status_code == 503


async def test_what_keeps_everybody_out_is_in_the_log_once(
    subject: Subject, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(subject.build()) as connected:
        subject.keys_file.write_text("[" * 100_000, encoding="utf-8")
        for _ in range(3):
            response = await connected.post("/mcp", json=initialize(), headers={"x-api-key": key})
            assert response.status_code == 503
    assert caplog.text.count("Nobody is let in. The key file is not one") == 1
    assert key not in caplog.text
