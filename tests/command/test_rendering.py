"""The command on what the template renders: nothing to say, and something to say once it is edited."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from connector_canon.commands import main
from tests.rendering import commit, render

EVERYTHING = {"language": "pl", "postgres": True, "jwt": True, "langfuse": True, "connector_slug": "sejm-eli", "package_name": "sejm_eli"}  # fmt: skip
PLAIN = {
    "docker": False,
    "registry": False,
    "record": "ruling",
    "records": "rulings",
    "package_name": "rulings_of_courts",
}


def look(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(main, [*arguments, "--format", "json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    table: dict[str, Any] = json.loads(result.stdout)
    return result.exit_code, table


@pytest.mark.parametrize("answers", [{}, EVERYTHING, PLAIN], ids=["default", "everything", "plain"])
def test_a_fresh_rendering_is_whole_and_in_step(template: Path, tmp_path: Path, answers: Mapping[str, Any]) -> None:
    project = render(template, tmp_path / "connector", answers)
    commit(project)
    code, table = look("review", str(project))
    unsettled = {f["rule"]: f["sentence"] for f in table["findings"] if f["verdict"] not in {"present"}}
    # Without the registry's file there is no name that the README has to carry.
    assert unsettled.keys() == (set() if answers.get("registry", True) else {"CN1306"})
    assert code == 0
    assert look("drift", str(project))[0] == 0


@pytest.fixture(scope="module")
def rendered(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = render(template, tmp_path_factory.mktemp("rendered") / "connector")
    commit(project)
    return project


@pytest.mark.parametrize(
    ("file", "old", "new", "rule"),
    [
        ("src/eu_digital_acts/instructions.py", "search_acts", "search_all_acts", "CN105"),
        ("src/eu_digital_acts/acts/tools.py", "annotations=read_only(", "meta=read_only(", "CN501"),
        ("src/eu_digital_acts/canon/boundary.py", 'telemetry_mode = "off"', 'telemetry_mode = "on"', "CN703"),
        ("pyproject.toml", '"fastmcp>=4.2,<5"', '"fastmcp>=4.2"', "CN1202"),
        (".github/workflows/ci.yml", "  pull_request:\n", "", "CN1101"),
        ("README.md", "read_act", "read_acts", "CN1301"),
    ],
)
def test_an_edit_is_noticed_by_its_rule(
    rendered: Path, tmp_path: Path, file: str, old: str, new: str, rule: str
) -> None:
    project = Path(shutil.copytree(rendered, tmp_path / "connector"))
    text = (project / file).read_text(encoding="utf-8")
    assert old in text
    (project / file).write_text(text.replace(old, new), encoding="utf-8")
    code, table = look("review", str(project))
    assert code == 1
    assert rule in {f["rule"] for f in table["findings"] if f["verdict"] == "absent"}


def test_an_edit_of_the_templates_own_file_is_drift(rendered: Path, tmp_path: Path) -> None:
    project = Path(shutil.copytree(rendered, tmp_path / "connector"))
    owned = project / "src" / "eu_digital_acts" / "canon" / "boundary.py"
    owned.write_text(owned.read_text(encoding="utf-8") + "\nEDITED = True\n", encoding="utf-8")
    code, table = look("drift", str(project))
    assert (code, table["edited"]) == (1, ["src/eu_digital_acts/canon/boundary.py"])


def test_without_its_contract_suite_the_other_tests_are_none(rendered: Path, tmp_path: Path) -> None:
    project = tmp_path / "connector"
    shutil.copytree(rendered, project)

    def found() -> tuple[str, str]:
        (finding,) = (f for f in look("review", str(project))[1]["findings"] if f["rule"] == "CN803")
        return finding["verdict"], finding["places"][0]["path"]

    assert found() == ("present", "tests/test_acts_contract.py")
    (project / "tests" / "test_acts_contract.py").unlink()
    assert found() == ("absent", "src/eu_digital_acts/acts/definition.py")
