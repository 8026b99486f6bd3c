"""A probe against servers that run here: a good one over both transports, and many that are not."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from fastmcp import FastMCP
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from connector_canon.commands import main
from connector_canon.outputs.json_report import schema
from connector_canon.probe.http import is_loopback
from tests.command.live.connector import KEY, application
from tests.command.serving import served

LIVE = Path(__file__).parent / "live"
CONNECTOR = [sys.executable, str(LIVE / "connector.py")]
HOSTILE = [sys.executable, str(LIVE / "hostile.py")]


def run(*arguments: str) -> tuple[int, dict[str, Any], str]:
    patience = [] if "--time-limit" in arguments else ["--time-limit", "60"]
    result = CliRunner().invoke(main, ["probe", "--format", "json", *patience, *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    table = json.loads(result.stdout) if result.stdout else {}
    if table:
        jsonschema.validate(table, schema())
        assert table["exit_code"] == result.exit_code
    return result.exit_code, table, result.stderr


def absent(table: dict[str, Any]) -> set[str]:
    return {finding["rule"] for finding in table["findings"] if finding["verdict"] == "absent"}


def page(handler: Callable[[Request], Awaitable[Response]]) -> Starlette:
    return Starlette(routes=[Route("/{path:path}", handler, methods=["GET", "POST"])])


@pytest.fixture(scope="module")
def behind_a_door() -> Iterator[str]:
    with served(application()) as address:
        yield f"{address}/mcp"


def test_a_good_connector_over_stdio_has_no_gap() -> None:
    code, table, _ = run("--", *CONNECTOR)
    assert absent(table) == set()
    assert code == 0
    assert {t["name"] for t in table["tools"]} == {"search_acts", "coverage"}
    assert "2026-07-28" in table["server"]


@pytest.mark.parametrize("header", [f"X-API-Key: {KEY}", f"Authorization: Bearer {KEY}"])
def test_a_good_connector_behind_a_door_has_no_gap(header: str, behind_a_door: str) -> None:
    code, table, _ = run(behind_a_door, "--header", header)
    assert absent(table) == set()
    assert code == 0
    doors = {f["rule"] for f in table["findings"] if f["element"] == "3" and f["verdict"] == "present"}
    assert {"CN301", "CN302", "CN304", "CN305", "CN306", "CN308", "CN309"} == doors


def test_without_a_key_nothing_is_called_whole(behind_a_door: str) -> None:
    code, table, _ = run(behind_a_door)
    assert code == 2
    assert absent(table) == set()
    assert any("cannot tell" in finding["verdict"] for finding in table["findings"])


@pytest.mark.parametrize("header", ["X-API-Key: live_pat_wrong", "Authorization: Bearer live_pat_wrong"])
def test_a_key_that_opens_nothing_is_two_and_said_to_be_refused(header: str, behind_a_door: str) -> None:
    code, table, _ = run(behind_a_door, "--header", header)
    assert code == 2
    assert absent(table) == set()
    said = {f["rule"]: f["sentence"] for f in table["findings"] if f["verdict"] == "cannot tell"}
    assert {"CN101", "CN301", "CN302", "CN306", "CN501", "CN1401"} <= said.keys()
    assert all(sentence.startswith("The given credential was refused in ") for sentence in said.values()), said


def test_a_key_that_opens_one_channel_is_a_gap_of_the_other() -> None:
    async def by_bearer_alone(request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return Response("", status_code=401)
        return Response("{}", media_type="application/json")

    with served(page(by_bearer_alone)) as address:
        _, table, _ = run(f"{address}/mcp", "--header", f"Authorization: Bearer {KEY}", "--time-limit", "5")
    said = {f["rule"]: f["sentence"] for f in table["findings"]}
    assert said["CN301"] == "The given key is refused in X-API-Key with 401."
    assert said["CN302"] == "The key is accepted in Authorization: Bearer."


def test_nobody_let_in_is_two_though_the_door_has_gaps() -> None:
    async def closed(request: Request) -> Response:
        return Response("", status_code=401)

    with served(page(closed)) as address:
        for given in ([], ["--header", "X-API-Key: live_pat_wrong"]):
            code, table, _ = run(f"{address}/mcp", *given, "--time-limit", "5")
            assert code == 2
            assert "CN304" in absent(table)


def test_headers_without_a_credential_are_said_to_hold_none(behind_a_door: str) -> None:
    code, table, _ = run(behind_a_door, "--header", "X-Token: live_pat_wrong")
    assert code == 2
    said = {f["rule"]: f["sentence"] for f in table["findings"]}
    assert said["CN101"].startswith("The given headers hold no credential in a channel that is tried")


def test_an_open_server_of_poor_tools_is_told_what_lacks() -> None:
    poor = FastMCP("poor")

    @poor.tool(name="tools.with.dots")
    def dotted(number: str) -> str:
        """Dotted."""
        return number

    with served(poor.http_app(path="/mcp")) as address:
        code, table, _ = run(f"{address}/mcp")
    assert code == 1
    assert {
        "CN101",
        "CN301",
        "CN302",
        "CN304",
        "CN309",
        "CN501",
        "CN502",
        "CN601",
        "CN604",
        "CN901",
        "CN1402",
    } <= absent(table)


def test_only_read_only_tools_are_called_unless_named() -> None:
    called: list[str] = []
    careful = FastMCP("careful")

    @careful.tool(annotations={"readOnlyHint": True})
    def look() -> str:
        called.append("look")
        return "{}"

    @careful.tool
    def coverage() -> str:
        called.append("coverage")
        return "{}"

    @careful.tool(annotations={"readOnlyHint": False})
    def erase() -> str:
        called.append("erase")
        return "gone"

    with served(careful.http_app(path="/mcp", stateless_http=True)) as address:
        run(f"{address}/mcp")
        assert called == []
        _, table, _ = run(f"{address}/mcp", "--call-read-only")
        assert set(called) == {"look"}
        assert "CN1406" in absent(table)
        run(f"{address}/mcp", "--call", "erase")
        assert set(called) == {"look", "erase"}


def test_a_banner_on_stdout_is_a_gap() -> None:
    _, table, _ = run("--", *CONNECTOR, "--banner")
    assert absent(table) == {"CN1404"}


@pytest.mark.parametrize(
    ("way", "seconds", "reason"),
    [
        ("hangs", 1, "did not answer initialize within 1 s"),
        ("dies", 20, "ended with exit code 7"),
        ("floods", 20, "writes to stdout what is no JSON-RPC"),
        ("lines", 20, "writes to stdout what is no JSON-RPC"),
        ("wrong", 5, "could not be talked to"),
    ],
)
def test_a_hostile_command_is_two_with_the_reason_in_time(way: str, seconds: float, reason: str) -> None:
    started = time.monotonic()
    code, table, err = run("--time-limit", str(seconds), "--", *HOSTILE, way)
    assert (code, table) == (2, {})
    assert reason in err
    assert time.monotonic() - started < 60


def test_no_process_is_left(tmp_path: Path) -> None:
    noted = tmp_path / "processes"
    run("--time-limit", "5", "--", *HOSTILE, "child", str(noted))
    processes = [int(number) for number in noted.read_text(encoding="utf-8").split()]
    assert len(processes) == 2
    deadline = time.monotonic() + 5
    while any(is_running(p) for p in processes) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_running(p) for p in processes)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def test_a_command_that_is_not_there_is_two() -> None:
    code, _, err = run("--", "/no/such/command")
    assert code == 2
    assert "cannot be started" in err


def test_nothing_at_an_address_is_two() -> None:
    code, _, err = run("http://127.0.0.1:9/mcp")
    assert code == 2
    assert "Nothing answered" in err


async def html(request: Request) -> Response:
    return HTMLResponse("<!doctype html><p>Welcome</p>")


async def missing(request: Request) -> Response:
    return Response("Not Found", status_code=404)


async def endless(request: Request) -> Response:
    from starlette.responses import StreamingResponse

    async def forever() -> Any:
        # For as long as somebody listens: writing to nobody never waits, so the server could not end.
        while not await request.is_disconnected():
            yield b"x" * 65536

    return StreamingResponse(forever(), media_type="text/html")


async def silent(request: Request) -> Response:
    import anyio

    await anyio.sleep(5)
    return Response("late")


@pytest.mark.parametrize(
    ("handler", "seconds", "reason"),
    [
        (html, 20, "an HTML page"),
        (missing, 20, "status 404"),
        (endless, 20, "an HTML page"),
        (silent, 1, "Nothing answered"),
    ],
)
def test_what_is_not_mcp_is_two(handler: Callable[[Request], Awaitable[Response]], seconds: float, reason: str) -> None:
    with served(page(handler)) as address:
        code, table, err = run(f"{address}/mcp", "--time-limit", str(seconds))
    assert (code, table) == (2, {})
    assert reason in err


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8000/mcp", True),
        ("http://localhost/mcp", True),
        ("http://[::1]:8000/mcp", True),
        ("https://127.0.0.1.example.org/mcp", False),
        ("https://connector.example.org/mcp", False),
        ("http://10.0.0.1/mcp", False),
    ],
)
def test_a_key_goes_into_an_address_on_this_machine_alone(url: str, here: bool) -> None:
    assert is_loopback(url) is here


def test_a_header_without_colon_is_two() -> None:
    code, _, err = run("http://127.0.0.1:9/mcp", "--header", "secret")
    assert code == 2
    assert "secret" not in err
