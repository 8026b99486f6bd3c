"""A probe of a rendered connector that was installed as its README says: over stdio, and over HTTP in both channels."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command.test_probe import absent, run
from tests.rendering import Environment

pytestmark = pytest.mark.slow
MODULE = "eu_digital_acts"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EU_DIGITAL_ACTS_API_KEYS_FILE", str(tmp_path / "keys.json"))
    monkeypatch.setenv("EU_DIGITAL_ACTS_AUDIT_DIR", str(tmp_path / "audit"))
    return tmp_path


def test_over_stdio_there_is_no_gap(connector: Environment, settings: Path) -> None:
    code, table, _ = run("--call-read-only", "--", str(connector.python), "-m", MODULE)
    assert absent(table) == set()
    assert code == 0
    lines = (settings / "audit" / "audit.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum('"coverage"' in line for line in lines) == 2, "one call in each protocol era"


@pytest.mark.parametrize("header", ["X-API-Key: {key}", "Authorization: Bearer {key}"])
def test_over_http_there_is_no_gap(connector: Environment, settings: Path, header: str) -> None:
    minted = connector.run("-m", MODULE, "keys", "mint", "--org", "o", "--user", "u")
    key = re.search(r"\S+_pat_\S+", minted.stdout)
    assert key is not None, minted.stderr
    with serving(connector) as url:
        code, table, _ = run(url, "--header", header.format(key=key[0]))
    assert absent(table) == set()
    assert code == 0
    door = {f["rule"]: f["verdict"] for f in table["findings"] if f["element"] == "3"}
    assert set(door.values()) == {"present"}


@contextmanager
def serving(connector: Environment) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(connector.python), "-m", MODULE, "serve", "--http", "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as attempt:
                if attempt.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(20)
