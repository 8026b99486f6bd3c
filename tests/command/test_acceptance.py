"""Accepted gaps: with a reason, only while they are gaps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from connector_canon.commands import main


def accepting(path: Path, entries: str) -> Path:
    file = path / "pyproject.toml"
    file.write_text(file.read_text(encoding="utf-8") + f"\n[tool.canon]\naccepted = [{entries}]\n", encoding="utf-8")
    return path


def look(path: Path, *more: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["review", str(path), "--format", "json", *more])
    return result.exit_code, result.output


def test_an_accepted_gap_ends_with_zero(server: Callable[[str], Path]) -> None:
    path = accepting(server("whole"), '{ rule = "CN1304", reason = "written next week" }')
    (path / "AGENTS.md").unlink()
    code, out = look(path)
    assert code == 0
    finding = next(f for f in json.loads(out)["findings"] if f["rule"] == "CN1304")
    assert finding["accepted"] == "written next week"


def test_an_entry_that_is_no_gap_fails(server: Callable[[str], Path]) -> None:
    code, out = look(accepting(server("whole"), '{ rule = "CN1304", reason = "written next week" }'))
    assert code == 1
    assert json.loads(out)["stale"] == ["CN1304"]


@pytest.mark.parametrize("entry", ['"CN1304"', '{ rule = "CN1304" }', '{ rule = "CN1304", reason = " " }'])
def test_an_entry_without_reason_is_refused(entry: str, server: Callable[[str], Path]) -> None:
    code, out = look(accepting(server("whole"), entry))
    assert code == 2
    assert "reason" in out


def test_a_baseline_file_is_used_instead(server: Callable[[str], Path], tmp_path: Path) -> None:
    path = server("whole")
    (path / "AGENTS.md").unlink()
    baseline = tmp_path / "baseline.toml"
    baseline.write_text('accepted = [{ rule = "CN1304", reason = "later" }]\n', encoding="utf-8")
    assert look(path)[0] == 1
    assert look(path, "--baseline", str(baseline))[0] == 0
    assert look(path, "--baseline", str(tmp_path / "none.toml"))[0] == 2


def test_an_accepted_gate_of_an_adopted_server_is_no_rule(server: Callable[[str], Path]) -> None:
    entries = '{ gate = "test_audit.py::test_a_line", reason = "later" }, { rule = "CN1304", reason = "later" }'
    path = accepting(server("whole"), entries)
    (path / "AGENTS.md").unlink()
    assert look(path)[0] == 0
