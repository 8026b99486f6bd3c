"""Gates run in CI, and a release runs them before it builds, or they are not gates."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from .subject import GATES, INSTALL, ROOT

PUBLISHES = re.compile(r"(twine|uv|poetry|flit|hatch|mcp-publisher) (upload|publish)|pypi-publish|build-push-action")
BUILDS = re.compile(rf"(python -m|uv|hatch|poetry|flit|docker) build|{PUBLISHES.pattern}")
IN_SPITE = re.compile(r"always\(\)|failure\(\)|cancelled\(\)")
"""Conditions under which a job runs although one that it needs has failed."""


def where_github_looks() -> Path:
    """Return the folder of workflows at the root of the repository, which may hold more than this project."""
    repository = next((folder for folder in (ROOT, *ROOT.parents) if (folder / ".git").exists()), ROOT)
    return repository / ".github" / "workflows"


FOLDER = where_github_looks()


def read(path: Path) -> dict[Any, Any]:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def workflows() -> dict[str, dict[Any, Any]]:
    found = {path.name: read(path) for path in sorted(FOLDER.glob("*.y*ml"))}
    assert found, f"GitHub looks for workflows in {FOLDER}, and there is none."
    return found


def triggers(workflow: dict[Any, Any]) -> dict[str, Any]:
    # YAML reads the bare word `on` as true.
    found: Any = workflow.get("on", workflow.get(True))
    if isinstance(found, dict):
        return found
    return dict.fromkeys([found] if isinstance(found, str) else found)


def commands(job: dict[str, Any]) -> list[str]:
    return [str(step.get("run") or step.get("uses")).strip() for step in job.get("steps", [])]


def certain(job: dict[str, Any]) -> list[str]:
    """Return what a job runs whenever it runs: a step with a condition may be left out, and the job succeeds."""
    called = str(job.get("uses", ""))
    if called.startswith("./"):
        inside = read(FOLDER / Path(called).name)["jobs"].values()
        return [command for inner in inside for command in certain(inner)]
    return [command for command, step in zip(commands(job), job.get("steps", []), strict=True) if "if" not in step]


def before(jobs: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the commands that have succeeded when a job begins."""
    needs = jobs[name].get("needs", [])
    assert not IN_SPITE.search(str(jobs[name].get("if"))), f"{name} runs although what it needs has failed."
    for needed in [needs] if isinstance(needs, str) else needs:
        yield from before(jobs, needed)
        yield from certain(jobs[needed])


def test_every_push_and_every_pull_request_runs_the_gates() -> None:
    started = [workflow for workflow in workflows().values() if is_started_by_every_change(workflow)]
    assert started, "No workflow is started by every push to a branch and every pull request."
    jobs = [job for workflow in started for job in workflow["jobs"].values()]
    running = [job for job in jobs if {INSTALL, GATES} <= set(certain(job))]
    assert running, f"No job of such a workflow runs `{INSTALL}` and `{GATES}`."
    assert not any(job.get("continue-on-error") or job.get("if") for job in running)


def is_started_by_every_change(workflow: dict[Any, Any]) -> bool:
    starts = triggers(workflow)
    changes = [starts.get(name, "absent") or {} for name in ("push", "pull_request")]
    return all(isinstance(change, dict) and set(change) <= {"branches"} for change in changes)


def test_a_release_runs_the_gates_before_it_builds_or_publishes() -> None:
    releases = {name: workflow["jobs"] for name, workflow in workflows().items() if PUBLISHES.search(str(workflow))}
    builders = [
        (jobs, name)
        for jobs in releases.values()
        for name, job in jobs.items()
        if any(BUILDS.search(command) for command in commands(job))
    ]
    assert builders, "No workflow publishes anything: nothing was examined."
    for jobs, name in builders:
        first = next(number for number, command in enumerate(commands(jobs[name])) if BUILDS.search(command))
        own = set(commands(jobs[name])[:first]) & set(certain(jobs[name]))
        done = {*before(jobs, name), *own}
        assert INSTALL in done, f"{name} builds before the connector is installed."
        assert GATES in done, f"{name} builds before the gates have passed."


def test_the_living_source_holds_nothing_back() -> None:
    starts = set(triggers(read(FOLDER / "smoke.yml")))
    assert not {"push", "pull_request", "pull_request_target"} & starts
    assert "schedule" in starts


# The ids are numbers: by its name, one file would be left out with the smoke tests.
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.y*ml")), ids=itertools.count())
def test_workflows_are_pinned_and_may_do_little(path: Any) -> None:
    workflow, text = read(path), path.read_text(encoding="utf-8")
    assert workflow.get("permissions") == {}, f"{path.name} gives permissions to every job."
    assert "|| true" not in text
    assert "continue-on-error" not in text
    for action in re.findall(r"uses:\s*(\S+)", text):
        pinned = re.fullmatch(r"[\w./-]+@[0-9a-f]{40}|[.]/[.\w/-]+", action)
        assert pinned, f"{action} is not pinned by commit."
    for name, job in workflow["jobs"].items():
        if job.get("permissions", {}).get("id-token") == "write":
            assert path.name == "release.yml", f"{name} of {path.name} may ask for an identity."
