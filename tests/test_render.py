"""Whatever the answers, a rendering parses, is clean, is the same twice, and pleases its own linters."""

import itertools
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.answers import ANSWERS, FORM, QUESTIONS, values_of
from tests.parsing import PARSERS, parse
from tests.rendering import ROOT, VERSION, Environment, files, render

FLEET: Final = {
    "matematic-anonimizacja-pl",
    "mcp-eu-compliance",
    "mcp-kio",
    "mcp-pomoc-prawna-pl",
    "mcp-uodo",
    "saos-orzecznictwo",
    "sejm-eli-mcp",
}
CLOSED: Final[dict[str, list[Any]]] = {
    name: [True, False] if question["type"] == "bool" else values_of(question["choices"])
    for name, question in QUESTIONS.items()
    if question["type"] == "bool" or "choices" in question
}
LEFTOVER: Final = re.compile(r"(?<!\$)\{\{[\s-]|\{%|\{#")


@dataclass(frozen=True, slots=True)
class Rendering:
    """What one file of answers gave."""

    name: str
    answers: dict[str, Any]
    folder: Path

    @property
    def texts(self) -> dict[str, str]:
        """Every file of it."""
        return {name: content.decode() for name, content in files(self.folder).items()}


# One worker has all tests of a rendering, so that it is rendered once.
@pytest.fixture(scope="session", params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ANSWERS])
def rendering(request: pytest.FixtureRequest, template: Path, tmp_path_factory: pytest.TempPathFactory) -> Rendering:
    folder = tmp_path_factory.mktemp("rendering") / "connector"
    return Rendering(request.param, ANSWERS[request.param], render(template, folder, ANSWERS[request.param]))


@pytest.fixture(scope="session")
def linters(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The development extra of a connector with every switch on, so that mypy finds every import."""
    folder = tmp_path_factory.mktemp("linters")
    return Environment.of(render(template, folder / "connector", ANSWERS["english-everything"]), folder / "environment")


@pytest.fixture(scope="session")
def types_seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy knows of the dependencies after the first rendering."""
    return tmp_path_factory.mktemp("mypy")


def lint(linters: Environment, rendering: Rendering, *arguments: str) -> str:
    """Run one of the linters over a rendering and return its complaints."""
    done = Environment(linters.python, rendering.folder).run("-m", *arguments, MYPYPATH="src")
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_fleet_is_here() -> None:
    assert set(ANSWERS) >= FLEET


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(CLOSED, 2)))
def test_every_two_choices_meet(one: str, other: str) -> None:
    """A fault of one switch hides behind another: the set holds each pair of values of each pair of questions."""
    defaults = {name: QUESTIONS[name]["default"] for name in CLOSED}
    met = {(given[one], given[other]) for given in ({**defaults, **answers} for answers in ANSWERS.values())}
    assert set(itertools.product(CLOSED[one], CLOSED[other])) - met == set()


def test_every_file_parses(rendering: Rendering) -> None:
    assert {parse(name, text) for name, text in rendering.texts.items()} == {*PARSERS, None}


def test_every_file_is_clean(rendering: Rendering) -> None:
    for name, text in rendering.texts.items():
        assert not set(name) & set("{}%"), name
        assert "\r" not in text, name
        assert "\t" not in text, name
        assert not text.startswith("\ufeff"), name
        assert text == "" or (text.endswith("\n") and not text.endswith("\n\n")), name
        assert [line for line in text.split("\n") if line != line.rstrip()] == [], name


def test_no_jinja_is_left(rendering: Rendering) -> None:
    for name, text in rendering.texts.items():
        if name == ".copier-answers.yml":
            continue
        # Answers may hold braces of their own, as they are or as JSON spells them.
        for answer in rendering.answers.values():
            for spelling in (str(answer), json.dumps(answer, ensure_ascii=False)[1:-1]):
                text = text.replace(spelling, "") if "{" in spelling else text
        assert LEFTOVER.findall(text) == [], name


def test_rendering_twice_gives_the_same_bytes(rendering: Rendering, template: Path, tmp_path: Path) -> None:
    again = render(template, tmp_path / "elsewhere", rendering.answers)
    assert files(again) == files(rendering.folder)
    modes = {path.relative_to(again): path.stat().st_mode for path in again.rglob("*")}
    assert modes == {path.relative_to(rendering.folder): path.stat().st_mode for path in rendering.folder.rglob("*")}


def test_the_linters_find_nothing(rendering: Rendering, linters: Environment, types_seen: Path) -> None:
    assert lint(linters, rendering, "ruff", "check", "--no-cache") == ""
    assert lint(linters, rendering, "ruff", "format", "--no-cache", "--diff") == ""
    assert lint(linters, rendering, "mypy", "--cache-dir", str(types_seen)) == ""


@pytest.mark.xdist_group("default")
def test_the_linters_look_at_something(
    connector: Environment, linters: Environment, types_seen: Path, tmp_path: Path
) -> None:
    broken = Rendering("broken", {}, tmp_path)
    for name, content in files(connector.project).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    with (tmp_path / "src" / "eu_digital_acts" / "settings.py").open("a", encoding="utf-8") as settings:
        settings.write("import os\ncount : int = 'x'\n")
    assert "F401" in lint(linters, broken, "ruff", "check", "--no-cache")
    assert "count: int" in lint(linters, broken, "ruff", "format", "--no-cache", "--diff")
    assert "[assignment]" in lint(linters, broken, "mypy", "--cache-dir", str(types_seen))


def test_the_answers_are_kept_and_nothing_else(rendering: Rendering, template: Path) -> None:
    kept = yaml.safe_load((rendering.folder / ".copier-answers.yml").read_text(encoding="utf-8"))
    assert kept.pop("_src_path") == str(template)
    assert kept.pop("_commit") == VERSION
    assert kept.pop("mode") == "new"
    assert set(kept) == set(QUESTIONS)
    assert {name: kept[name] for name in rendering.answers} == rendering.answers


def test_no_file_knows_where_it_was_rendered(rendering: Rendering, template: Path) -> None:
    for name, text in rendering.texts.items():
        for path in (rendering.folder.parent, template.parent, Path.home(), ROOT):
            if name != ".copier-answers.yml" or path != template.parent:
                assert f"{path}{os.sep}" not in text, name


def test_a_switch_brings_its_files(rendering: Rendering) -> None:
    kept = yaml.safe_load((rendering.folder / ".copier-answers.yml").read_text(encoding="utf-8"))
    names = set(rendering.texts)
    package = f"src/{kept['package_name']}/{kept['records']}"
    for name in ("Dockerfile", ".dockerignore", ".github/workflows/image.yml"):
        assert (name in names) == kept["docker"], name
    assert ("server.json" in names) == kept["registry"]
    assert (f"{package}/providers/postgres.py" in names) == kept["postgres"]
    assert ("psycopg" in rendering.texts["pyproject.toml"]) == kept["postgres"]
    assert ("jwt_issuer" in rendering.texts[f"src/{kept['package_name']}/settings.py"]) == kept["jwt"]
    assert ("langfuse=True" in rendering.texts[f"src/{kept['package_name']}/server.py"]) == kept["langfuse"]
    assert {"mcp-server.md"} == {Path(name).name for name in names if name.startswith("docs/")}
    opening = {"MIT": "MIT License", "Apache-2.0": "Apache License", "BSD-3-Clause": "BSD 3-Clause License"}
    start = opening.get(kept["license"], f"Copyright (c) {kept['author_name']}")
    assert rendering.texts["LICENSE"].lstrip().startswith(start)
    tool = {"en": "\n| `coverage` |", "pl": "\n| `pokrycie_bazy` |"}
    assert [language for language in tool if tool[language] in rendering.texts["README.md"]] == [kept["language"]]


@pytest.mark.xdist_group("connector")
def test_the_command_line_renders_the_same(connector: Environment, template: Path, tmp_path: Path) -> None:
    """As a stranger types it: no terminal, no trust, no answers."""
    done = subprocess.run(
        [sys.executable, "-m", "copier", "copy", "--defaults", str(template), "connector"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "HOME": str(tmp_path / "home")},
    )
    assert done.returncode == 0, done.stderr
    assert "eu-digital-acts is rendered" in done.stderr
    rendered = files(tmp_path / "connector")
    assert rendered.keys() <= files(connector.project).keys()
    assert rendered == {name: content for name, content in files(connector.project).items() if name in rendered}


def test_nothing_in_the_form_needs_trust_or_a_terminal() -> None:
    assert not FORM.keys() & {"_tasks", "_migrations", "_jinja_extensions", "_external_data", "_secret_questions"}
    assert QUESTIONS
    for name, question in QUESTIONS.items():
        assert "secret" not in question, name
        assert question.keys() >= {"type", "help", "default"}, name
        assert question["type"] == "bool" or question.keys() & {"choices", "validator"}, name
