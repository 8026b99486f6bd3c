"""The running server beside its source."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from connector_canon import live
from connector_canon.commands import main

pytestmark = pytest.mark.skipif(
    not live._can_cut_off(), reason="This system cannot cut a command off from the network."
)


def look(path: Path, *more: str) -> tuple[int, dict[str, Any], str]:
    result = CliRunner().invoke(main, ["review", str(path), "--format", "json", "--time-limit", "20", *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    table = json.loads(result.stdout) if result.stdout else {}
    return result.exit_code, table, result.stderr


def verdict(path: Path, tail: str) -> tuple[str, str]:
    server = path / "server.py"
    server.write_text(server.read_text(encoding="utf-8") + tail, encoding="utf-8")
    _, table, _ = look(path, "--live", f"{sys.executable} {server}")
    finding = next(f for f in table["findings"] if f["rule"] == "CN1501")
    return finding["verdict"], finding["sentence"]


RUN = "\n\nif __name__ == '__main__':\n    mcp.run(show_banner=False)\n"


def test_the_same_tools_agree(server: Callable[[str], Path]) -> None:
    assert verdict(server("loops"), RUN) == ("present", "The running server lists the 5 tools of the source.")


def test_a_tool_that_is_taken_away_at_run_time_is_a_disagreement(server: Callable[[str], Path]) -> None:
    found, sentence = verdict(server("loops"), "\nmcp.local_provider.remove_tool('remove')" + RUN)
    assert found == "absent"
    assert "does not list remove" in sentence


def test_a_server_that_needs_the_network_does_not_get_it(server: Callable[[str], Path]) -> None:
    path = server("loops")
    reached = path / "reached"
    tail = (
        "\nimport pathlib, socket\n"
        f"pathlib.Path({str(reached)!r}).write_text(str(socket.socket().connect_ex(('127.0.0.1', 9))))\n"
    )
    assert verdict(path, tail + RUN)[0] == "present"
    # 101: the network is unreachable; a refusal (111) would mean that somebody could be asked.
    assert reached.read_text(encoding="utf-8") == "101"


def test_without_an_installed_script_a_command_is_asked_for(server: Callable[[str], Path]) -> None:
    code, _, err = look(server("register_modules"), "--live")
    assert code == 2
    assert "--live 'python server.py'" in err


def test_a_server_that_does_not_start_is_two(server: Callable[[str], Path]) -> None:
    code, _, err = look(server("loops"), "--live", f"{sys.executable} -c 'raise SystemExit(3)'")
    assert code == 2
    assert "exit code 3" in err
