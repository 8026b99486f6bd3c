"""The debugging guide shows what the command says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from connector_canon.commands import main
from tests.command.serving import served
from tests.command.symptoms.door import app

ROOT = Path(__file__).parents[2]
SYMPTOMS = Path(__file__).parent / "symptoms"
GUIDE = (ROOT / "docs" / "debugging.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"```console\n\$ (canon [^\n]+)\n(.*?)```", GUIDE, re.DOTALL)


def look(command: str) -> str:
    """Run a session's command with the server of this test in place of the one it names."""
    words = command.split()
    if "order.py" in command:
        return run("review", str(SYMPTOMS / "order.py"))
    if "codes.py" in command:
        return run("probe", "--", sys.executable, str(SYMPTOMS / "codes.py"))
    with served(app) as address:
        return run("probe", f"{address}/mcp", "--header", "X-API-Key: rulings_pat_1") if words[1] == "probe" else ""


def run(*arguments: str) -> str:
    result = CliRunner(env={"COLUMNS": "400"}).invoke(main, list(arguments))
    assert result.exit_code == 1, result.output
    return re.sub(r"[ \t]+", " ", result.output)


def test_there_is_a_session_for_each_symptom() -> None:
    assert len(SESSIONS) == GUIDE.count("**What people see.**") == 3


@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=[command.split()[-1] for command, _ in SESSIONS])
def test_the_shown_lines_are_what_the_command_says(command: str, shown: str) -> None:
    said = look(command)
    for line in shown.strip().splitlines():
        assert re.sub(r"[ \t]+", " ", line) in said


def test_the_guide_links_to_rules_that_exist() -> None:
    for page, anchor in re.findall(r"\]\((rules/[\w-]+\.md)#(\w+)\)", GUIDE):
        assert f"## {anchor.upper()}" in (ROOT / "docs" / page).read_text(encoding="utf-8")
