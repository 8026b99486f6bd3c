"""Lets a public server adopt the canon as the guide says, and counts what that changed."""

import hashlib
import json
import os
import shutil
import subprocess
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import copier

from tests.adoption import REASON, unmerged
from tests.rendering import ROOT, UV, files, git, interpreters, render, run

CANON: Final = (
    "fastmcp>=4.2,<5",
    "filelock>=3.16,<5",
    "mcp>=2.3,<3",
    "opentelemetry-exporter-otlp-proto-http>=1.45,<2",
    "opentelemetry-sdk>=1.45,<2",
    "platformdirs>=4.3,<5",
    "stamina>=25.1,<27",
)
"""What the third step of the guide installs."""

REQUIREMENTS: Final = ROOT / "template" / "tests" / "canon" / "{% if mode == 'retrofit' %}requirements.txt{% endif %}"
GATES: Final = ("-m", "pytest", "tests/canon", "-q", "-k", "not smoke")
SENTENCES: Final = ("The server cannot be imported, so nothing can be examined", "The canon needs fastmcp>=4.2")
LONGEST: Final = 1500
"""Seconds that one run of tests may take."""

TOOLS: Final = """
import asyncio, importlib, json, sys
from fastmcp import Client

async def names(server):
    if is_bare:
        return sorted(tool.name for tool in await server.list_tools())
    async with Client(server) as client:
        return sorted(tool.name for tool in await client.list_tools())

module, path, way, is_bare = *sys.argv[1:4], sys.argv[4:] == ["bare"]
found = importlib.import_module(module)
for name in path.split("."):
    found = getattr(found, name)
if way == "canon":
    found = found(importlib.import_module(module).Settings())
elif way == "maker":
    found = found()
listed = asyncio.run(names(found))
with open("tools.json", "w", encoding="utf-8") as file:
    json.dump(listed, file)
"""


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement in a file, or in all files that a pattern finds; how often the text is in each is said."""

    path: str
    old: str
    new: str
    times: int = 1

    def apply(self, folder: Path) -> None:
        """Replace the text.

        Raises:
            AssertionError: no file has it, or one has it more often.
        """
        found = [path for path in sorted(folder.glob(self.path)) if self.old in _read(path)]
        assert found, f"{self.old!r} is in no file {self.path}."
        for path in found:
            text = _read(path)
            assert text.count(self.old) == self.times, f"{self.old!r} is in {path.name} {text.count(self.old)} times."
            _write(path, text.replace(self.old, self.new))


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """One server of the corpus, and what a person decides when it adopts the canon.

    `parts` are copied from a repository that holds more than the server, `inside` is where the server lies there. `port`
    moves it to FastMCP 4, `two_lines` is the third step. `environment` is what it needs to be imported, `is_made` says that
    the object is a function, `is_bare` that it cannot be started without its own sources, so that its tools are read off it. `libraries` are
    those of the canon, unless the server is left as it was.
    `own_tests` are pytest's arguments; a server without tests has none. `contradicted` are those of its tests that forbid
    what the canon brings. `note` is a sentence for the table. A server that cannot be imported says why in `refusal`.
    """

    clone: str
    server_object: str
    source_root: str = "src"
    inside: str = "."
    parts: tuple[str, ...] = ()
    answers: Mapping[str, Any] = field(default_factory=dict)
    python: str = "3.12"
    installs: tuple[str, ...] = ()
    libraries: tuple[str, ...] = CANON
    is_installed: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    port: tuple[Edit, ...] = ()
    two_lines: tuple[Edit, ...] = ()
    is_made: bool = False
    is_bare: bool = False
    own_tests: tuple[str, ...] | None = None
    contradicted: frozenset[str] = frozenset()
    note: str = ""
    refusal: str = ""

    @property
    def canon(self) -> str:
        """The module that the canon's own command is in."""
        package = self.answers.get("package_name") or self.server_object.partition(":")[0].rpartition(".")[0]
        return f"{package or 'connector'}.canon_connector"


@dataclass(kw_only=True)
class Outcome:
    """What was measured of one adoption."""

    clone: str
    added: int = 0
    merged: int = 0
    ignored: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    lost: int = 0
    port_lines: int = 0
    passing: int | None = None
    accepted: int | None = None
    tools_before: list[str] | None = None
    tools_after: list[str] | None = None
    own_before: dict[str, str] | None = None
    own_after: dict[str, str] | None = None
    codes: dict[str, int] = field(default_factory=dict)
    sentence: str = ""


class Workshop:
    """Where servers are copied to, and the environments that are kept from run to run."""

    def __init__(self, checkouts: Path, template: Path, folder: Path, environments: Path) -> None:
        self.checkouts = checkouts
        self.template = template
        self.folder = folder
        self.environments = environments

    def examine(self, adoption: Adoption) -> Outcome:
        """Carry out the guide from its first step to the fourth."""
        return Work(self, adoption).done()


class Work:
    """One server on its way."""

    def __init__(self, workshop: Workshop, adoption: Adoption) -> None:
        self._shop = workshop
        self._adoption = adoption
        self._repository = workshop.folder / adoption.clone
        self._project = self._repository / adoption.inside
        self._outcome = Outcome(clone=adoption.clone)

    def done(self) -> Outcome:
        """Return what there is to say."""
        self._copy()
        self._commit("before")
        for edit in self._adoption.port:
            edit.apply(self._project)
        self._outcome.port_lines = sum(removed for _, removed in self._changes("HEAD").values())
        self._commit("port")
        port = git("rev-parse", "HEAD", cwd=self._repository).strip()
        self._python = self._environment()
        if not self._adoption.refusal:
            module, _, path = self._adoption.server_object.partition(":")
            self._outcome.tools_before = self._tools(module, path, self._way)
            self._outcome.own_before = self._own("before")
        self._merge(port)
        for edit in self._adoption.two_lines:
            edit.apply(self._project)
        if self._adoption.environment:
            self._declare_environment()
        self._commit("two lines")
        if not self._adoption.refusal:
            self._outcome.tools_after = self._tools(self._adoption.canon, "build_server", "canon")
            self._outcome.own_after = self._own("after")
        self._gates()
        return self._outcome

    @property
    def _way(self) -> str:
        return "maker" if self._adoption.is_made else "object"

    def _copy(self) -> None:
        source = self._shop.checkouts / self._adoption.clone
        for name in git("ls-files", "-z", "--", *self._adoption.parts, cwd=source).split("\0"):
            if name and (source / name).is_file():
                target = self._repository / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, target, follow_symlinks=False)
        git("init", "-q", "-b", "main", cwd=self._repository)
        (self._repository / ".git" / "info" / "exclude").write_text("*.egg-info/\n__pycache__/\n", encoding="utf-8")
        git("add", "-A", "-f", cwd=self._repository)

    def _commit(self, message: str) -> None:
        git("add", "-A", cwd=self._repository)
        git("commit", "-qm", message, "--allow-empty", cwd=self._repository)

    def _changes(self, since: str) -> dict[str, tuple[int, int]]:
        """Return the lines that came to and went from every file that was there at a commit."""
        found = {}
        for line in git("diff", "--numstat", "--diff-filter=a", since, cwd=self._repository).splitlines():
            came, went, name = line.split("\t")
            found[name] = (int(came), int(went)) if came != "-" else (0, 1)
        return found

    # The guide

    def _merge(self, port: str) -> None:
        before = files(self._repository)
        render(self._shop.template, self._project, {"mode": "baseline"})
        self._commit("baseline")
        adoption = self._adoption
        copier.run_update(
            self._project,
            data={
                "mode": "retrofit",
                "server_object": adoption.server_object,
                "source_root": adoption.source_root,
                "repository_folder": adoption.inside,
                **adoption.answers,
            },
            defaults=True,
            overwrite=True,
            quiet=True,
            vcs_ref="HEAD",
        )
        self._outcome.conflicts = unmerged(self._repository)
        self._outcome.ignored = git(
            "ls-files", "-z", "--others", "--ignored", "--exclude-standard", cwd=self._repository
        ).split("\0")[:-1]
        self._outcome.ignored = [
            name for name in self._outcome.ignored if name not in before and "egg-info" not in name
        ]
        self._commit("adopted")
        changed = self._changes(port)
        self._outcome.merged = len(changed)
        self._outcome.lost = sum(removed for _, removed in changed.values())
        added = git("diff", "--name-only", "--diff-filter=A", port, cwd=self._repository)
        self._outcome.added = len(added.splitlines())

    def _declare_environment(self) -> None:
        path = self._project / "pyproject.toml"
        given = ", ".join(f"{name} = {json.dumps(value)}" for name, value in self._adoption.environment.items())
        before = _read(path) if path.exists() else ""
        end = "\r\n" if "\r\n" in before else "\n"
        _write(path, f"{before}{end}[tool.canon]{end}environment = {{ {given} }}{end}")

    # What runs

    def _environment(self) -> Path:
        """Return the Python of an environment with all that the server and its gates need, made anew when that changes."""
        adoption = self._adoption
        folder = self._shop.environments / adoption.clone.replace("+", "_")
        wanted = [*adoption.installs, *adoption.libraries]
        stamp = folder / "installed"
        text = hashlib.sha256(
            "\n".join([adoption.python, *wanted, REQUIREMENTS.read_text(encoding="utf-8")]).encode()
        ).hexdigest()
        python = folder / "bin" / "python"
        if not (stamp.exists() and stamp.read_text(encoding="utf-8") == text):
            shutil.rmtree(folder, ignore_errors=True)
            chosen = interpreters([adoption.python])
            assert chosen, f"{adoption.clone} needs Python {adoption.python}."
            run(*UV, "venv", "-q", "--python", chosen[adoption.python], str(folder), cwd=ROOT)
            run(*UV, "pip", "install", "-q", "--python", str(python), *wanted, "-r", str(REQUIREMENTS), cwd=ROOT)
            stamp.write_text(text, encoding="utf-8")
        if adoption.is_installed:
            run(*UV, "pip", "install", "-q", "--python", str(python), "--no-deps", "-e", ".", cwd=self._project)
        return python

    def _run(self, name: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        home = self._shop.folder / "home"
        home.mkdir(exist_ok=True)
        scratch = {"HOME": str(home), "PYTHONPYCACHEPREFIX": str(self._python.parents[1] / "cache")}
        removed = ("PYTHONPATH", "PYTEST_ADDOPTS", "VIRTUAL_ENV")
        done = subprocess.run(
            [str(self._python), *arguments],
            cwd=self._project,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=LONGEST,
            env={
                **{
                    key: value for key, value in os.environ.items() if key not in removed and not key.startswith("XDG_")
                },
                "PATH": f"{self._python.parent}{os.pathsep}{os.environ['PATH']}",
                **scratch,
                **variables,
            },
        )
        self._outcome.codes[name] = done.returncode
        logs = self._shop.folder / "logs"
        logs.mkdir(exist_ok=True)
        log = logs / f"{self._adoption.clone} {name}.txt"
        log.write_text(f"{done.stdout}\n{done.stderr}", encoding="utf-8")
        return done

    def _tools(self, module: str, path: str, way: str) -> list[str]:
        script = self._shop.folder / f"list_{self._adoption.clone}.py"
        script.write_text(TOOLS.replace('"tools.json"', repr(str(script.with_suffix(".json")))), encoding="utf-8")
        source = self._project / self._adoption.source_root
        done = self._run(
            f"tools by {way}",
            str(script),
            module,
            path,
            way,
            *(["bare"] if self._adoption.is_bare else []),
            PYTHONPATH=f"{source}{os.pathsep}{self._project}",
            **self._adoption.environment,
        )
        assert done.returncode == 0, f"{self._adoption.clone}: {done.stderr[-3000:]}"
        found: list[str] = json.loads(script.with_suffix(".json").read_text(encoding="utf-8"))
        return found

    def _own(self, when: str) -> dict[str, str] | None:
        if self._adoption.own_tests is None:
            return None
        report = self._report(f"own {when}")
        self._run(f"own {when}", "-m", "pytest", *self._adoption.own_tests, f"--junitxml={report}")
        self._tidy()
        return results(report)

    def _gates(self) -> None:
        report = self._report("gates")
        first = self._run("accept", *GATES, "--accept", REASON)
        if self._adoption.refusal:
            said = (first.stdout + first.stderr).splitlines()
            self._outcome.sentence = next((line for line in said if any(text in line for text in SENTENCES)), "")
            return
        self._outcome.lost += sum(removed for _, removed in self._changes("HEAD").values())
        self._commit("accepted")
        self._run("again", *GATES, f"--junitxml={report}")
        found = results(report)
        by_gate: dict[str, set[str]] = {}
        for name, outcome in found.items():
            by_gate.setdefault(name.partition("[")[0], set()).add(outcome)
        self._outcome.accepted = len(self._listed())
        self._outcome.passing = sum(
            "passed" in outcomes and "accepted" not in outcomes for outcomes in by_gate.values()
        )
        self._take_one_off()

    def _listed(self) -> list[dict[str, str]]:
        document = tomllib.loads(_read(self._project / "pyproject.toml"))
        found: list[dict[str, str]] = document["tool"]["canon"]["accepted"]
        return found

    def _take_one_off(self) -> None:
        """Strike the first entry, run the file of that gate, and put the entry back."""
        path = self._project / "pyproject.toml"
        text = _read(path)
        gate = self._listed()[0]["gate"]
        line = next(line for line in text.splitlines(keepends=True) if f'"{gate}"' in line)
        _write(path, text.replace(line, ""))
        name = gate.partition("::")[0]
        self._run("without one", "-m", "pytest", f"tests/canon/{name}", "-q", "-k", "not smoke")
        _write(path, text)

    def _report(self, name: str) -> Path:
        return self._shop.folder / f"{self._adoption.clone} {name}.xml"

    def _tidy(self) -> None:
        """Take away what a run of tests left behind."""
        git("clean", "-fdqx", "-e", "*.egg-info", cwd=self._repository)


def results(report: Path) -> dict[str, str]:
    """Return the outcome of every test in a report of pytest."""
    if not report.exists():
        return {}
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        outcome = "passed"
        for part in case:
            if part.tag in ("failure", "error"):
                outcome = "failed"
            elif part.tag == "skipped" and outcome == "passed":
                outcome = "accepted" if part.get("type") == "pytest.xfail" else "skipped"
        found[f"{case.get('classname')}::{case.get('name')}"] = outcome
    return found


HEAD: Final = """\
| Server | Files added | Files merged | Lines lost | Gates that pass | Gates accepted | Tools | Its own tests |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def row(adoption: Adoption, outcome: Outcome) -> str:
    """Return a server's line of the table. What is the same before and after is said once."""
    tools = _once(_size(outcome.tools_before), _size(outcome.tools_after))
    own = _once(as_counts(outcome.own_before), as_counts(outcome.own_after))
    gates = ("–", "–") if outcome.passing is None else (str(outcome.passing), str(outcome.accepted))
    cells = (name(adoption), outcome.added, outcome.merged, outcome.lost, *gates, tools, own)
    return f"| {' | '.join(map(str, cells))} |\n"


def name(adoption: Adoption) -> str:
    """Return a server's name with its address."""
    repository = adoption.clone.replace("+", "/")
    shown = repository if adoption.inside == "." else f"{repository}: {adoption.inside.rpartition('/')[2]}"
    return f"[{shown}](https://github.com/{repository})"


def as_counts(outcomes: Mapping[str, str] | None) -> str:
    """Say how many tests there are of each outcome."""
    counted = Counter((outcomes or {}).values())
    return ", ".join(f"{counted[kind]} {kind}" for kind in ("passed", "failed", "skipped", "accepted") if counted[kind])


def _size(tools: list[str] | None) -> str:
    return "" if tools is None else str(len(tools))


def _once(before: str, after: str) -> str:
    return (before or "–") if before == after else f"{before} → {after}"


def _read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
