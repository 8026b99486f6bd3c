"""The tutorial, carried out on a rendering exactly as it is written."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.rendering import ROOT, Environment

TUTORIAL = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(
    r'(?:^(?P<intro>[^\n]+)\n\n)?^```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^```$', re.M | re.S
)
PLACE = re.compile(r"Add (?P<where>after|before) `(?P<line>.+)`:|Add (?P<end>at the end):|Replace `(?P<old>.+)` with:")

LONG = re.compile(r'"not smoke"|mypy')
"""Commands that the quick run leaves out."""


@dataclass(frozen=True)
class Step:
    """A block of the tutorial and the sentence above it."""

    intro: str
    kind: str
    title: str
    body: str

    @property
    def is_command(self) -> bool:
        return self.kind == "sh"


def blocks(page: Path) -> list[Step]:
    """Return the blocks of a page, in order."""
    return [Step(*(part or "" for part in match.groups())) for match in BLOCK.finditer(page.read_text("utf-8"))]


def steps() -> list[Step]:
    found = blocks(TUTORIAL)
    assert len(found) > 20, "The tutorial's blocks are no longer recognised."
    return found


def edit(project: Path, step: Step) -> None:
    """Make the change that a block and the sentence above it ask for."""
    place = PLACE.fullmatch(step.intro)
    assert place, f"Nothing says where in {step.title} this belongs:\n{step.body}"
    path = project / step.title
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if place["end"]:
        lines.append(step.body)
    else:
        wanted = place["line"] or place["old"]
        (number,) = [number for number, line in enumerate(lines) if line.strip() == wanted]
        first, last = {"after": (number + 1, number + 1), "before": (number, number)}.get(
            place["where"], (number, number + 1)
        )
        lines[first:last] = [step.body]
    path.write_text("".join(lines), encoding="utf-8")


def carry_out(command: str, connector: Environment, project: Path, *, fails: bool) -> str:
    """Run a line in the shell, with the rendering's command and sources first on the path."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PATH": os.pathsep.join((str(project / "bin"), str(connector.python.parent), os.environ["PATH"])),
            "PYTHONPATH": str(project / "src"),
            "EU_DIGITAL_ACTS_AUDIT_DIR": str(project / "audit"),
        },
    )
    assert (done.returncode != 0) is fails, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def editable(connector: Environment, folder: Path) -> Path:
    """Copy the rendering, with a command that runs the copy. A client gives the server few variables of its own."""
    project = folder / connector.project.name
    shutil.copytree(connector.project, project)
    command = project / "bin" / project.name
    command.parent.mkdir()
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH="{project}/src" exec "{connector.python}" -m eu_digital_acts "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    return project


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["quick", "whole"])
def test_a_newcomer_can_follow_the_tutorial(connector: Environment, tmp_path: Path, *, whole: bool) -> None:
    project = editable(connector, tmp_path)
    output = ""
    for step in steps():
        if step.is_command:
            for command in step.body.splitlines():
                if whole or not LONG.search(command):
                    output = carry_out(command, connector, project, fails=step.title == "fails")
        elif step.title == "prints":
            assert output == step.body
        elif step.kind == "text":
            for line in step.body.splitlines():
                assert line.partition(" - ")[0] in output
        else:
            edit(project, step)


@pytest.mark.parametrize("path", ["tests/test_acts.py", "src/eu_digital_acts/acts/tools.py"])
def test_a_step_that_no_longer_fits_is_noticed(connector: Environment, path: str, tmp_path: Path) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    shutil.copy2(connector.project / path, tmp_path / path)
    with pytest.raises(ValueError, match="unpack"):
        edit(tmp_path, Step("Add after `a line that is not there`:", "python", path, "x = 1\n"))
