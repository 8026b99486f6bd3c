"""The places people work in: the Action, the hooks, repo-review."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from repo_review.processor import collect_all, process

from connector_canon.commands import main
from connector_canon.rules import RULES

ROOT = Path(__file__).parents[2]


def action() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return table


def review_step(path: Path, where: Path, baseline: str = "") -> subprocess.CompletedProcess[str]:
    """Run the Action's own script, with this environment's canon in place of the installed one."""
    folder = where / "runner" / "canon" / "bin"
    folder.mkdir(parents=True)
    (folder / "canon").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m connector_canon "$@"\n', encoding="utf-8")
    (folder / "canon").chmod(0o755)
    environment = {
        **os.environ,
        "RUNNER_TEMP": str(where / "runner"),
        "GITHUB_STEP_SUMMARY": str(where / "summary.md"),
        "LOOK_AT": str(path),
        "BASELINE": baseline,
        "SARIF": str(where / "canon.sarif"),
    }
    script = action()["runs"]["steps"][-1]["run"]
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("name", "code"), [("whole", 0), ("loops", 1)])
def test_the_action_writes_sarif_and_summary_and_ends_with_the_code(
    name: str, code: int, server: Callable[[str], Path], tmp_path: Path
) -> None:
    done = review_step(server(name), tmp_path)
    assert done.returncode == code, done.stderr
    assert json.loads((tmp_path / "canon.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert "### canon review" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_the_action_ends_with_two_where_there_is_nothing(tmp_path: Path) -> None:
    empty = tmp_path / "a folder with spaces"
    empty.mkdir()
    done = review_step(empty, tmp_path)
    assert done.returncode == 2
    assert "No Python file" in done.stderr
    assert not (tmp_path / "canon.sarif").exists()


def test_the_action_pins_what_it_uses_and_takes_inputs_by_environment() -> None:
    for step in action()["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        if "uses" in step:
            assert len(step["uses"].partition("@")[2]) == 40


def test_the_hooks_name_commands_that_exist() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    for hook in hooks:
        program, command, *options = hook["entry"].split()
        assert program == "canon"
        known = {name for parameter in main.commands[command].params for name in parameter.opts}
        assert {option for option in options if option.startswith("--")} <= known


def test_repo_review_lists_the_same_rules() -> None:
    assert {code for code in collect_all().checks if code.startswith("CN")} == {rule.code for rule in RULES}


def test_repo_review_gives_the_same_verdicts(server: Callable[[str], Path]) -> None:
    path = server("whole")
    (path / "AGENTS.md").unlink()
    results = {r.name: r.result for r in process(path).results if r.name.startswith("CN")}
    assert {code for code, result in results.items() if result is False} == {"CN1304"}
    assert results["CN101"] is True


def test_repo_review_skips_what_is_no_connector(tmp_path: Path) -> None:
    results = [r for r in process(tmp_path).results if r.name.startswith("CN")]
    assert results
    assert all(r.result is None for r in results)


def test_zizmor_finds_nothing_in_the_action() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("zizmor")), "--offline", "--no-progress", str(ROOT / "action.yml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
