"""Each breakage turns exactly the gates red that guard against it, and no gate is red without one."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

import pytest

from tests.breakages import BREAKAGES, PACKAGE, Breakage, Element
from tests.rendering import Environment

EXAMINER: Final = Path(__file__).with_name("examiner.py")
WHOLE_SUITE: Final = ("tests/",)
NAMED: Final = tuple(sorted({gate for breakage in BREAKAGES for gate in breakage.gates}))

TEST: Final = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)
GUARDS_OF_THE_SUITE: Final = frozenset({"test_network.py"})
"""What keeps the tests themselves on this machine. Without it they would reach out."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What the gates said of one copy. Tests are named without their parameters."""

    place: Path
    green: frozenset[str]
    red: dict[str, str]
    ended: str
    """Why the run did not come to its own end; empty if it did."""


class Examiner:
    """Runs the gates of copies with the environment of the rendering that they are copies of."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def examine(self, project: Path, tests: tuple[str, ...]) -> Examination:
        """Run some tests of a copy."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"folder": str(project), "package": PACKAGE, "tests": tests}
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Examination(
            place=Path(answer["place"]),
            green=frozenset(_function(test) for test in answer["green"]),
            red={_function(test): reason for test, reason in answer["red"].items()},
            ended=answer["ended"],
        )


def _function(test: str) -> str:
    return test.partition("[")[0]


@pytest.fixture(scope="session")
def examiner(connector: Environment) -> Iterator[Examiner]:
    environment = {**os.environ, **connector.bytecode}
    command = [str(connector.python), "-P", str(EXAMINER)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield Examiner(process)


@pytest.fixture
def copy(connector: Environment, tmp_path: Path) -> Path:
    """A copy of the rendering that may be changed. It shares the environment of the rendering."""
    leave = shutil.ignore_patterns("__pycache__", ".*_cache", ".git")
    return shutil.copytree(connector.project, tmp_path / "copy", ignore=leave)


def expect(breakage: Breakage, found: Examination) -> None:
    silent = sorted(set(breakage.gates) - set(found.red))
    assert not silent, f"{breakage.name}: {', '.join(silent)} did not notice. {found.ended}"
    others = {test: reason for test, reason in found.red.items() if test not in breakage.gates}
    assert not others, f"{breakage.name}: red beside its gates:\n" + "\n".join(f"{t}\n{r}" for t, r in others.items())


def test_every_element_has_two_breakages_and_none_has_two_names() -> None:
    counts = Counter(breakage.element for breakage in BREAKAGES)
    assert {element for element in get_args(Element) if counts[element] < 2} == set()
    assert len({breakage.name for breakage in BREAKAGES}) == len(BREAKAGES)


def test_every_gate_has_a_breakage(connector: Environment) -> None:
    gates = set()
    for path in (connector.project / "tests" / "canon").glob("test_*.py"):
        if path.name not in GUARDS_OF_THE_SUITE:
            names = TEST.findall(path.read_text(encoding="utf-8"))
            gates |= {f"tests/canon/{path.name}::{name}" for name in names}
    assert gates, "The rendering has no gates: nothing was examined."
    assert gates <= set(NAMED), f"Nothing shows that these can fail: {sorted(gates - set(NAMED))}."


def test_an_unbroken_copy_is_green(copy: Path, examiner: Examiner) -> None:
    found = examiner.examine(copy, NAMED)
    assert found.place.is_relative_to(copy), f"The gates examined {found.place} and not the copy."
    assert not found.ended, found.ended
    assert not found.red, found.red
    assert found.green == set(NAMED)


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: str(breakage.name))
def test_a_breakage_turns_its_gates_red(breakage: Breakage, copy: Path, examiner: Examiner) -> None:
    for edit in breakage.edits:
        edit.apply(copy)
    expect(breakage, examiner.examine(copy, breakage.gates))


@pytest.mark.slow
def test_the_whole_suite_of_an_unbroken_copy_is_green(copy: Path, examiner: Examiner) -> None:
    found = examiner.examine(copy, WHOLE_SUITE)
    assert not found.ended, found.ended
    assert not found.red, found.red


@pytest.mark.slow
@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: str(breakage.name))
def test_a_breakage_turns_nothing_else_red(breakage: Breakage, copy: Path, examiner: Examiner) -> None:
    for edit in breakage.edits:
        edit.apply(copy)
    expect(breakage, examiner.examine(copy, WHOLE_SUITE))
