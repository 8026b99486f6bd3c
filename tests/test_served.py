"""The connector's own command as a real process: how it starts, stops, shares, and stands up to hostile requests."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from tests.rendering import Environment
from tests.serving import INITIALIZE, SECONDS, Installation, Server, call

pytestmark = pytest.mark.anyio

BODY = json.dumps(INITIALIZE).encode()
PLANTED = "CANARY-7f3a"


@pytest.fixture
def installation(connector: Environment, tmp_path: Path) -> Installation:
    return Installation(connector, tmp_path)


@pytest.fixture(scope="module")
def shared(connector: Environment, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(connector, tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def key(shared: Installation) -> str:
    return shared.mint()


@pytest.fixture(scope="module")
def server(shared: Installation, key: str) -> Iterator[Server]:
    with shared.serving() as running:
        yield running


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Collector(ThreadingHTTPServer):
    """Keeps the bytes that it is sent; with `patience`, answers no sooner."""

    def __init__(self, patience: float = 0) -> None:
        self.received: list[bytes] = []
        self.patience = patience
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/traces"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector)
        self.server.received.append(self.rfile.read(int(self.headers.get("content-length", "0"))))
        time.sleep(self.server.patience)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    do_GET = do_POST  # noqa: N815 - the name is the standard library's

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Keep quiet."""


def request(
    method: str = "POST", path: str = "/mcp", *headers: bytes, body: bytes = BODY, version: str = "1.1"
) -> bytes:
    lines = [
        f"{method} {path} HTTP/{version}".encode("latin-1"),
        b"host: 127.0.0.1",
        b"accept: application/json, text/event-stream",
        b"content-type: application/json",
        b"connection: close",
        *headers,
    ]
    if not any(b"transfer-encoding" in line for line in headers):
        lines.append(b"content-length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


async def test_the_end_is_clean_and_nothing_is_left_unsent(installation: Installation) -> None:
    key, collector = installation.mint(), Collector()
    with installation.serving(OTLP_ENDPOINT=collector.address) as server:
        async with server.client(x_api_key=key) as client:
            answer = await client.post(server.address, json=call("coverage"))
        assert answer.status_code == 200
        assert collector.received == []
        assert server.stop(signal.SIGTERM) == 0
    assert b"tools/call" in b"".join(collector.received)
    assert len(installation.audit_lines) == 1


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_what_is_being_answered_is_answered_before_the_end(
    installation: Installation, era: Literal["auto", "legacy"]
) -> None:
    key, source = installation.mint(), Collector(patience=2)
    with installation.serving(PROVIDER="live", BASE_URL=source.address) as server:
        transport = StreamableHttpTransport(server.address, headers={"x-api-key": key})
        async with Client(transport, mode=era) as client:
            # The client asks for the schemas once, and after the end there is nobody to ask.
            await client.list_tools()
            asking = asyncio.create_task(client.call_tool("search_acts", raise_on_error=False))
            while not source.received:
                await asyncio.sleep(0.05)
            server.process.send_signal(signal.SIGTERM)
            answer = await asking
        assert server.process.wait(SECONDS) == 0
    assert answer.structured_content is not None
    assert answer.structured_content["detail"]["reason"] == "malformed"
    assert [line["status"] for line in installation.audit_lines] == ["failed"]


@pytest.mark.parametrize("name", ["FASTMCP_PORT", "FASTMCP_HTTP_SESSION_IDLE_TIMEOUT", "OTEL_PROPAGATORS"])
def test_a_wrong_setting_of_a_library_is_not_quoted(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, PLANTED)
    done = installation.run("serve")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("The connector failed:\n")
    assert PLANTED not in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_ends_it(installation: Installation) -> None:
    installation.mint()
    with installation.serving() as server:
        assert server.stop(signal.SIGINT) in (0, 130)
        assert server.process.stderr is not None
        assert "Traceback" not in server.process.stderr.read()


@pytest.mark.parametrize("ending", ["input", "output", signal.SIGTERM, signal.SIGINT])
def test_over_stdio_it_ends_when_its_client_does(installation: Installation, ending: Any) -> None:
    collector = Collector()
    with installation.started(
        [installation.command], stderr=subprocess.PIPE, OTLP_ENDPOINT=collector.address
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for line in (INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}, call("coverage")):
            process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()
        assert "protocolVersion" in process.stdout.readline()
        assert "coverage" in process.stdout.readline()
        match ending:
            case "input":
                process.stdin.close()
            case "output":
                process.stdout.close()
            case _:
                process.send_signal(ending)
        assert process.wait(SECONDS) == 0
        assert "Traceback" not in process.stderr.read()
    assert b"tools/call" in b"".join(collector.received)


def test_without_an_input_it_says_so(installation: Installation) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" <&-', installation.command],
        env=installation.environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.strip().splitlines()) == 1


def test_help_is_help(installation: Installation) -> None:
    for arguments in (("--help",), ("serve", "--help"), ("keys", "mint", "--help")):
        done = installation.run(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert "usage: eu-digital-acts" in done.stdout


def test_a_busy_port_is_one_sentence(installation: Installation) -> None:
    installation.mint()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = installation.run("serve", "--http", "--port", str(taken.getsockname()[1]))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.strip().splitlines()) == 1
    assert str(taken) not in done.stderr


async def test_keys_count_at_once_and_a_broken_file_closes_the_door(installation: Installation) -> None:
    installation.mint("first")
    with installation.serving() as server:
        async with server.client() as client:

            async def answered(key: str) -> int:
                answer = await client.post(server.address, json=INITIALIZE, headers={"x-api-key": key})
                return answer.status_code

            late = installation.mint("late")
            assert await answered(late) == 200
            name = next(
                line.split()[0] for line in installation.run("keys", "list").stdout.splitlines() if "late" in line
            )
            assert installation.run("keys", "revoke", name).returncode == 0
            assert await answered(late) == 401
            path = installation.folder / "keys.json"
            path.unlink()
            assert await answered(late) == 401
            path.mkdir()
            assert await answered(late) == 503


async def test_replicas_share_keys_and_lose_no_line(installation: Installation) -> None:
    key, count = installation.mint(), 100
    with installation.serving() as first, installation.serving() as second:
        async with first.client(x_api_key=key) as client:
            answers = await asyncio.gather(
                *(
                    client.post(server.address, json=call("coverage"))
                    for server in (first, second)
                    for _ in range(count)
                )
            )
    assert {answer.status_code for answer in answers} == {200}
    lines = installation.audit_lines
    assert len({line["call_id"] for line in lines}) == len(lines) == 2 * count


async def test_an_audit_folder_that_is_taken_away_is_made_anew(installation: Installation) -> None:
    key = installation.mint()
    with installation.serving() as server:
        async with server.client(x_api_key=key) as client:
            for _ in range(2):
                assert '"ok"' in (await client.post(server.address, json=call("coverage"))).text
                (line,) = installation.audit_lines
                for path in (installation.folder / "audit").iterdir():
                    path.unlink()
                (installation.folder / "audit").rmdir()
                assert line["status"] == "ok"


async def test_a_client_that_goes_away_leaves_a_cancelled_line(installation: Installation) -> None:
    key, source = installation.mint(), Collector(patience=30)
    with installation.serving(PROVIDER="live", BASE_URL=source.address) as server:
        transport = StreamableHttpTransport(server.address, headers={"x-api-key": key})
        async with Client(transport) as client:
            with pytest.raises(Exception, match=r"[Tt]imed out"):
                await client.call_tool("search_acts", timeout=1)
        deadline = time.monotonic() + SECONDS
        while not installation.audit_lines and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
    assert [line["status"] for line in installation.audit_lines] == ["cancelled"]


HOSTED = """
from eu_digital_acts.server import build_server
from eu_digital_acts.settings import Settings

mcp = build_server(Settings())
"""


async def test_the_framework_s_own_command_holds_the_door_too(installation: Installation) -> None:
    key = installation.mint()
    program = installation.folder / "hosted.py"
    program.write_text(HOSTED, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = str(installation.connector.python.with_name("fastmcp"))
    arguments = ["run", f"{program}:mcp", "--transport", "http", "--port", str(port), "--no-banner"]
    with installation.started([command, *arguments], stderr=subprocess.DEVNULL) as process:
        server = Server(process, f"http://127.0.0.1:{port}/mcp")
        async with server.client() as client:
            for _ in range(SECONDS * 10):
                try:
                    assert (await client.post(server.address, json=INITIALIZE)).status_code == 401
                    break
                except httpx2.ConnectError:
                    await asyncio.sleep(0.1)
            answer = await client.post(server.address, json=INITIALIZE, headers={"x-api-key": key})
            assert answer.status_code == 200


PATHS = (
    "//mcp", "/mcp;x", "/mcp//", "/MCP", "/./mcp", "/%2e%2e/mcp", "/%6dcp", "/mcp%2f", "/mcp%00", "/mcp#x",
    "/health/", "//health", "/health;x", "/healthz", "/health/../mcp", "/health%2f..%2fmcp", "/health%00",
    "/health\\..\\mcp", "http://evil.example/mcp", "http://evil.example/health", "*", "/token/../mcp", "/%ff",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_no_spelling_of_a_path_goes_round_the_door(server: Server, path: str) -> None:
    assert status(server.raw(request("POST", path))) == 401
    assert status(server.raw(request("GET", path))) == 401


@pytest.mark.parametrize("path", ["/.well-known/../mcp", "/.well-known/x/%2e%2e/%2e%2e/mcp", "/token"])
def test_what_is_not_there_is_not_there_by_any_way(server: Server, key: str, path: str) -> None:
    assert status(server.raw(request("POST", path, f"x-api-key: {key}".encode()))) == 404


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "PATCH", "DELETE", "CONNECT", "ODD"])
def test_no_method_goes_round_the_door(server: Server, method: str) -> None:
    assert status(server.raw(request(method))) == 401


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("x-api-key: <key>", 200),
        ("X-API-KEY:\t <key> \t", 200),
        ("authorization: bearer   <key>", 200),
        ("x-api-key:\r\nx-api-key: <key>", 200),
        ("x-api-key: <key>\r\nauthorization: Basic eA==", 200),
        ("x-api-key: <key>, <key>", 401),
        ("x-api-key: \xa0<key>", 401),
        ("x-api-key: <key>\x85", 401),
        ("authorization: Bearer\t<key>", 401),
        ("authorization: <key>", 401),
        ("x_api_key: <key>", 401),
        ("cookie: x-api-key=<key>", 401),
        ("proxy-authorization: Bearer <key>", 401),
        ("x-api-key: \xff\xfe", 401),
        (f"x-api-key: {'a' * 60_000}", 401),
        ("x-api-key: <key>\r\nx-api-key: <key>X", 400),
        ("x-api-key: <key>\x00", 400),
        (f"x-api-key: {'a' * 600_000}", 400),
    ],
)
def test_only_a_whole_key_in_its_place_opens(server: Server, key: str, header: str, expected: int) -> None:
    sent = header.replace("<key>", key).encode("latin-1")
    assert status(server.raw(request("POST", "/mcp", sent))) == expected


@pytest.mark.parametrize("query", ["?api_key=x", "?API%5FKEY=x", "?a=1;api_key=x", "?key", "?a&token="])
def test_no_spelling_of_a_key_in_the_address_is_taken(server: Server, key: str, query: str) -> None:
    assert status(server.raw(request("POST", f"/mcp{query}", f"x-api-key: {key}".encode()))) == 400


def test_old_and_chunked_requests_are_answered_alike(server: Server, key: str) -> None:
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)
    for headers, expected in (((f"x-api-key: {key}".encode(),), 200), ((), 401)):
        assert status(server.raw(request("POST", "/mcp", *headers, version="1.0"))) == expected
        sent = request("POST", "/mcp", *headers, b"transfer-encoding: chunked", body=chunked)
        assert status(server.raw(sent)) == expected


@pytest.mark.parametrize("path", ["/mcp", "/health"])
def test_no_websocket_opens(server: Server, key: str, path: str) -> None:
    upgrade = (
        b"upgrade: websocket",
        b"connection: upgrade",
        b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
        b"sec-websocket-version: 13",
    )
    for headers in (upgrade, (*upgrade, f"x-api-key: {key}".encode())):
        assert status(server.raw(request("GET", path, *headers, body=b""))) in (200, 403, 405)


BODIES = (
    b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000, f'["{PLANTED}"]'.encode(),
    f'{{"jsonrpc":"2.0","id":1,"method":["{PLANTED}"]}}'.encode(),
    f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"{PLANTED}"}}'.encode(),
    f'{{"jsonrpc":"2.0","id":1,"method":"{PLANTED}"}}'.encode(),
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"' + PLANTED.encode() * 100_000 + b'"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"coverage","arguments":{"x":NaN}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"coverage","arguments":{"x":1' + b"0" * 5_000 + b"}}}",
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_acts","arguments":{"query":"\\ud800"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_acts","arguments":{"query":"' + b"[" * 90_000 + b'"}}}',
)  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:40]))
def test_a_hostile_body_is_refused_and_not_quoted(shared: Installation, server: Server, key: str, body: bytes) -> None:
    answer = server.raw(request("POST", "/mcp", f"x-api-key: {key}".encode(), body=body))
    assert status(answer) in (200, 202, 400)
    assert b"input_value" not in answer
    assert b"pydantic" not in answer
    assert b"Traceback" not in answer
    assert PLANTED.encode() not in answer
    assert PLANTED not in json.dumps(shared.audit_lines)


def test_a_flood_is_turned_away_and_the_next_request_answered(server: Server, key: str) -> None:
    credential = f"x-api-key: {key}".encode()
    flood = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_acts","arguments":{"query":"'
    for headers in ((), (credential,)):
        assert b"200 OK" not in server.raw(request("POST", "/mcp", *headers, body=flood + b"x" * 50_000_000 + b'"}}}'))
    assert status(server.raw(request("POST", "/mcp", *(b"x-a: b" for _ in range(50_000))))) in (0, 400, 431)
    assert status(server.raw(request("POST", "/mcp", credential))) == 200
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text(encoding="ascii").split()[1])
    assert pages * os.sysconf("SC_PAGE_SIZE") < 400 * 1024 * 1024
