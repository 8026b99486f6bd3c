"""Runs a rendered connector by its own command, as a process that can be talked to, told to stop and broken."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2

from tests.rendering import Environment

COMMAND: Final = "eu-digital-acts"
PREFIX: Final = "EU_DIGITAL_ACTS_"
HEADERS: Final = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Installation:
    """A connector with its command, its key file and its audit folder."""

    connector: Environment
    folder: Path

    def environment(self, **settings: str) -> dict[str, str]:
        """Return the variables of a process of this connector."""
        own = {"AUDIT_DIR": str(self.folder / "audit"), "API_KEYS_FILE": str(self.folder / "keys.json"), **settings}
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith(PREFIX)},
            # Byte code is kept, so that a start is quick, but outside of the rendering, which others compare.
            "PYTHONPYCACHEPREFIX": str(self.connector.python.parents[1] / "bytecode"),
            **{f"{PREFIX}{name}": value for name, value in own.items()},
        }

    @property
    def command(self) -> str:
        """The connector's command."""
        return str(self.connector.python.with_name(COMMAND))

    def run(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""
        return subprocess.run(
            [self.command, *arguments],
            cwd=self.folder,
            env=self.environment(**settings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def mint(self, user: str = "ann") -> str:
        """Mint a key."""
        return self.run("keys", "mint", "--org", "org-7", "--user", user).stdout.strip()

    @contextmanager
    def serving(self, *arguments: str, **settings: str) -> Iterator["Server"]:
        """Serve over HTTP on a free port for as long as the block lasts."""
        command = [self.command, "serve", "--http", "--port", "0", *arguments]
        with self.started(command, stderr=subprocess.PIPE, **settings) as process:
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line)
                if "Listening on" in line:
                    yield Server(process, line.split()[-1])
                    return
            raise AssertionError("".join(said))

    @contextmanager
    def started(self, command: list[str], stderr: int, **settings: str) -> Iterator[subprocess.Popen[str]]:
        """Start a process and make sure that it is gone when the block ends."""
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment(**settings),
            stdin=pipe,
            stdout=pipe,
            stderr=stderr,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    @property
    def audit_lines(self) -> list[dict[str, Any]]:
        """The audit log."""
        path = self.folder / "audit" / "audit.jsonl"
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs. `address` is its endpoint."""

    process: subprocess.Popen[str]
    address: str

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.address.rpartition(":")[2].partition("/")[0])

    def client(self, **headers: str) -> httpx2.AsyncClient:
        """Return a client of it that sends these headers; an underscore stands for a dash."""
        sent = {**HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return httpx2.AsyncClient(headers=sent, timeout=SECONDS, trust_env=False, verify=False)

    def raw(self, request: bytes) -> bytes:
        """Send bytes as they are and return what comes back."""
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS) as connection:
            try:
                connection.sendall(request)
                while piece := connection.recv(65_536):
                    answer += piece
            except ConnectionError:
                pass
        return answer

    def stop(self, signal: int) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(signal)
        return self.process.wait(SECONDS)


def message(method: str, **parameters: Any) -> dict[str, Any]:
    """Return a JSON-RPC request of the handshake era."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}


def call(name: str, arguments: Mapping[str, Any] = {}) -> dict[str, Any]:
    """Return the request that calls a tool."""
    return message("tools/call", name=name, arguments=dict(arguments))


INITIALIZE: Final = message(
    "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "test", "version": "1"}
)
