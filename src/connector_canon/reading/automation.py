"""What runs by itself: workflows, their triggers, and which step tests or publishes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from connector_canon.findings import Place
from connector_canon.reading.files import Folders, text_of_file

TESTS = re.compile(
    r"(?<![\w.-])(?:py\.?test|tox|nox|unittest|hatch (?:run )?test|(?:make|just|task|poe) (?:[\w:-]+ )*?(?:test|check)\w*)(?![\w/-])"
)
INSTALLS = re.compile(r"^\s*(?:(?:python\d? -m )?pip3? install|uv (?:pip install|add|tool install|sync)|apt)")
PUBLISHING_COMMAND = re.compile(
    r"twine upload|(?:uv|poetry|flit|hatch|pdm) publish|docker push|gh release create|mcp-publisher publish|npm publish"
)
PUBLISHING_ACTION = re.compile(
    r"^(?:pypa/gh-action-pypi-publish|docker/build-push-action|softprops/action-gh-release|ncipollo/release-action)@"
)
DISARMED = re.compile(r"\|\|\s*(?:true|:|exit 0)\s*$", re.MULTILINE)
CHOOSES_PEOPLE = re.compile(r"github\.(?:triggering_)?actor\b|author_association|\buser\.login|github\.ref(?:_name)?\b")
REGARDLESS = re.compile(r"always\(\)|failure\(\)|!\s*cancelled\(\)")
SUCCEEDED = re.compile(r"needs\.[\w-]+\.result\s*==\s*['\"]success")
# The same safe loader, where libyaml is there to do the work.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PINNED = re.compile(r"@[0-9a-f]{40}$")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a job."""

    run: str
    uses: str
    disarmed: bool
    place: Place
    condition: str = ""

    @property
    def tests(self) -> bool:
        """Whether the step runs a test suite and its failure counts."""
        lines = [
            line for line in self.run.splitlines() if not INSTALLS.match(line) and not line.strip().startswith("#")
        ]
        return not self.disarmed and any(TESTS.search(line) for line in lines)

    @property
    def may_be_skipped(self) -> bool:
        """Whether a pull request of somebody, or from somewhere, passes the step by."""
        return bool(CHOOSES_PEOPLE.search(self.condition)) or (
            "github.event_name" in self.condition and "pull_request" not in self.condition
        )

    @property
    def publishes(self) -> bool:
        """Whether the step sends something to an index, a registry or a release page."""
        return bool(PUBLISHING_COMMAND.search(self.run) or PUBLISHING_ACTION.match(self.uses))


@dataclass(frozen=True, slots=True)
class Job:
    """One job with the jobs it waits for."""

    name: str
    needs: tuple[str, ...]
    steps: tuple[Step, ...]
    calls: str = ""
    condition: str = ""
    permissions: Any = None


@dataclass(frozen=True, slots=True)
class Workflow:
    """One workflow file."""

    place: Place
    triggers: dict[str, Any]
    jobs: tuple[Job, ...]
    permissions: Any = None

    @property
    def may_do_everything(self) -> bool:
        """Whether some job has whatever the repository gives by default, or asks for all."""
        granted = [job.permissions if job.permissions is not None else self.permissions for job in self.jobs]
        return any(given is None or given == "write-all" for given in [*granted, self.permissions or {}])

    @property
    def on_push(self) -> bool:
        """Whether a push to a branch starts it."""
        push = self.triggers.get("push", False)
        if push is False:
            return False
        return not (isinstance(push, dict) and "tags" in push and "branches" not in push)

    @property
    def on_pull_request(self) -> bool:
        """Whether a pull request starts it."""
        return "pull_request" in self.triggers or "pull_request_target" in self.triggers

    def steps(self) -> list[Step]:
        """Return the steps of all jobs."""
        return [step for job in self.jobs for step in job.steps]

    def tests_before(self, job: Job, step: Step) -> bool:
        """Whether tests must have passed before a step is reached."""
        if not REGARDLESS.search(step.condition) and any(s.tests for s in job.steps[: job.steps.index(step)]):
            return True
        waiting, seen = _waited_for(job), set[str]()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for other in self.jobs:
                if other.name == name:
                    if any(s.tests for s in other.steps):
                        return True
                    waiting.extend(_waited_for(other))
        return False


def _waited_for(job: Job) -> list[str]:
    """Return the jobs that must have succeeded for a job to start; `if: always()` asks for none."""
    if REGARDLESS.search(job.condition) and not SUCCEEDED.search(job.condition):
        return []
    return list(job.needs)


def workflows(folders: Folders) -> list[Workflow]:
    """Read every GitHub workflow, and CircleCI's and GitLab's configuration as one workflow each."""
    found: list[Workflow] = []
    for folder in dict.fromkeys((folders.repository, folders.project)):
        github = folder / ".github" / "workflows"
        for path in sorted([*github.glob("*.yml"), *github.glob("*.yaml")]) if github.is_dir() else []:
            workflow = _github(folders, path)
            if workflow is not None:
                found.append(workflow)
        for name in (".circleci/config.yml", ".gitlab-ci.yml"):
            workflow = _other(folders, folder / name)
            if workflow is not None:
                found.append(workflow)
    return [_with_called(folders, workflow) for workflow in found]


def _load(path: Path) -> tuple[dict[Any, Any], str] | None:
    text = text_of_file(path)
    if text is None:
        return None
    try:
        table = yaml.load(text, Loader=LOADER)  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        return None
    return (table, text) if isinstance(table, dict) else None


def _github(folders: Folders, path: Path) -> Workflow | None:
    loaded = _load(path)
    if loaded is None:
        return None
    table, text = loaded
    # YAML 1.1 reads the key `on` as true.
    triggers = table.get("on", table.get(True))
    named: dict[str, Any] = {}
    if isinstance(triggers, str):
        named = {triggers: None}
    elif isinstance(triggers, list):
        named = {str(t): None for t in triggers}
    elif isinstance(triggers, dict):
        named = {str(k): v for k, v in triggers.items()}
    shown = folders.shown(path)
    jobs: list[Job] = []
    listed = table.get("jobs")
    for name, job in listed.items() if isinstance(listed, dict) else ():
        if not isinstance(job, dict):
            continue
        needs = job.get("needs", [])
        steps = tuple(_step(step, job, shown, text) for step in job.get("steps") or [] if isinstance(step, dict))
        jobs.append(
            Job(
                name=str(name),
                needs=tuple([needs] if isinstance(needs, str) else needs or []),
                steps=steps,
                calls=str(job.get("uses") or ""),
                condition=str(job.get("if") or ""),
                permissions=job.get("permissions"),
            )
        )
    return Workflow(Place(shown), named, tuple(jobs), table.get("permissions"))


def _step(step: dict[str, Any], job: dict[str, Any], shown: str, text: str) -> Step:
    run, uses = str(step.get("run") or ""), str(step.get("uses") or "")
    inputs = step.get("with")
    if uses.startswith("docker/build-push-action") and not _pushes(inputs):
        uses = ""
    disarmed = bool(step.get("continue-on-error") or job.get("continue-on-error") or DISARMED.search(run))
    key = next((line.strip() for line in (run or uses).splitlines() if line.strip()), "")
    number = next((n for n, line in enumerate(text.splitlines(), 1) if key and key in line), 1)
    condition = " ".join(str(part["if"]) for part in (job, step) if part.get("if"))
    return Step(run, uses, disarmed, Place(shown, number), condition)


def _pushes(inputs: Any) -> bool:
    """Whether a build of an image also sends it away."""
    if not isinstance(inputs, dict):
        return False
    return inputs.get("push") not in (None, False) or "push=true" in str(inputs.get("outputs", ""))


def _other(folders: Folders, path: Path) -> Workflow | None:
    loaded = _load(path)
    if loaded is None:
        return None
    table, text = loaded
    shown = folders.shown(path)
    lines = [str(value) for value in _strings(table)]
    steps = tuple(
        Step(line, "", bool(DISARMED.search(line)), Place(shown, next((n for n, t in enumerate(text.splitlines(), 1) if line.splitlines()[0] in t), 1)))
        for line in lines
        if line.strip()
    )  # fmt: skip
    return Workflow(Place(shown), {"push": None, "pull_request": None}, (Job(path.stem, (), steps),))


def _strings(value: Any) -> list[str]:
    """Return the strings of a document, each part once: anchors may make a small file endless."""
    found: list[str] = []
    waiting, seen = [value], set[int]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict | list) and id(part) not in seen:
            seen.add(id(part))
            waiting.extend(reversed(list(part.values() if isinstance(part, dict) else part)))
    return found


def _with_called(folders: Folders, workflow: Workflow) -> Workflow:
    """Put the steps of a workflow that lies in the same repository in place of the call to it."""
    jobs: list[Job] = []
    for job in workflow.jobs:
        if job.calls.startswith("./"):
            called = _github(folders, folders.repository / job.calls[2:])
            jobs.append(replace(job, steps=tuple(called.steps()) if called else (), calls=""))
        else:
            jobs.append(job)
    return replace(workflow, jobs=tuple(jobs))
