"""Drift against a small template with two releases, made here."""

from __future__ import annotations

import json
import subprocess
import warnings
from pathlib import Path

import copier
import pytest
from click.testing import CliRunner

from connector_canon.commands import main

TEMPLATE = {
    "copier.yml": (
        "_subdirectory: template\n_answers_file: .copier-answers.yml\n"
        "package_name: {type: str, default: acts}\nlanguage: {type: str, default: en}\n"
    ),
    "template/{{ _copier_conf.answers_file }}.jinja": "{{ _copier_answers|to_nice_yaml }}",
    "template/src/{{ package_name }}/canon/boundary.py": "ONE = 1\n",
    "template/src/{{ package_name }}/server.py": "shared = True\n",
    "template/tests/canon/test_gate.py": "def test_gate(): ...\n",
    "template/.github/workflows/ci.yml.jinja": "name: ci-{{ language }}\n",
    "template/.github/template-update.sh": "echo update\n",
    "template/.github/dependabot.yml": "version: 2\n",
    "template/.github/{% if language == 'en' %}english.yml{% endif %}": "english: true\n",
    "template/.claude/rules/the-door.md": "# The door\n",
    "template/renovate.json": "{}\n",
    "template/AGENTS.md": "# Shared\n",
    "template/ruff.toml": "line-length = 120\n",
}


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=canon", "-c", "user.email=canon@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def template(tmp_path: Path) -> Path:
    folder = tmp_path / "template"
    for name, text in TEMPLATE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    git(folder, "tag", "v1.0.0")
    return folder


@pytest.fixture
def connector(template: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "connector"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copier.run_copy(str(template), folder, data={"language": "pl"}, defaults=True, quiet=True)
    return folder


def look(path: Path, *more: str) -> tuple[int, dict[str, object], str]:
    result = CliRunner().invoke(main, ["drift", str(path), "--format", "json", *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    table = json.loads(result.stdout) if result.stdout else {}
    return result.exit_code, table, result.stderr


def release_again(template: Path) -> None:
    (template / "template/ruff.toml").write_text("line-length = 100\n", encoding="utf-8")
    git(template, "commit", "-qam", "two")
    git(template, "tag", "v1.1.0")


def test_a_fresh_rendering_is_in_step(connector: Path) -> None:
    code, table, _ = look(connector)
    assert (code, table["edited"], table["missing"], table["added"], table["behind"]) == (0, [], [], [], False)
    assert table["version"] == "v1.0.0"


def test_an_edit_is_named(connector: Path) -> None:
    (connector / "src/acts/canon/boundary.py").write_text("ONE = 2\n", encoding="utf-8")
    code, table, _ = look(connector)
    assert (code, table["edited"]) == (1, ["src/acts/canon/boundary.py"])


def test_a_file_among_the_templates_own_is_named(connector: Path) -> None:
    (connector / "tests/canon/test_mine.py").write_text("", encoding="utf-8")
    code, table, _ = look(connector)
    assert (code, table["added"]) == (1, ["tests/canon/test_mine.py"])


def test_a_removed_gate_is_named(connector: Path) -> None:
    (connector / "tests/canon/test_gate.py").unlink()
    code, table, _ = look(connector)
    assert (code, table["missing"]) == (3, ["tests/canon/test_gate.py"])


BESIDE = (".github/template-update.sh", ".github/dependabot.yml", ".claude/rules/the-door.md", "renovate.json")


@pytest.mark.parametrize("name", BESIDE)
def test_a_file_in_a_folder_that_a_project_shares_is_compared(name: str, connector: Path) -> None:
    (connector / name).write_text("ours\n", encoding="utf-8")
    code, table, _ = look(connector)
    assert (code, table["edited"]) == (1, [name])
    (connector / name).unlink()
    code, table, _ = look(connector)
    assert (code, table["missing"]) == (3, [name])


def test_files_of_the_project_in_those_folders_are_no_drift(connector: Path) -> None:
    for name in (".github/CODEOWNERS", ".github/english.yml", ".claude/rules/ours.md", ".claude/settings.json"):
        (connector / name).write_text("ours\n", encoding="utf-8")
    assert look(connector)[0] == 0


def why_unknown(path: Path) -> str:
    result = CliRunner().invoke(main, ["drift", str(path)])
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("cannot tell")]
    return line.partition("exists: ")[2]


def test_it_says_why_the_newest_release_is_not_known(template: Path, connector: Path) -> None:
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=template, check=True, capture_output=True, text=True
    ).stdout.strip()
    answers = connector / ".copier-answers.yml"
    answers.write_text(answers.read_text(encoding="utf-8").replace("v1.0.0", commit), encoding="utf-8")
    git(template, "tag", "-d", "v1.0.0")
    assert why_unknown(connector) == "the template has no tag"
    git(template, "tag", "nightly")
    assert why_unknown(connector) == "the template has no tag that is a version"
    git(template, "tag", "0.1.0a1")
    git(template, "tag", "0.1.0a2")
    assert why_unknown(connector) == "the template has pre-releases alone, the newest is 0.1.0a2"


def test_a_newer_release_is_named_and_the_recorded_one_compared(template: Path, connector: Path) -> None:
    release_again(template)
    code, table, _ = look(connector)
    assert (code, table["behind"], table["newest"], table["edited"]) == (4, True, "v1.1.0", [])


def test_the_gravest_kind_gives_the_code_and_kinds_can_be_allowed(template: Path, connector: Path) -> None:
    release_again(template)
    (connector / "ruff.toml").write_text("", encoding="utf-8")
    (connector / "tests/canon/test_gate.py").unlink()
    assert look(connector)[0] == 1
    assert look(connector, "--allow", "edited")[0] == 3
    assert look(connector, "--allow", "edited", "--allow", "missing")[0] == 4
    assert look(connector, "--allow", "edited", "--allow", "missing", "--allow", "behind")[0] == 0


def test_the_connectors_own_and_shared_files_are_no_drift(connector: Path) -> None:
    (connector / "src/acts/server.py").write_text("mine = True\n", encoding="utf-8")
    (connector / "src/acts/canon/__pycache__").mkdir()
    (connector / "src/acts/canon/__pycache__/boundary.cpython-312.pyc").write_bytes(b"")
    assert look(connector)[0] == 0


def test_line_ends_are_no_drift(connector: Path) -> None:
    (connector / "ruff.toml").write_bytes(b"line-length = 120\r\n")
    assert look(connector)[0] == 0


def test_nothing_of_the_connector_is_changed(connector: Path) -> None:
    before = {p: p.read_bytes() for p in connector.rglob("*") if p.is_file()}
    look(connector)
    assert {p: p.read_bytes() for p in connector.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "was not rendered"),
        ("", "does not say which template"),
        ("_src_path: [", "does not say which template"),
        ("_src_path: /no/such/template\n_commit: v1\n", "at v1 cannot be"),
    ],
)
def test_what_cannot_be_rendered_again_is_two(text: str | None, reason: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / ".copier-answers.yml").write_text(text, encoding="utf-8")
    code, table, err = look(tmp_path)
    assert (code, table) == (2, {})
    assert reason in err


def test_a_version_that_is_gone_is_two(template: Path, connector: Path) -> None:
    answers = connector / ".copier-answers.yml"
    answers.write_text(answers.read_text(encoding="utf-8").replace("v1.0.0", "v0.9.0"), encoding="utf-8")
    code, _, err = look(connector)
    assert code == 2
    assert "v0.9.0" in err


def test_an_adopted_server_owns_what_is_beside_the_canon(template: Path, tmp_path: Path) -> None:
    """The canon lies in whatever package the server had."""
    (template / "copier.yml").write_text(
        TEMPLATE["copier.yml"] + "mode: {type: str, default: new}\n_exclude: [ruff.toml]\n", encoding="utf-8"
    )
    (template / "template/src").rename(template / "template/laws")
    git(template, "add", "-A")
    git(template, "commit", "-qm", "two")
    git(template, "tag", "v2.0.0")
    folder = tmp_path / "adopted"
    copier.run_copy(str(template), folder, data={"mode": "retrofit"}, defaults=True, quiet=True)
    (folder / ".github/workflows/ours.yml").write_text("name: ours\n", encoding="utf-8")
    (folder / ".github/workflows/ci.yml").write_text("name: changed\n", encoding="utf-8")
    (folder / "ruff.toml").write_text("", encoding="utf-8")
    assert look(folder)[0] == 0
    (folder / "laws/acts/canon/boundary.py").write_text("ONE = 2\n", encoding="utf-8")
    assert look(folder)[1]["edited"] == ["laws/acts/canon/boundary.py"]
