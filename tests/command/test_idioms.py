"""Every way people register tools, each as a small server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from connector_canon.findings import Verdict
from connector_canon.reading.connector import Connector
from connector_canon.review import review

TOOLS: dict[str, list[str]] = {
    "decorators": ["bare", "called", "by_position", "by_keyword"],
    "direct_calls": ["first", "renamed", "third_by_position", "third_by_keyword"],
    "loops": ["search_all", "read_one", "remove", "more_one", "more_two"],
    "register_modules": ["search_acts", "parse_date"],
    "named_exports": ["search_acts", "read_act", "list_courts"],
    "registry": ["alpha", "beta"],
    "mounts": ["status", "acts_search", "courts_read"],
    "classes": ["search", "read_it"],
    "factory": ["search", "write"],
    "low_level": ["search", "read"],
    "low_level_handler": ["search"],
    "run_time_loop": ["known"],
    "other_tool_decorators": ["for_clients"],
    "two_servers": ["search", "read"],
    "upstream_key": ["search"],
    "dead_door": ["search"],
    "from_openapi": [],
}


def verdicts(path: Path) -> dict[str, Verdict]:
    return {finding.code: finding.answer.verdict for finding in review(path).findings}


@pytest.mark.parametrize("name", TOOLS)
def test_the_registered_tools_are_found(name: str, server: Callable[[str], Path]) -> None:
    connector = Connector.read(server(name), 30)
    assert sorted(connector.tool_names) == sorted(TOOLS[name])


def test_every_committed_server_is_examined() -> None:
    folders = {path.name for path in (Path(__file__).parent / "servers").iterdir() if path.is_dir()}
    assert folders == TOOLS.keys() | {"whole"}


@pytest.mark.parametrize("name", ["from_openapi", "run_time_loop"])
def test_tools_decided_at_run_time_are_said_to_be(name: str, server: Callable[[str], Path]) -> None:
    report = review(server(name))
    assert any("not fully known" in note for note in report.notes)
    found = {f.code: f.answer.verdict for f in report.findings}
    assert found["CN901"] is Verdict.CANNOT_TELL


def test_a_tool_behind_a_condition_is_marked(server: Callable[[str], Path]) -> None:
    assert {t.name: t.conditional for t in review(server("factory")).tools} == {"search": False, "write": True}


def test_annotations_are_followed_to_their_constant(server: Callable[[str], Path]) -> None:
    report = review(server("loops"))
    answer = next(f.answer for f in report.findings if f.code == "CN501")
    assert answer.coverage is not None
    assert (answer.coverage.total, answer.coverage.usable) == (5, 2)


def test_an_upstream_key_is_no_door(server: Callable[[str], Path]) -> None:
    found = verdicts(server("upstream_key"))
    assert found["CN301"] is Verdict.ABSENT
    assert found["CN302"] is Verdict.ABSENT


def test_a_door_nobody_imports_is_no_door(server: Callable[[str], Path]) -> None:
    assert verdicts(server("dead_door"))["CN301"] is Verdict.ABSENT


def test_a_function_named_test_coverage_is_not_element_nine(server: Callable[[str], Path]) -> None:
    assert verdicts(server("decorators"))["CN901"] is Verdict.ABSENT


def test_instructions_of_another_server_do_not_count(server: Callable[[str], Path]) -> None:
    path = server("two_servers")
    assert verdicts(path)["CN101"] is Verdict.ABSENT
    assert any("migration.py:3" in note for note in review(path).notes)


def test_instructions_on_a_mounted_child_do_not_count(server: Callable[[str], Path]) -> None:
    assert verdicts(server("mounts"))["CN101"] is Verdict.ABSENT


def test_instructions_made_by_a_function_are_read(server: Callable[[str], Path]) -> None:
    connector = Connector.read(server("factory"), 30)
    assert connector.instructions.text is not None
    assert connector.instructions.text.value == "First call search."


def test_a_stdio_server_needs_no_door(server: Callable[[str], Path]) -> None:
    assert verdicts(server("two_servers"))["CN301"] is Verdict.NOT_APPLICABLE


def test_one_file_can_be_named(server: Callable[[str], Path]) -> None:
    assert review(server("two_servers") / "migration.py").server == "migration.py:3"
