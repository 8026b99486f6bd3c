"""Clients that people use, against a rendered connector on this machine.

CONNECTOR_NODE_MODULES names the folder with their packages; without it, nothing of this is looked at.
"""

import http.client
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.rendering import Environment
from tests.serving import COMMAND, SECONDS, Installation, Server

FOLDER = os.environ.get("CONNECTOR_NODE_MODULES", "")
HOP = frozenset({"connection", "transfer-encoding", "keep-alive", "content-length"})


def program(name: str) -> str:
    path = Path(FOLDER) / ".bin" / name
    if not FOLDER or not path.exists():
        pytest.skip(f"CONNECTOR_NODE_MODULES holds no {name}: whether it talks to a connector was not looked at.")
    return str(path)


@pytest.fixture(scope="module")
def installation(connector: Environment, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(connector, tmp_path_factory.mktemp("clients"))


@pytest.fixture(scope="module")
def key(installation: Installation) -> str:
    return installation.mint()


@pytest.fixture(scope="module")
def server(installation: Installation, key: str) -> Iterator[Server]:
    with installation.serving() as running:
        yield running


def said(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a client that finds nobody's configuration and its own Node first."""
    path = os.pathsep.join((str(Path(FOLDER) / ".bin"), os.environ["PATH"]))
    variables = {"PATH": path, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home), "DISABLE_AUTOUPDATER": "1"}
    return subprocess.run(
        command,
        cwd=home,
        env={**variables, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )


@pytest.mark.slow
def test_claude_connects_by_every_way_and_not_with_a_wrong_key(
    installation: Installation, server: Server, key: str, tmp_path: Path
) -> None:
    claude = program("claude")
    headers = {
        "by-key": f"X-API-Key: {key}",
        "by-bearer": f"Authorization: Bearer {key}",
        "wrong-key": f"X-API-Key: {key[:-2]}xx",
        "wrong-bearer": f"Authorization: Bearer {key[:-2]}xx",
    }
    for name, header in headers.items():
        added = said(tmp_path, claude, "mcp", "add", "--transport", "http", name, server.address, "--header", header)
        assert added.returncode == 0, added.stderr
    folder = f"EU_DIGITAL_ACTS_AUDIT_DIR={installation.folder / 'audit'}"
    added = said(tmp_path, claude, "mcp", "add", "by-stdio", "--env", folder, "--", installation.command)
    assert added.returncode == 0, added.stderr
    listed = said(tmp_path, claude, "mcp", "list").stdout
    states = {line.partition(":")[0]: line for line in listed.splitlines() if ": " in line}
    for name in ("by-key", "by-bearer", "by-stdio"):
        assert "Connected" in states[name], listed
    for name in ("wrong-key", "wrong-bearer"):
        assert "Failed to connect" in states[name], listed
        assert "authentication" not in states[name].lower(), f"It started an OAuth dance: {listed}"


@pytest.mark.parametrize("channel", ["X-API-Key: {key}", "Authorization: Bearer {key}"])
def test_the_inspector_lists_calls_and_reads(server: Server, key: str, tmp_path: Path, channel: str) -> None:
    inspector = program("mcp-inspector")

    def asked(*arguments: str) -> dict[str, Any]:
        header = ("--header", channel.format(key=key))
        done = said(
            tmp_path, inspector, "--cli", server.address, "--transport", "http", "--method", *arguments, *header
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    assert {tool["name"] for tool in asked("tools/list")["tools"]} == {"search_acts", "read_act", "coverage"}
    assert asked("tools/call", "--tool-name", "coverage")["structuredContent"]["status"] == "ok"
    (status,) = asked("resources/read", "--uri", f"{COMMAND}://status")["contents"]
    assert json.loads(status["text"])["ready"] is True


def test_the_inspector_with_a_wrong_key_gets_nothing(server: Server, tmp_path: Path) -> None:
    arguments = ("--cli", server.address, "--transport", "http", "--method", "tools/list")
    done = said(tmp_path, program("mcp-inspector"), *arguments, "--header", "X-API-Key: wrong")
    assert done.returncode != 0
    assert "search_acts" not in done.stdout


@contextmanager
def with_key(server: Server, key: str) -> Iterator[str]:
    """Stand before a server and add the key to each request: the conformance suite sends none."""

    class Forwarder(BaseHTTPRequestHandler):
        def _forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in HOP:
                    connection.putheader(name, value)
            connection.putheader("content-length", str(len(body)))
            connection.putheader("x-api-key", key)
            connection.endheaders(body)
            answer = connection.getresponse()
            content = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            connection.close()

        do_GET = do_POST = do_DELETE = do_OPTIONS = _forward  # noqa: N815 - the names are the standard library's

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Keep quiet."""

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Forwarder)
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}/mcp"
    finally:
        proxy.shutdown()
        proxy.server_close()


LISTS = ("tools-list", "resources-list", "prompts-list", "dns-rebinding-protection")
SCENARIOS = {
    "2025-11-25": (
        *LISTS,
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "logging-set-level",
        "server-sse-multiple-streams",
    ),
    "2026-07-28": (*LISTS, "caching", "http-header-validation", "sep-2164-resource-not-found"),
}
"""Those that ask for no tool or resource of the suite's own invention."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "scenario"), [(version, scenario) for version, names in SCENARIOS.items() for scenario in names]
)
def test_the_conformance_suite_finds_nothing(
    server: Server, key: str, tmp_path: Path, version: str, scenario: str
) -> None:
    suite = program("conformance")
    node = shutil.which("node", path=str(Path(FOLDER) / ".bin")) or "node"
    chosen = ("--scenario", scenario, "--spec-version", version)
    with with_key(server, key) as address:
        done = said(tmp_path, node, suite, "server", "--url", address, *chosen)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2_000:]
