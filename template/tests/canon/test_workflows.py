"""Gates run in CI, and a release runs them before it builds, or they are not gates."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from .subject import ROOT

FOLDER = ROOT / ".github" / "workflows"
INSTALL = 'python -m pip install -e ".[dev]"'
GATES = 'python -m pytest tests/ -q -k "not smoke"'
BUILDS = re.compile(r"python -m build|uv build|hatch build|twine upload|gh-action-pypi-publish|mcp-publisher publish")
IN_SPITE = re.compile(r"always\(\)|failure\(\)|cancelled\(\)")
"""Conditions under which a job runs although one that it needs has failed."""


def read(name: str) -> dict[Any, Any]:
    content = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def triggers(workflow: dict[Any, Any]) -> dict[str, Any]:
    # YAML reads the bare word `on` as true.
    found: Any = workflow.get("on", workflow.get(True))
    if isinstance(found, dict):
        return found
    return dict.fromkeys([found] if isinstance(found, str) else found)


def commands(job: dict[str, Any]) -> list[str]:
    return [str(step.get("run") or step.get("uses")) for step in job["steps"]]


def certain(job: dict[str, Any]) -> list[str]:
    """Return what a job runs whenever it runs: a step with a condition may be left out, and the job succeeds."""
    return [command for command, step in zip(commands(job), job["steps"], strict=True) if "if" not in step]


def before(jobs: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the commands that have succeeded when a job begins."""
    needs = jobs[name].get("needs", [])
    assert not IN_SPITE.search(str(jobs[name].get("if"))), f"{name} runs although what it needs has failed."
    for needed in [needs] if isinstance(needs, str) else needs:
        yield from before(jobs, needed)
        yield from certain(jobs[needed])


def test_every_push_and_every_pull_request_runs_the_gates() -> None:
    workflow = read("ci.yml")
    assert triggers(workflow)["push"] == {"branches": ["main"]}
    assert "pull_request" in triggers(workflow)
    running = [job for job in workflow["jobs"].values() if {INSTALL, GATES} <= set(certain(job))]
    assert running, "No job of ci.yml installs the connector and runs the gates."
    assert not any(job.get("continue-on-error") or job.get("if") for job in running)


def test_a_release_runs_the_gates_before_it_builds_or_publishes() -> None:
    jobs = read("release.yml")["jobs"]
    builders = [name for name, job in jobs.items() if any(BUILDS.search(command) for command in commands(job))]
    assert builders, "release.yml builds nothing: nothing was examined."
    for name in builders:
        first = next(number for number, command in enumerate(commands(jobs[name])) if BUILDS.search(command))
        own = set(commands(jobs[name])[:first]) & set(certain(jobs[name]))
        done = {*before(jobs, name), *own}
        assert INSTALL in done, f"{name} builds before the connector is installed."
        assert GATES in done, f"{name} builds before the gates have passed."


def test_the_living_source_holds_nothing_back() -> None:
    assert not {"push", "pull_request", "pull_request_target"} & set(triggers(read("smoke.yml")))
    assert "schedule" in triggers(read("smoke.yml"))


# The ids are numbers: by its name, one file would be left out with the smoke tests.
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.y*ml")), ids=itertools.count())
def test_workflows_are_pinned_and_may_do_little(path: Any) -> None:
    workflow, text = read(path.name), path.read_text(encoding="utf-8")
    assert workflow.get("permissions") == {}, f"{path.name} gives permissions to every job."
    assert "|| true" not in text
    assert "continue-on-error" not in text
    for action in re.findall(r"uses:\s*(\S+)", text):
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), f"{action} is not pinned by commit."
    for name, job in workflow["jobs"].items():
        if job.get("permissions", {}).get("id-token") == "write":
            assert path.name == "release.yml", f"{name} of {path.name} may ask for an identity."
