"""Any text for any question: it comes out as it went in, or it is refused with one sentence and nothing is written."""

import ast
import json
import re
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.answers import QUESTIONS
from tests.parsing import parse
from tests.rendering import ROOT, Environment, files, render

HOSTILE: Final[dict[str, str]] = {
    **json.loads((Path(__file__).parent / "hostile.json").read_text(encoding="utf-8")),
    "long": "x" * 5_000,
}
ASKED: Final = [name for name, question in QUESTIONS.items() if question["type"] == "str" and "choices" not in question]
SENTENCES: Final = ["connector_name", "description", "author_name"]
NAMES: Final = [name for name in ASKED if name not in SENTENCES]
"""They become parts of code and addresses."""
PLAIN: Final = {"connector_slug": "plain", "package_name": "plain", "record": "act", "records": "acts"}
SPOKEN: Final = {"LICENSE", "README.md", ".copier-answers.yml", "pyproject.toml", "server.json", "instructions.py"}
"""The files that hold sentences of the answers."""
STATIC: Final = ("src/*/canon/*", "tests/canon/test_*")
"""No answer is in them, and to render them again for every string takes its time."""
NASTIEST: Final = ["jinja", "triple quotes", "backslashes", "hundred characters", "script", "format field"]


class Form:
    """The questions without the files: it refuses what the template refuses, and sooner. What it said it remembers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: dict[tuple[str, str], str | None] = {}
        shutil.copy(ROOT / "copier.yml", folder)
        (folder / "template").mkdir()

    def refuses(self, question: str, string: str) -> str | None:
        """Return why a question refuses a string; nothing when it takes it."""
        if (question, string) not in self.said:
            answers = PLAIN | {question: string}
            self.said[question, string] = refusal(self.folder, self.folder / f"rendering{len(self.said)}", answers)
        return self.said[question, string]

    def takes(self, string: str, questions: Iterable[str]) -> dict[str, str]:
        """Return the answers to those questions that take a string."""
        return {question: string for question in questions if self.refuses(question, string) is None}


@pytest.fixture(scope="session")
def form(tmp_path_factory: pytest.TempPathFactory) -> Form:
    return Form(tmp_path_factory.mktemp("form"))


@pytest.fixture(scope="session")
def plain(template: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What answers without surprises give."""
    return files(render(template, tmp_path_factory.mktemp("plain") / "connector", PLAIN, exclude=STATIC))


@pytest.fixture(scope="session")
def installed(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment of a rendering that the next string may write over."""
    folder = tmp_path_factory.mktemp("installed")
    return Environment.of(render(template, folder / "connector", PLAIN), folder / "environment")


def refusal(template: Path, folder: Path, answers: Mapping[str, str]) -> str | None:
    """Return why answers are refused, having seen that nothing was written; nothing when they are taken."""
    try:
        render(template, folder, answers)
    except ValueError as error:
        assert not folder.exists()
        return str(error)
    return None


# One worker has all tests of a string, so that the form is asked once.
every_string = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in HOSTILE]
)


@every_string
def test_a_refusal_is_one_sentence_that_names_the_question(form: Form, name: str) -> None:
    for question in ASKED:
        said = form.refuses(question, HOSTILE[name])
        assert said is None or re.fullmatch(rf"Validation error for question '{question}': \S[^\n]*\S", said)


@pytest.mark.parametrize("question", ASKED)
def test_the_whole_template_writes_nothing_either(template: Path, tmp_path: Path, question: str) -> None:
    assert refusal(template, tmp_path / "connector", PLAIN | {question: HOSTILE["newline"]})


@pytest.mark.parametrize("question", ASKED)
def test_each_question_takes_some_strings_and_refuses_others(form: Form, question: str) -> None:
    strings = ["actions", "trailing newline", "upper", "polish", "read inside", "address"]
    refused = [name for name in strings if form.refuses(question, HOSTILE[name])]
    assert {"actions", "trailing newline"} <= set(refused) < set(strings)


@every_string
def test_a_name_for_people_can_be_anything_and_gives_names_for_machines(form: Form, tmp_path: Path, name: str) -> None:
    """The slug and the package that a connector's name leads to are never refused for the name's sake."""
    said = refusal(form.folder, tmp_path / "connector", {"connector_name": HOSTILE[name]})
    assert said is None or "question 'connector_name'" in said


@every_string
def test_sentences_come_out_as_they_went_in(
    template: Path, form: Form, plain: dict[str, bytes], tmp_path: Path, name: str
) -> None:
    given = form.takes(HOSTILE[name], SENTENCES)
    if not given:
        return
    rendered = files(render(template, tmp_path / "connector", PLAIN | given, exclude=STATIC))
    assert rendered.keys() == plain.keys()
    assert {Path(path).name for path in rendered if rendered[path] != plain[path]} <= SPOKEN
    for path in SPOKEN & rendered.keys():
        parse(path, rendered[path].decode())

    project = tomllib.loads(rendered["pyproject.toml"].decode())["project"]
    usual = tomllib.loads(plain["pyproject.toml"].decode())["project"]
    title = given.get("connector_name", QUESTIONS["connector_name"]["default"])
    description = given.get("description", usual["description"])
    author = given.get("author_name", usual["authors"][0]["name"])
    assert project == usual | {"description": description, "authors": [{**usual["authors"][0], "name": author}]}
    assert json.loads(rendered["server.json"]) == json.loads(plain["server.json"]) | {"description": description}
    assert rendered["README.md"].decode().startswith(f"# {title}\n\n{description}\n\n")
    assert f"Copyright (c) {author}\n" in rendered["LICENSE"].decode()
    said: dict[str, Any] = {}
    exec(rendered["src/plain/instructions.py"], said)
    assert (said["NAME"], said["DESCRIPTION"]) == (title, description)
    assert said["INSTRUCTIONS"].startswith(f"{title}: {description}\n")


@every_string
def test_names_come_out_as_they_went_in(template: Path, form: Form, tmp_path: Path, name: str) -> None:
    given = form.takes(HOSTILE[name], NAMES)
    if not given:
        return
    # One record and many are never called the same.
    for kept in ("record", "records") if given.keys() >= {"record", "records"} else ("",):
        answers = PLAIN | {question: answer for question, answer in given.items() if question != kept}
        rendered = files(render(template, tmp_path / kept, answers, exclude=STATIC))
        for path, content in rendered.items():
            parse(path, content.decode())
        project = tomllib.loads(rendered["pyproject.toml"].decode())["project"]
        slug, package, owner = answers["connector_slug"], answers["package_name"], answers.get("owner", "example-org")
        assert project["name"] == slug
        assert project["scripts"] == {slug: f"{package}.__main__:main"}
        assert project["urls"]["Repository"] == f"https://github.com/{owner}/{slug}"
        assert project["authors"][0]["email"] == answers.get("author_email", QUESTIONS["author_email"]["default"])
        assert json.loads(rendered["server.json"])["name"] == f"io.github.{owner}/{slug}"
        tools = ast.parse(rendered[f"src/{package}/{answers['records']}/tools.py"])
        functions = {node.name for node in ast.walk(tools) if isinstance(node, ast.AsyncFunctionDef)}
        assert {f"search_{answers['records']}", f"read_{answers['record']}"} <= functions


def rewritten(installed: Environment, template: Path, answers: dict[str, str]) -> Environment:
    """Render over what is installed: the names are the same, so that the installation still holds."""
    fresh = installed.project.with_name("fresh")
    shutil.rmtree(fresh, ignore_errors=True)
    for name, content in files(render(template, fresh, PLAIN | answers)).items():
        (installed.project / name).write_bytes(content)
    return installed


@pytest.mark.slow
@pytest.mark.xdist_group("hostile")
@every_string
def test_the_gates_that_read_sentences_pass(template: Path, form: Form, installed: Environment, name: str) -> None:
    given = form.takes(HOSTILE[name], SENTENCES)
    if given:
        done = rewritten(installed, template, given).gates("-k", "not smoke and (documents or instructions or surface)")
        assert done.returncode == 0, done.stdout
        assert re.search(r"\b[1-9]\d passed", done.stdout)


@pytest.mark.slow
@pytest.mark.xdist_group("hostile")
@pytest.mark.parametrize("name", NASTIEST)
def test_the_nastiest_strings_pass_every_gate(template: Path, form: Form, installed: Environment, name: str) -> None:
    given = form.takes(HOSTILE[name], SENTENCES)
    # A hundred characters are a description, and too many for a name.
    assert given.keys() >= ({"description"} if name == "hundred characters" else {"description", "author_name"})
    done = rewritten(installed, template, given).gates()
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b[1-9]\d\d passed", done.stdout)
