"""A rendering's own suite passes where a stranger would run it: installed, on every Python it promises."""

import itertools
import os
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests import postgres
from tests.answers import ANSWERS
from tests.rendering import Environment, interpreters, render

PYTHONS: Final = ("3.11", "3.12", "3.13")
AT_LEAST: Final = 300
"""Tests of the smallest rendering. A suite that shrinks below it has lost something."""


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    with postgres.serving() as address:
        yield address


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a suite did, by the file that each test stands in."""

    code: int
    said: str
    ran: Counter[str]
    skipped: Counter[str]


def outcome_of(environment: Environment, report: Path, **variables: str) -> Outcome:
    """Run the gates of a rendering."""
    done = environment.gates(f"--junitxml={report}", **variables)
    ran: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        (ran if case.find("skipped") is None else skipped)[case.attrib["classname"]] += 1
    return Outcome(done.returncode, done.stdout + done.stderr, ran, skipped)


def modules(project: Path) -> set[str]:
    """Return the test files of a rendering but the one that asks the living source."""
    found = {".".join(path.relative_to(project).with_suffix("").parts) for path in project.rglob("tests/**/test_*.py")}
    return found - {"tests.test_smoke"}


def assert_all_ran(environment: Environment, outcome: Outcome) -> None:
    assert outcome.code == 0, outcome.said
    assert outcome.skipped == Counter(), outcome.said
    assert set(outcome.ran) == modules(environment.project)
    assert outcome.ran.total() >= AT_LEAST


@pytest.mark.xdist_group("connector")
def test_the_default_suite_passes(connector: Environment, tmp_path: Path) -> None:
    assert_all_ran(connector, outcome_of(connector, tmp_path / "report.xml"))


@pytest.mark.xdist_group("connector")
def test_the_gates_leave_out_the_smoke_tests_and_nothing_else(connector: Environment) -> None:
    """The word in a test's name or id is enough to leave it out."""
    selection = ("--collect-only", "-k", "smoke", "-m", "not smoke", "-p", "no:cacheprovider")
    done = connector.run("-m", "pytest", "tests/", "-q", *selection)
    assert "::" not in done.stdout
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout + done.stderr
    deselected = re.search(r"(\d+) deselected", done.stdout)
    assert deselected is not None
    assert int(deselected[1]) > AT_LEAST


@pytest.mark.xdist_group("connector")
def test_a_suite_that_lost_something_is_noticed(connector: Environment) -> None:
    whole = Counter(dict.fromkeys(modules(connector.project), AT_LEAST))
    assert_all_ran(connector, Outcome(0, "", whole, Counter()))
    lost = Counter(whole)
    del lost["tests.canon.test_audit"]
    for outcome in (
        Outcome(1, "", whole, Counter()),
        Outcome(0, "", whole, Counter({"tests.test_acts_contract": 1})),
        Outcome(0, "", lost, Counter()),
        Outcome(0, "", Counter(dict.fromkeys(whole, 1)), Counter()),
    ):
        with pytest.raises(AssertionError):
            assert_all_ran(connector, outcome)


@pytest.mark.slow
@pytest.mark.parametrize("name", ANSWERS)
def test_the_suite_passes_for_all_answers(
    request: pytest.FixtureRequest, template: Path, tmp_path: Path, name: str
) -> None:
    project = render(template, tmp_path / "connector", ANSWERS[name])
    environment = Environment.of(project, tmp_path / "environment")
    assert_all_ran(environment, outcome_of(environment, tmp_path / "report.xml", **needed(request, name)))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "python"), list(itertools.product(["default", "polish-everything"], PYTHONS)))
def test_the_suite_passes_on_every_python(
    request: pytest.FixtureRequest, template: Path, tmp_path: Path, name: str, python: str
) -> None:
    found = interpreters([python])
    if not found:
        sentence = f"There is no Python {python} on this machine."
        if os.environ.get("CI"):
            pytest.fail(sentence)
        pytest.skip(sentence)
    project = render(template, tmp_path / "connector", ANSWERS[name])
    environment = Environment.of(project, tmp_path / "environment", found[python])
    says = environment.run("-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip()
    assert says == python
    assert_all_ran(environment, outcome_of(environment, tmp_path / "report.xml", **needed(request, name)))


def needed(request: pytest.FixtureRequest, name: str) -> dict[str, str]:
    """Return what the suite must know of this machine."""
    if not ANSWERS[name].get("postgres"):
        return {}
    address: str = request.getfixturevalue("database")
    return {"CONNECTOR_TEST_POSTGRES": address}
