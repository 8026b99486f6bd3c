"""Gates run in CI, and before a release, or they are not gates."""

from __future__ import annotations

import re

from connector_canon.findings import Answer, Coverage, Place, absent, cannot_tell, not_applicable, present
from connector_canon.reading.automation import PINNED, TESTS, Workflow
from connector_canon.reading.connector import Connector
from connector_canon.reading.packaging import dependencies
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import share

CI = Family("CI", "Gates run in CI", "continuous-integration")
TESTING = re.compile(r"test|\bci\b|check|python", re.IGNORECASE)
MARKED = re.compile(r"-m\s+[\"']?not\b")
CHECKS = re.compile(
    TESTS.pattern
    + r"|(?<![\w./-])(?:ruff (?:check|format --check)|mypy|pyright|flake8|pylint|lint-imports|black --check|bandit|actionlint|zizmor|pip-audit)(?![\w/-])"
)
PYTEST = re.compile(r"(?<![\w.-])py\.?test(?![\w/-])")
NOT_PATHS = re.compile(r"(?<!\S)-[kmnpcoW][ =]?(?:\"[^\"]*\"|'[^']*'|\S+)|[|&;>].*|\$\{\{.*?\}\}|\\$")
SMOKE = re.compile(r"-[km][ =]?[\"']?smoke\b|smoke\w*\.py|tests?/smoke")
LEFT_ASIDE = re.compile(r"--(?:ignore|ignore-glob|deselect)[ =]\S+")
RELEASING = re.compile(r"release|publish|deploy", re.IGNORECASE)
RELEASE = Family("release", "Releases pass the gates", "release")


def _testing(connector: Connector) -> list[Workflow]:
    return [w for w in connector.workflows if any(step.tests for step in w.steps())]


def _places(connector: Connector) -> list[Place]:
    return [w.place for w in connector.workflows][:5] or [Place(".github/workflows")]


def on_push_and_pull_request(connector: Connector) -> Answer:
    """Look whether tests run on push and on pull request."""
    testing = _testing(connector)
    push = [w.place for w in testing if w.on_push]
    pull = [w.place for w in testing if w.on_pull_request]
    skipped = [s.place for w in testing if w.on_pull_request for s in w.steps() if s.tests and s.may_be_skipped]
    tested = any(s.tests and not s.may_be_skipped for w in testing if w.on_pull_request for s in w.steps())
    if push and pull and not tested:
        return absent(
            "A condition lets some pull requests pass without a test; take it away.",
            *skipped,
            coverage=Coverage("triggers", 2, 1),
        )
    if push and pull:
        return present("Tests run on push and on pull request.", *dict.fromkeys((*push, *pull)))
    elsewhere = [
        w.place
        for w in connector.workflows
        for j in w.jobs
        if j.calls and (w.on_push or w.on_pull_request) and TESTING.search(f"{w.place.path} {j.name} {j.calls}")
    ]
    if elsewhere and not testing:
        return cannot_tell("The jobs lie in another repository's workflow, which is not here to read.", *elsewhere)
    if push or pull:
        return absent(
            f"Tests run on {'push' if push else 'pull request'} alone; let them run on both.",
            *(push or pull),
            coverage=Coverage("triggers", 2, 1),
        )
    return absent("Run the tests on every push to main and every pull request.", *_places(connector))


def smoke_apart(connector: Connector) -> Answer:
    """Look whether tests that call the living source are kept out of CI."""
    smoke = [m for m in connector.project.modules if m.is_test and "smoke" in m.path.name]
    if not smoke:
        return not_applicable("There is no smoke test.")
    runs = [s for w in connector.workflows for s in w.steps() if s.tests and (w.on_push or w.on_pull_request)]
    mixed = [s.place for s in runs if selects_smoke(s.run) or ("smoke" not in s.run and not MARKED.search(s.run))]
    if not runs:
        return not_applicable("No test runs on push or pull request.")
    if mixed:
        return absent('Run the gates with -k "not smoke"; the living source must not colour a pull request.', *mixed)
    return present("Smoke tests are kept apart from the gates.", *(s.place for s in runs))


def selects_smoke(run: str) -> bool:
    """Whether a command runs the smoke tests by name, leaving aside what it takes out."""
    return SMOKE.search(LEFT_ASIDE.sub(" ", run)) is not None


def none_disarmed(connector: Connector) -> Answer:
    """Look for checks whose failure counts as success."""
    checks = [s for w in connector.workflows for s in w.steps() if CHECKS.search(s.run)]
    if not checks:
        return not_applicable("No workflow checks anything.")
    disarmed = [s.place for s in checks if s.disarmed]
    if disarmed:
        return absent("A failure counts as success here; take `|| true` or continue-on-error away.", *disarmed)
    return present("Every check that fails is seen.", *(s.place for s in checks[:5]))


def little_allowed(connector: Connector) -> Answer:
    """Look for workflows whose token may do more than a person chose."""
    github = [w for w in connector.workflows if "/workflows/" in f"/{w.place.path}" and w.jobs]
    if not github:
        return not_applicable("There is no GitHub workflow.")
    wide = [(w.place.path, w.place) for w in github if w.may_do_everything]
    return share(
        "workflows",
        len(github),
        wide,
        "Every workflow says what its token may do.",
        "{lacking} of {total} workflows may do whatever the repository allows: {names}. Write permissions for each job.",
        tuple(w.place for w in github),
    )


def tested_paths(run: str) -> set[str]:
    """Return the files and folders that pytest is given; empty when it takes them all."""
    found: set[str] = set()
    for line in run.splitlines():
        if not (match := PYTEST.search(line)):
            continue
        words = iter(NOT_PATHS.sub(" ", line[match.end() :]).split())
        found |= {word.removeprefix("./").rstrip("/") for word in words if not word.startswith("-")}
    return found


def _tests_a_part(connector: Connector, release: Workflow) -> list[Place]:
    """Return where a release tests only some of what every push and pull request tests."""
    usual = [
        tested_paths(s.run) for w in connector.workflows if w.on_push or w.on_pull_request for s in w.steps() if s.tests
    ]
    own = [s for s in release.steps() if s.tests and PYTEST.search(s.run)]
    narrower = [
        s.place
        for s in own
        if (paths := tested_paths(s.run))
        and any(all(any(p.startswith(f"{whole}/") for whole in wide) for p in paths) for wide in usual if wide)
    ]
    return narrower if len(narrower) == len(own) else []


def actions_pinned(connector: Connector) -> Answer:
    """Look whether foreign actions are pinned to a commit."""
    used = [s for w in connector.workflows for s in w.steps() if "/" in s.uses and not s.uses.startswith("./")]
    if not used:
        return not_applicable("No workflow uses an action.")
    loose = [(s.uses, s.place) for s in used if not PINNED.search(s.uses) and not s.uses.startswith("docker://")]
    return share(
        "actions",
        len(used),
        loose,
        "Every action is pinned to a commit.",
        "{lacking} of {total} uses of actions follow a tag that can be moved: {names}. Pin the commit.",
    )


def gates_first(connector: Connector) -> Answer:
    """Look whether tests pass before anything is published."""
    publishing = [(w, job, step) for w in connector.workflows for job in w.jobs for step in job.steps if step.publishes]
    elsewhere = [
        w.place for w in connector.workflows for j in w.jobs if j.calls and RELEASING.search(f"{w.place.path} {j.name}")
    ]
    if not publishing and elsewhere:
        return cannot_tell(
            "What publishes lies in another repository's workflow, which is not here to read.", *elsewhere
        )
    if not publishing:
        return not_applicable("No workflow publishes.", *_places(connector)[:1])
    parts = {w.place: _tests_a_part(connector, w) for w, _, _ in publishing}
    # A workflow that waits for another one by `workflow_run` starts only after that one ended.
    ungated = [
        (w.place.path, step.place)
        for w, job, step in publishing
        if not w.tests_before(job, step) and "workflow_run" not in w.triggers
    ]
    part = [] if ungated else [p for w in dict.fromkeys(w.place for w, _, _ in publishing) for p in parts[w]]
    if part:
        return absent(
            "The release tests a part of what every pull request tests; run the same gates.",
            *part,
            coverage=Coverage("publishing steps", len(publishing), 0),
        )
    return share(
        "publishing steps",
        len(publishing),
        ungated,
        "The gates run before anything is published.",
        "{lacking} of {total} publishing steps run without a test before them ({names}); a broken tag goes straight to users.",
        tuple(step.place for _, _, step in publishing),
    )


def ceilings(connector: Connector) -> Answer:
    """Look for an upper bound on the framework's next major version."""
    listed = [d for d in dependencies(connector.project) if d.requirement.name.lower() in {"fastmcp", "mcp"}]
    if not listed:
        return not_applicable("The framework is not among the project's dependencies.")
    open_ended = [(str(d.requirement), d.place) for d in listed if not d.has_ceiling]
    return share(
        "frameworks",
        len(listed),
        open_ended,
        "The framework's next major version is kept out.",
        "{names} has no upper bound; the next major version breaks every new installation.",
        tuple(d.place for d in listed),
    )


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN1101", CI, "Tests run on push and on pull request",
        "A gate that runs on its author's laptop alone protects that laptop.",
        "Run python -m pytest tests/ -q -k \"not smoke\" in a workflow with both triggers.",
        on_push_and_pull_request, essential=True,
    ),
    Rule(
        "CN1102", CI, "Smoke tests are kept apart",
        "An outage of the source would teach everybody to ignore a red build.",
        "Deselect them in the gates and run them on a schedule.",
        smoke_apart,
    ),
    Rule(
        "CN1103", CI, "Actions are pinned to a commit",
        "A tag can be moved to code nobody reviewed.",
        "Use the full commit hash with the version in a comment.",
        actions_pinned,
    ),
    Rule(
        "CN1104", CI, "No check is disarmed",
        "A check whose failure counts as success is decoration, and everybody believes it.",
        "Take `|| true` and continue-on-error away, or the check.",
        none_disarmed,
    ),
    Rule(
        "CN1105", CI, "Workflows say what they may do",
        "Without permissions a step of any dependency can push to the repository.",
        "Write `permissions: {}` on top and what is needed at each job.",
        little_allowed,
    ),
    Rule(
        "CN1201", RELEASE, "The gates run before anything is published",
        "Otherwise a tagged broken commit goes straight to users.",
        "Run the gates in the same job before the build, or let the publishing job need the job that does.",
        gates_first, essential=True,
    ),
    Rule(
        "CN1202", RELEASE, "The framework has an upper bound",
        "Servers without one stopped starting the day the next major appeared.",
        "Write fastmcp>=4.2,<5.",
        ceilings,
    ),
)  # fmt: skip
