"""Cookiecutter asks what Copier asks and ends with the same bytes."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import copier
import pytest
import yaml
from cookiecutter.exceptions import FailedHookException
from cookiecutter.main import cookiecutter

from tests.answers import QUESTIONS
from tests.rendering import ROOT, commit, files, git, render

Cut = Callable[..., Path]

EMPTY_MEANS_DEFAULT = "package_name"
ANSWERS: dict[str, dict[str, Any]] = {
    "default": {},
    "polish": {"language": "pl"},
    "name that becomes the slug": {"connector_name": "  9 Żółte Łąki: Ustawy & Rozporządzenia RP — 2026".strip()},
    "name of a module": {"connector_name": "Json"},
    "own words": {"record": "judgment", "owner": "Acme-Law", "package_name": "courts"},
    "every switch turned": {
        **dict.fromkeys(("postgres", "jwt", "langfuse", "template_update"), True),
        **dict.fromkeys(("docker", "registry"), False),
    },
    "awkward text": {
        "connector_name": """123 "x" O'Brien \\ # 🚀""",
        "description": '""" + <b>&amp;</b> %s',
        "author_name": "null",
        "license": "Proprietary",
    },
}
REFUSED: dict[str, dict[str, Any]] = {
    "a path": {"connector_slug": "a/b"},
    "a path upwards": {"connector_slug": "../up"},
    "an absolute path": {"connector_slug": "/srv/connector"},
    "a line break": {"connector_name": "a\nb"},
    "a variable of the workflows": {"description": "${HOME}"},
    "a NUL": {"author_name": "a\0b"},
    "no name": {"connector_name": " "},
}


@pytest.fixture
def cut(tmp_path: Path) -> Cut:
    """Cookiecutter without anybody's configuration."""
    configuration = tmp_path / "cookiecutter.yml"
    folders = {name: str(tmp_path / name) for name in ("cookiecutters_dir", "replay_dir")}
    configuration.write_text(json.dumps(folders), encoding="utf-8")

    def cut(source: object, answers: dict[str, Any], **options: Any) -> Path:
        destination = tmp_path / "cut"
        destination.mkdir()
        options = {"no_input": True, "extra_context": answers, "config_file": str(configuration)} | options
        return Path(cookiecutter(str(source), output_dir=str(destination), **options))

    return cut


def test_both_ask_the_same_questions() -> None:
    content = json.loads((ROOT / "cookiecutter.json").read_text(encoding="utf-8"))
    prompts = content.pop("__prompts__")
    assert list(content) == list(QUESTIONS)
    for name, question in QUESTIONS.items():
        prompt, default = prompts[name], content[name]
        choices = question.get("choices")
        if isinstance(choices, dict):
            assert {prompt[value]: value for value in default} == choices
            prompt = prompt["__prompt__"]
        elif choices:
            assert default == choices
        if name == EMPTY_MEANS_DEFAULT:
            assert default == ""
            assert prompt.startswith(question["help"])
        else:
            assert prompt == question["help"]
        first = default[0] if choices else default
        if isinstance(first, bool) or "{" not in first:
            assert first == question["default"] or name == EMPTY_MEANS_DEFAULT


@pytest.mark.parametrize("name", ANSWERS)
def test_the_bytes_are_those_of_copier(template: Path, cut: Cut, tmp_path: Path, name: str) -> None:
    project = cut(template, ANSWERS[name])
    expected = files(render(template, tmp_path / "copied", ANSWERS[name]))
    assert files(project) == expected
    assert ".copier-answers.yml" in expected


def test_typed_answers_are_taken_as_they_are(
    template: Path, cut: Cut, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "{{ 7*7 }} {% raw %}"
    typed = {"connector_name": name, "connector_slug": "typed", "postgres": "y"}
    lines = "".join(f"{typed.get(question, '')}\n" for question in QUESTIONS)
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    project = cut(template, {}, no_input=False)
    answers = {"connector_name": name, "connector_slug": "typed", "postgres": True}
    assert files(project) == files(render(template, tmp_path / "copied", answers))


def test_a_relative_path_is_recorded_as_an_absolute_one(
    template: Path, cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(template.parent)
    answers = yaml.safe_load((cut(template.name, {}) / ".copier-answers.yml").read_text(encoding="utf-8"))
    assert answers["_src_path"] == str(template)


@pytest.mark.parametrize("checkout", [None, "1.0.0"])
@pytest.mark.parametrize("bare", [True, False])
def test_a_git_url_and_a_tag_are_those_of_copier(
    template: Path, cut: Cut, tmp_path: Path, bare: bool, checkout: str | None
) -> None:
    source = tmp_path / ("template.git" if bare else "template")
    git("clone", "-q", *(["--bare"] if bare else []), str(template), str(source), cwd=tmp_path)
    git("tag", "1.0.0", cwd=source)
    url = f"file://{source}"
    project = cut(url, {}, checkout=checkout)
    copied = tmp_path / "copied"
    copier.run_copy(url if bare else f"git+{url}", copied, vcs_ref=checkout, defaults=True, quiet=True)
    assert files(project) == files(copied)


def test_what_cookiecutter_rendered_can_be_updated(template: Path, cut: Cut) -> None:
    project = cut(template, ANSWERS["polish"])
    before = files(project)
    commit(project)
    copier.run_update(project, defaults=True, overwrite=True, quiet=True)
    assert files(project) == before
    assert git("status", "--porcelain", cwd=project) == ""


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_answer_is_refused_and_nothing_is_left(
    template: Path, cut: Cut, tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    with pytest.raises(FailedHookException):
        cut(template, REFUSED[name])
    said = capfd.readouterr().err
    (question,) = REFUSED[name]
    assert f"Validation error for question '{question}'" in said
    assert list((tmp_path / "cut").iterdir()) == []


def test_an_archive_is_refused(template: Path, cut: Cut, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "template.zip"
    git("archive", "--prefix=template/", "-o", str(archive), "HEAD", cwd=template)
    with pytest.raises(FailedHookException):
        cut(archive, {})
    assert "no history to update from" in capfd.readouterr().err
    assert list((tmp_path / "cut").iterdir()) == []


def test_without_copier_the_hook_says_how_to_get_it(
    template: Path, cut: Cut, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import importlib.util\n"
        "find_spec = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'copier' else find_spec(name, *rest)\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(hidden))
    monkeypatch.setenv("PATH", str(hidden))
    with pytest.raises(FailedHookException):
        cut(template, {})
    assert "python -m pip install 'copier>=9.18,<10'" in capfd.readouterr().err
