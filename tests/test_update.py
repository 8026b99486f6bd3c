"""`copier update`: what belongs to whom stays so, from every version, and what Copier keeps quiet about is said aloud."""

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import copier
import pytest
import yaml
from pathspec import GitIgnoreSpec

from connector_canon.drift.owned import Ownership
from tests.rendering import ROOT, VERSION, Environment, commit, files, git, render, run, shell, snapshot

VERSIONS: dict[str, str] = yaml.safe_load((ROOT / "versions.yml").read_text(encoding="utf-8"))
SCRIPT = ".github/template-update.sh"
NEXT = "99.1.0"

EVERYTHING: dict[str, Any] = {
    "language": "pl",
    "connector_name": "Orzeczenia i 'inne' \"akty\"",
    "connector_slug": "orzeczenia-pl",
    "package_name": "orzeczenia",
    "description": "Orzeczenia sądów: wszystkie.",
    "record": "orzeczenie",
    "records": "orzeczenia_sadow",
    "owner": "Acme-Law",
    "author_name": "Żaneta Ł.",
    "author_email": "zaneta@example.com",
    "license": "Apache-2.0",
    "postgres": True,
    "jwt": True,
    "langfuse": True,
    "docker": False,
    "registry": False,
    "template_update": True,
}
"""An answer to every question, none of them the default."""


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with all the versions, and what lies here on top of them as the newest."""
    folder = tmp_path_factory.mktemp("history")
    clone, now = folder / "template", snapshot(folder / "now")
    git("clone", "-q", str(ROOT), str(clone), cwd=folder)
    run("sh", "scripts/tag-versions.sh", cwd=replaced(clone, now))
    commit(clone, "now")
    git("tag", VERSION, cwd=clone)
    return clone


def replaced(clone: Path, now: Path) -> Path:
    """Replace the files of a clone by others."""
    git("rm", "-rq", ".", cwd=clone)
    for name, content in files(now).items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_bytes(content)
        (clone / name).chmod((now / name).stat().st_mode)
    return clone


@pytest.fixture
def project(moving: Path, tmp_path: Path) -> Path:
    """A default rendering of it, committed."""
    folder = render(moving, tmp_path / "project")
    commit(folder)
    return folder


def release(template: Path, version: str = NEXT) -> None:
    commit(template, version)
    git("tag", version, cwd=template)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path.name} has no {old!r}."
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def add(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def update(project: Path, **options: Any) -> None:
    copier.run_update(project, defaults=True, overwrite=True, quiet=True, **options)


def update_aloud(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Update with the script that the connector carries."""
    return shell(SCRIPT, *arguments, cwd=project)


def answers_of(project: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((project / ".copier-answers.yml").read_text(encoding="utf-8"))
    return content


def settings() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "copier.yml").read_text(encoding="utf-8"))
    return content


def is_connectors_own(path: str) -> bool:
    """Whether a rendered file is never touched again."""
    return GitIgnoreSpec.from_lines(settings()["_skip_if_exists"]).match_file(path)


def unmerged(project: Path) -> str:
    return git("ls-files", "-u", cwd=project)


# From every version


@pytest.mark.parametrize("answers", [{}, EVERYTHING], ids=["default", "everything"])
@pytest.mark.parametrize("version", VERSIONS)
def test_an_untouched_project_becomes_a_fresh_one(
    history: Path, tmp_path: Path, version: str, answers: dict[str, Any]
) -> None:
    project = render(history, tmp_path / "project", answers, vcs_ref=version)
    before, known = files(project), answers_of(project)
    commit(project)
    update(project, data={name: answer for name, answer in answers.items() if name not in known})
    after, fresh = files(project), files(render(history, tmp_path / "fresh", answers))
    assert unmerged(project) == ""
    own = {name for name in before if is_connectors_own(name)}
    assert {name: after[name] for name in own} == {name: before[name] for name in own}
    assert {name: after[name] for name in after.keys() - own} == {name: fresh[name] for name in fresh.keys() - own}
    assert answers_of(project).items() >= answers.items()


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_the_gates_pass_after_an_update(history: Path, tmp_path: Path, version: str) -> None:
    project = render(history, tmp_path / "project", vcs_ref=version)
    commit(project)
    update(project)
    done = Environment.of(project, tmp_path / "environment").gates()
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_that_was_rendered_is_taken_away(history: Path, tmp_path: Path, version: str) -> None:
    for number, answers in enumerate(({}, EVERYTHING, {"license": "BSD-3-Clause"}, {"license": "Proprietary"})):
        before = render(history, tmp_path / f"before-{number}", answers, vcs_ref=version)
        after = render(history, tmp_path / f"after-{number}", answers)
        assert sorted(taken_away(before, after, settings())) == []


def taken_away(before: Path, after: Path, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths that an update would delete, with whatever somebody has changed in them."""
    blocks = (block for block in settings["_exclude"] if "mode" not in block)
    left = GitIgnoreSpec.from_lines(line for block in blocks for line in block.splitlines())
    for name in files(before).keys() - files(after).keys():
        if not left.match_file(name):
            yield name


@pytest.mark.parametrize("version", VERSIONS)
def test_every_question_and_every_choice_is_still_there(history: Path, version: str) -> None:
    asked = yaml.safe_load(git("show", f"{version}:copier.yml", cwd=history))
    now = settings()
    for name, question in asked.items():
        if name.startswith("_") or question.get("when") is False:
            continue
        assert name in now, f"{name} is no longer asked: its answer would be lost."
        choices = now[name].get("choices", [])
        assert set(question.get("choices", [])) <= set(choices), f"A choice of {name} is gone."


def test_every_question_has_a_default() -> None:
    for name, question in settings().items():
        assert name.startswith("_") or "default" in question, f"{name} would stop every update that asks nothing."


def test_what_is_left_alone_is_the_same_in_both_lists() -> None:
    block = settings()["_exclude"][0]
    kept = [pattern for pattern in settings()["_skip_if_exists"] if pattern != "/server.json" and "{" not in pattern]
    listed = [line for line in block.splitlines() if not line.startswith("{%")]
    assert [line for line in listed if line in kept or not line.startswith("!")] == kept


def test_every_version_and_every_path_that_is_left_behind_has_its_word() -> None:
    guide = (ROOT / "UPGRADING.md").read_text(encoding="utf-8")
    for version in VERSIONS:
        assert f"## From {version}\n" in guide
    for path in settings()["_exclude"][2:]:
        assert path in guide, f"UPGRADING.md does not say what to do with {path}."


def test_the_guide_names_the_files_that_keep_an_old_name(template: Path, tmp_path: Path) -> None:
    guide = (ROOT / "UPGRADING.md").read_text(encoding="utf-8")
    names = {"connector_name": "Zebra Things", "description": "Things with stripes."}
    project = render(template, tmp_path / "project", names)
    for text in names.values():
        kept = {name for name, content in files(project).items() if text.encode() in content}
        assert kept
        assert all(f"`{Path(name).name}`" in guide for name in kept if is_connectors_own(name))


def test_a_version_is_a_tag_that_never_moves(history: Path, tmp_path: Path) -> None:
    clone, remote = tmp_path / "clone", tmp_path / "remote.git"
    git("clone", "-q", "--no-tags", str(history), str(clone), cwd=tmp_path)
    git("init", "-q", "--bare", str(remote), cwd=tmp_path)
    script = ("sh", "scripts/tag-versions.sh")
    for _ in range(2):
        run(*script, str(remote), cwd=clone)
    assert git("tag", cwd=remote).split() == list(VERSIONS)
    for version, sha in VERSIONS.items():
        assert git("rev-parse", version, cwd=remote).strip() == sha
    git("tag", "-f", next(iter(VERSIONS)), "HEAD", cwd=clone)
    refused = subprocess.run(script, cwd=clone, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "never moves" in refused.stderr


# With work in it


def test_work_of_the_connector_is_kept_line_by_line(moving: Path, project: Path) -> None:
    package = project / "src" / "eu_digital_acts"
    own = {
        "README.md": "\nOur own chapter.\n",
        "CHANGELOG.md": "\n- Our own entry.\n",
        "server.json": "\n",
        "src/eu_digital_acts/instructions.py": "\n# Our own sentence.\n",
        "src/eu_digital_acts/acts/gaps.py": "\n# Our own gap.\n",
        "src/eu_digital_acts/acts/tools.py": "\n\ndef our_own_tool() -> None: ...\n",
        "src/eu_digital_acts/acts/providers/live.py": "\n# Our own provider.\n",
        "tests/test_acts_contract.py": "\n# Our own contract.\n",
    }
    for name, text in own.items():
        add(project / name, text)
    (package / "acts" / "providers" / "ours.py").write_text('"""Ours."""\n', encoding="utf-8")
    (package / "acts" / "providers" / "fixture.json").unlink()
    shared = {
        "pyproject.toml": ('    "filelock', '    "duckdb>=1,<2",\n    "filelock'),
        "src/eu_digital_acts/server.py": ('    "cache": _cache,', '    "cache": _cache,\n    "ours": _fixture,'),
        "src/eu_digital_acts/settings.py": ('"cache"]', '"cache", "ours"]'),
        "tests/conftest.py": ('"""', '"""Ours. '),
        "AGENTS.md": ("\n\n", "\n\nOur own rule.\n\n"),
        ".env.example": ("\n", "\n# ours\n"),
    }
    rendered_lines = {name: set(files(project)[name].splitlines()) for name in shared}
    for name, (old, new) in shared.items():
        change(project / name, old, new)
    commit(project)
    mine = {name: content for name, content in files(project).items() if name in own or name.endswith("ours.py")}
    lines = {name: set(files(project)[name].splitlines()) - rendered_lines[name] for name in shared}

    rendered = moving / "template" / "{{package_folder}}"
    add(moving / "template" / "pyproject.toml.jinja", "\n# The template's.\n")
    add(rendered / "server.py.jinja", "\n# The template's.\n")
    change(rendered / "settings.py.jinja", '"""', '"""The template\'s. ')
    add(moving / "template" / "tests" / "conftest.py.jinja", "\n# The template's.\n")
    add(moving / "template" / "AGENTS.md.jinja", "\nThe template's.\n")
    add(moving / "template" / ".env.example.jinja", "\n# The template's.\n")
    for path in (rendered / "canon" / "paging.py", rendered / "{{records}}" / "tools.py.jinja"):
        add(path, "\n# The template's.\n")
    add(moving / "template" / "{% if language == 'en' %}README.md{% endif %}.jinja", "\nThe template's.\n")
    release(moving)

    done = update_aloud(project)
    assert done.returncode == 0, done.stdout + done.stderr
    after = files(project)
    assert {name: after[name] for name in mine} == mine
    for name, kept in lines.items():
        assert kept
        assert kept <= set(after[name].splitlines())
        assert b"The template's." in after[name]
    assert b"The template's." in after["src/eu_digital_acts/canon/paging.py"]
    assert "src/eu_digital_acts/acts/providers/fixture.json" not in after
    assert unmerged(project) == ""


def test_a_file_of_the_template_that_somebody_edited_is_merged_or_marked(moving: Path, project: Path) -> None:
    for name, mine in (("paging.py", "\n# Mine.\n"), ("identity.py", "\n# Mine.\n")):
        add(project / "src" / "eu_digital_acts" / "canon" / name, mine)
    commit(project)
    canon = moving / "template" / "{{package_folder}}" / "canon"
    change(canon / "paging.py", '"""', '"""Changed: ')
    add(canon / "identity.py", "\n# The template's.\n")
    release(moving)
    done = update_aloud(project)
    assert done.returncode == 1
    assert "Conflicts to resolve, marked in the files:\nsrc/eu_digital_acts/canon/identity.py" in done.stdout
    assert "paging.py" not in done.stdout
    text = (project / "src" / "eu_digital_acts" / "canon" / "paging.py").read_text(encoding="utf-8")
    assert "# Mine." in text
    assert '"""Changed: ' in text
    git("checkout", "--ours", "src/eu_digital_acts/canon/identity.py", cwd=project)
    assert "# Mine." in (project / "src" / "eu_digital_acts" / "canon" / "identity.py").read_text(encoding="utf-8")


def test_a_second_update_changes_nothing(moving: Path, project: Path) -> None:
    add(project / "src" / "eu_digital_acts" / "server.py", "\n# Mine.\n")
    commit(project)
    change(moving / "template" / "{{package_folder}}" / "server.py.jinja", '"""', '"""Changed: ')
    release(moving)
    assert update_aloud(project).returncode == 0
    commit(project)
    done = update_aloud(project)
    assert (done.returncode, done.stdout) == (0, f"Nothing to do: this is {NEXT}.\n")
    assert git("status", "--porcelain", cwd=project) == ""


# Paths that move


def move(template: Path, old: str, new: str) -> None:
    canon = template / "template" / "{{package_folder}}" / "canon"
    (canon / old).rename(canon / new)


def test_a_path_that_moves_without_a_step_is_noticed(moving: Path, project: Path, tmp_path: Path) -> None:
    before = render(moving, tmp_path / "before")
    move(moving, "paging.py", "pages.py")
    release(moving)
    after = render(moving, tmp_path / "after")
    assert list(taken_away(before, after, settings())) == ["src/eu_digital_acts/canon/paging.py"]
    add(project / "src" / "eu_digital_acts" / "canon" / "paging.py", "\n# Mine.\n")
    commit(project)
    done = update_aloud(project)
    assert done.returncode == 1
    assert "Files that are gone, with whatever was changed in them:\nsrc/eu_digital_acts/canon/paging.py" in done.stdout


def test_the_step_keeps_an_edited_file(moving: Path, project: Path, tmp_path: Path) -> None:
    before = render(moving, tmp_path / "before")
    move(moving, "paging.py", "pages.py")
    change(moving / "copier.yml", "# The same, ", "  - /src/*/canon/paging.py\n# The same, ")
    release(moving)
    now = yaml.safe_load((moving / "copier.yml").read_text(encoding="utf-8"))
    assert list(taken_away(before, render(moving, tmp_path / "after"), now)) == []
    edited = project / "src" / "eu_digital_acts" / "canon" / "paging.py"
    add(edited, "\n# Mine.\n")
    commit(project)
    assert update_aloud(project).returncode == 0
    assert edited.read_text(encoding="utf-8").endswith("\n# Mine.\n")
    assert edited.with_name("pages.py").exists()
    commit(project)
    assert update_aloud(project).stdout.startswith("Nothing to do")


# Answers


def test_a_new_question_takes_its_default_and_a_renamed_one_the_old_answer(moving: Path, tmp_path: Path) -> None:
    project = render(moving, tmp_path / "project", EVERYTHING)
    commit(project)
    form = moving / "copier.yml"
    for path in [form, *(moving / "template").rglob("*")]:
        if path.is_file() and "author_name" in path.read_text(encoding="utf-8"):
            path.write_text(path.read_text(encoding="utf-8").replace("author_name", "author"), encoding="utf-8")
    change(form, 'default: "{{ owner }}"', 'default: "{{ author_name if author_name is defined else owner }}"')
    add(form, "\nregion:\n  type: str\n  default: europe\n")
    release(moving)
    done = update_aloud(project)
    assert done.returncode == 1
    assert "Answers that are no longer asked for:\nauthor_name\n" in done.stdout
    expected = {**EVERYTHING, "mode": "new", "author": EVERYTHING["author_name"], "region": "europe"}
    del expected["author_name"]
    assert {name: answer for name, answer in answers_of(project).items() if name[0] != "_"} == expected


TIGHTENED = {
    "a choice that is gone": ("Apache-2.0, ", ""),
    "a stricter rule": ("owner | length > 39", "owner | length > 3"),
}


@pytest.mark.parametrize("name", TIGHTENED)
def test_an_answer_that_is_no_longer_taken_stops_the_update(moving: Path, tmp_path: Path, name: str) -> None:
    project = render(moving, tmp_path / "project", EVERYTHING)
    commit(project)
    before = files(project)
    change(moving / "copier.yml", *TIGHTENED[name])
    release(moving)
    done = update_aloud(project)
    assert done.returncode == 2
    assert "The update was refused, and nothing has changed: ValueError:" in done.stderr
    assert ("'Apache-2.0' is not in" in done.stderr) or ("1 to 39 letters" in done.stderr)
    assert files(project) == before
    assert git("status", "--porcelain", cwd=project) == ""


def test_a_switch_that_is_turned_on_brings_its_files(moving: Path, tmp_path: Path) -> None:
    project = render(moving, tmp_path / "project", {"docker": False, "registry": False})
    commit(project)
    switches = dict.fromkeys(("postgres", "jwt", "langfuse", "docker", "registry", "template_update"), True)
    added = [part for name in switches for part in ("--data", f"{name}=true")]
    assert update_aloud(project, *added).returncode == 0
    provider = "src/eu_digital_acts/acts/providers/postgres.py"
    fresh = files(render(moving, tmp_path / "fresh", switches))
    assert files(project).keys() == fresh.keys()
    assert files(project)[provider] == fresh[provider]
    add(project / provider, "\n# Mine.\n")
    commit(project)
    before = files(project)
    assert update_aloud(project).stdout.startswith("Nothing to do")
    assert files(project) == before


def test_what_a_switch_brings_comes_back_and_nothing_else_of_the_connectors(moving: Path, tmp_path: Path) -> None:
    switches = dict.fromkeys(("postgres", "jwt", "registry"), True)
    project = render(moving, tmp_path / "project", switches)
    brought = {"server.json", "src/eu_digital_acts/acts/providers/postgres.py", "tests/test_tokens.py"}
    own = {name for name in files(project) if is_connectors_own(name)}
    assert brought < own
    page = (ROOT / "docs" / "updating.md").read_text(encoding="utf-8")
    assert all(f"`{'/'.join(Path(name).parts[-2:])}`" in page for name in brought)
    for name in own:
        (project / name).unlink()
    commit(project)
    add(moving / "template" / "pytest.ini", "\n")
    release(moving)
    assert update_aloud(project).returncode == 0
    assert own & files(project).keys() == brought


def test_drift_compares_what_the_page_says_is_the_templates(template: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "updating.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| the template's |"))
    listed = [part.replace("<package>", "*") for part in re.findall(r"`([^`]+)`", row.split("|")[2])]
    for number, answers in enumerate(({}, EVERYTHING, {"docker": False, "template_update": False})):
        project = render(template, tmp_path / str(number), answers)
        said = {
            name for name in files(project) if GitIgnoreSpec.from_lines(f"/{part}" for part in listed).match_file(name)
        }
        compared = set(map(str, Ownership.of(project, adopted=False).files_in(project)))
        assert compared == said
        assert not any(is_connectors_own(name) for name in said)


def test_another_answer_may_be_given_with_an_update(project: Path) -> None:
    done = update_aloud(project, "--data", "docker=false")
    assert done.returncode == 1
    assert "Dockerfile" in done.stdout
    assert answers_of(project)["docker"] is False


# What is refused


def _dirty(project: Path, template: Path) -> None:
    add(project / "README.md", "not committed\n")


def _no_answers(project: Path, template: Path) -> None:
    (project / ".copier-answers.yml").unlink()
    commit(project)


def _no_commit(project: Path, template: Path) -> None:
    change(project / ".copier-answers.yml", f"_commit: {VERSION}", "_commit: ''")
    commit(project)


def _broken_answers(project: Path, template: Path) -> None:
    add(project / ".copier-answers.yml", ": : [\n")
    commit(project)


def _markers(project: Path, template: Path) -> None:
    add(project / ".copier-answers.yml", "<<<<<<< ours\n=======\n>>>>>>> theirs\n")
    commit(project)


def _vanished_source(project: Path, template: Path) -> None:
    template.rename(template.with_name("elsewhere"))


def _unknown_version(project: Path, template: Path) -> None:
    change(project / ".copier-answers.yml", f"_commit: {VERSION}", "_commit: 0.0.1")
    commit(project)


REFUSED: dict[Callable[[Path, Path], None], str] = {
    _dirty: "commit or stash them first",
    _no_answers: "Bring back the last one: git checkout",
    _no_commit: "is damaged",
    _broken_answers: "The update was refused, and nothing has changed",
    _markers: "is damaged",
    _vanished_source: "Local template must be a directory.\nThe template is /",
    _unknown_version: "Unknown revision: '0.0.1'",
}


@pytest.mark.parametrize("spoil", REFUSED, ids=lambda spoil: spoil.__name__.strip("_"))
def test_a_bad_start_is_refused_with_a_sentence(
    moving: Path, project: Path, spoil: Callable[[Path, Path], None]
) -> None:
    release(moving)
    spoil(project, moving)
    before, status = files(project), git("status", "--porcelain", cwd=project)
    done = update_aloud(project)
    assert (done.returncode, done.stdout) == (2, "")
    assert REFUSED[spoil] in done.stderr
    assert (files(project), git("status", "--porcelain", cwd=project)) == (before, status)


def test_untracked_files_are_seen_whatever_a_person_hides(project: Path) -> None:
    git("config", "status.showUntrackedFiles", "no", cwd=project)
    (project / "scratch.txt").write_text("x\n", encoding="utf-8")
    before = files(project)
    done = update_aloud(project, "--vcs-ref", "0.0.1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "commit or stash them first" in done.stderr
    assert files(project) == before


def test_a_conflict_is_seen_whatever_a_person_hides(moving: Path, project: Path) -> None:
    git("config", "status.showUntrackedFiles", "no", cwd=project)
    name = "src/eu_digital_acts/canon/identity.py"
    add(project / name, "\n# Mine.\n")
    commit(project)
    add(moving / "template" / "{{package_folder}}" / "canon" / "identity.py", "\n# The template's.\n")
    release(moving)
    done = update_aloud(project)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, name)
    assert not list(project.rglob("*.rej"))


def test_a_refused_update_leaves_what_was_there(moving: Path, project: Path) -> None:
    (project / ".env").write_text("SECRET=1\n", encoding="utf-8")
    (project / "scratch" / "empty").mkdir(parents=True)
    (project / "audit").mkdir()
    (project / "audit" / "audit.jsonl").write_text("{}\n", encoding="utf-8")
    made = moving / "template" / "tests" / "canon" / "deep"
    made.mkdir()
    (made / "new.py").write_text("", encoding="utf-8")
    (moving / "template" / "zzz.py.jinja").write_text("{{ not_there }}", encoding="utf-8")
    release(moving)
    before = sorted(project.rglob("*"))
    content = files(project)
    done = update_aloud(project)
    assert done.returncode == 2
    assert "nothing has changed" in done.stderr
    assert sorted(path for path in project.rglob("*") if ".git" not in path.parts) == [
        path for path in before if ".git" not in path.parts
    ]
    assert files(project) == content


@pytest.mark.parametrize("written", [("--data", "nonsense=1"), ("--data=nonsense=1",), ("-d", "nonsense=1")])
def test_an_answer_to_no_question_is_refused(project: Path, written: tuple[str, ...]) -> None:
    before = files(project)
    done = update_aloud(project, *written, "--data", "docker=false")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the template does not ask for nonsense" in done.stderr
    assert files(project) == before


def test_the_templates_files_that_were_deleted_are_named_and_stay_so(moving: Path, project: Path) -> None:
    gone = [
        ".claude/rules/the-door.md",
        ".github/dependabot.yml",
        "renovate.json",
        "ruff.toml",
        "src/eu_digital_acts/canon/paging.py",
    ]
    for name in gone:
        (project / name).unlink()
    (project / "CHANGELOG.md").unlink()
    commit(project)
    said = "The template's files that were deleted here, and stay so:\n" + "\n".join(gone) + "\n"
    assert update_aloud(project).stdout == f"Nothing to do: this is {VERSION}.\n{said}"
    add(moving / "template" / "ruff.toml", "\n")
    add(moving / "template" / "pytest.ini", "\n")
    release(moving)
    done = update_aloud(project)
    assert (done.returncode, done.stdout) == (0, f"Updated from {VERSION} to {NEXT}.\n{said}")
    assert not any((project / name).exists() for name in gone)


def test_a_missing_answers_file_comes_back_as_the_script_says(project: Path, moving: Path) -> None:
    _no_answers(project, moving)
    command = update_aloud(project).stderr.rsplit("Bring back the last one: ", 1)[1]
    run("sh", "-c", command, cwd=project)
    assert answers_of(project)["_commit"] == VERSION


def test_a_tag_that_is_not_a_version_is_passed_over(moving: Path, project: Path) -> None:
    add(moving / "template" / "pytest.ini", "\n")
    release(moving, "nightly")
    assert update_aloud(project).stdout == f"Nothing to do: this is {VERSION}.\n"


@pytest.mark.parametrize("name", ["nightly", "main", "release-1"])
@pytest.mark.parametrize("written", [("--vcs-ref", "{}"), ("--vcs-ref={}",), ("-r", "{}"), ("-r{}",)], ids=" ".join)
def test_an_update_to_what_is_not_a_version_is_refused(
    moving: Path, project: Path, written: tuple[str, ...], name: str
) -> None:
    add(moving / "template" / "pytest.ini", "\n")
    release(moving, "nightly")
    git("tag", "release-1", cwd=moving)
    before = files(project)
    done = update_aloud(project, *(part.format(name) for part in written))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"nothing has changed: {name} is no version" in done.stderr
    assert files(project) == before


def test_an_update_that_ends_at_such_a_tag_is_taken_back(moving: Path, project: Path) -> None:
    add(moving / "template" / "pytest.ini", "\n")
    release(moving, "nightly")
    before = files(project)
    done = update_aloud(project, "--vcs-ref", "HEAD")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing has changed: nightly is no version" in done.stderr
    assert files(project) == before


@pytest.mark.parametrize("kind", ["version", "commit", "short", "described", "HEAD", ":current:"])
def test_a_version_a_commit_and_the_newest_state_may_be_asked_for(moving: Path, project: Path, kind: str) -> None:
    add(moving / "template" / "pytest.ini", "\n")
    release(moving)
    add(moving / "template" / "pytest.ini", "\n")
    commit(moving, "after it")
    sha = git("rev-parse", "HEAD", cwd=moving).strip()
    described = git("describe", "--tags", cwd=moving).strip()
    asked = {"version": NEXT, "commit": sha, "short": sha[:9], "described": described}.get(kind, kind)
    done = update_aloud(project, "--vcs-ref", asked)
    assert done.returncode == 0, done.stderr
    expected = {"version": NEXT, ":current:": VERSION}.get(kind, described)
    assert answers_of(project)["_commit"] == expected


def test_a_folder_that_is_no_repository_is_refused(template: Path, tmp_path: Path) -> None:
    done = update_aloud(render(template, tmp_path / "project"))
    assert done.returncode == 2
    assert "make this folder a git repository" in done.stderr
