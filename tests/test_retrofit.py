"""A server that was written by hand adopts the canon: nothing of it is lost, and what it does not pass yet is listed."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import copier
import pytest
import yaml

from tests.adoption import OLD_SERVERS, REASON, OldServer, add_the_two_lines, adopt, record_baseline, unmerged
from tests.answers import asked
from tests.rendering import ROOT, UV, Environment, commit, files, git, render, run, shell

USUAL = OLD_SERVERS["below src"]
HELD_AT_ONCE = "no_surface_opens or both_channels or names_fit or network or every_registered_tool or revoked_key"
"""Gates that the two lines are enough for."""
BESIDE_THE_WING = {".copier-answers.yml", ".github/template-update.sh", ".github/workflows/canon.yml"}


@pytest.fixture(scope="session")
def interpreter(connector: Environment) -> Path:
    """A Python that has what the canon and its gates need."""
    requirements = ROOT / "template" / "tests" / "canon" / "{% if mode == 'retrofit' %}requirements.txt{% endif %}"
    run(*UV, "pip", "install", "-q", "--python", str(connector.python), "-r", str(requirements), cwd=ROOT)
    return connector.python


FEW = {"below src", "a script", "of the SDK", "a package called mcp"}
"""Servers whose gates the default run starts; a run takes its time."""


@pytest.fixture(params=OLD_SERVERS)
def server(request: pytest.FixtureRequest) -> OldServer:
    return OLD_SERVERS[request.param]


@pytest.fixture
def project(tmp_path: Path, server: OldServer) -> Path:
    """A repository before it adopts the canon."""
    folder = server.write(tmp_path / "laws")
    commit(folder, "before")
    return folder


usual = pytest.mark.parametrize("server", ["below src"], indirect=True)
either_way = pytest.mark.parametrize("server", ["below src", "imported by its package"], indirect=True)


def gates(interpreter: Path, project: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return Environment(interpreter, project).run("-m", "pytest", "tests/canon", "-q", "-k", "not smoke", *more)


def accepted(project: Path) -> list[dict[str, str]]:
    content = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[dict[str, str]] = content["tool"]["canon"]["accepted"]
    return found


# Nothing is lost


def test_a_baseline_says_the_next_step_as_the_guide_does(
    template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copier.run_copy(str(template), tmp_path / "laws", data={"mode": "baseline"}, defaults=True)
    said = {line.strip() for line in capsys.readouterr().err.splitlines()}
    guide = (ROOT / "docs" / "retrofit.md").read_text(encoding="utf-8").splitlines()
    (step,) = [line for line in guide if line.startswith("copier update ")]
    assert step in said


def test_a_baseline_is_the_answers_and_nothing_else(template: Path, tmp_path: Path) -> None:
    folder = render(template, tmp_path / "baseline", {"mode": "baseline"})
    assert files(folder).keys() == {".copier-answers.yml"}
    answers = yaml.safe_load((folder / ".copier-answers.yml").read_text(encoding="utf-8"))
    assert {name for name in answers if not name.startswith("_")} == {"mode"}


def test_nothing_of_the_old_repository_is_lost(template: Path, project: Path, server: OldServer) -> None:
    before = files(project)
    adopt(template, project, server)
    after = files(project)
    assert {name: after[name] for name in before} == before
    assert unmerged(project) == []
    added = after.keys() - before.keys()
    ours = {name for name in added if name.startswith((f"{server.wing}/", "tests/canon/"))}
    assert added - ours == BESIDE_THE_WING | {f"{server.wing.removesuffix('canon')}canon_connector.py"}
    assert f"{server.wing}/boundary.py" in ours


def test_the_canon_is_the_one_that_a_new_connector_has(template: Path, project: Path, server: OldServer) -> None:
    adopt(template, project, server)
    new, adopted = files(render(template, project.with_name("new"))), files(project)
    for name, content in new.items():
        if name.startswith("src/eu_digital_acts/canon/"):
            assert adopted[f"{server.wing}/{Path(name).name}"] == content
        elif name.startswith("tests/canon/") and not name.endswith("subject.py"):
            assert adopted[name] == content


@usual
def test_what_both_sides_have_is_marked_and_neither_side_is_lost(
    template: Path, project: Path, server: OldServer
) -> None:
    name = ".github/workflows/canon.yml"
    (project / name).write_text("name: our own canon\n", encoding="utf-8")
    commit(project, "before")
    adopt(template, project, server)
    assert unmerged(project) == [name]
    text = (project / name).read_text(encoding="utf-8")
    assert "<<<<<<<" in text
    assert "name: our own canon\n" in text
    assert "tests/canon/requirements.txt" in text
    git("checkout", "--ours", name, cwd=project)
    assert (project / name).read_text(encoding="utf-8") == "name: our own canon\n"


@usual
def test_what_the_repository_leaves_out_elsewhere_is_kept_here(
    template: Path, project: Path, server: OldServer
) -> None:
    (project / ".gitignore").write_text("test_*\n*.txt\n*.toml\naudit*\nauth.py\n__pycache__/\n", encoding="utf-8")
    commit(project, "before")
    adopt(template, project, server)
    commit(project, "adopted")
    wing = files(project / server.wing).keys()
    ours = {f"{server.wing}/{name}" for name in wing} | {
        f"tests/canon/{name}" for name in files(project / "tests/canon")
    }
    assert ours <= set(git("ls-files", cwd=project).split())


@usual
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_list_is_written_with_the_line_ends_that_are_there(
    template: Path, project: Path, server: OldServer, interpreter: Path, end: str
) -> None:
    before = end.join(["[project]", "name = 'laws-mcp'  # ours", "dependencies = [", "  'fastmcp',", "]", ""]).encode()
    (project / "pyproject.toml").write_bytes(before)
    commit(project, "before")
    adopt(template, project, server)
    script = "from tests.canon import accepted; accepted.write_list({'test_a.py::test_b': 'Not yet.'})"
    done = Environment(interpreter, project).run("-c", script, PYTHONPATH=str(project / "src"))
    assert done.returncode == 0, done.stderr
    after = (project / "pyproject.toml").read_bytes()
    assert after.startswith(before)
    assert after.count(end.encode()) == after.count(b"\n")
    assert accepted(project) == [{"gate": "test_a.py::test_b", "reason": "Not yet."}]


@usual
def test_the_next_update_is_an_ordinary_one(moving: Path, project: Path, server: OldServer) -> None:
    adopt(moving, project, server)
    add_the_two_lines(project, server)
    paging, connector = project / server.wing / "paging.py", project / "src" / "laws_mcp" / "canon_connector.py"
    connector.write_text(connector.read_text(encoding="utf-8") + "\n# Ours.\n", encoding="utf-8")
    commit(project, "adopted")
    before = files(project)
    newer = moving / "template" / "{{package_folder}}" / "canon" / "paging.py"
    newer.write_text(newer.read_text(encoding="utf-8") + "\n# The template's.\n", encoding="utf-8")
    commit(moving, "newer")
    git("tag", "99.1.0", cwd=moving)
    copier.run_update(project, defaults=True, overwrite=True, quiet=True)
    after = files(project)
    assert unmerged(project) == []
    assert {name for name in after if after[name] != before.get(name)} == {
        ".copier-answers.yml",
        str(paging.relative_to(project)),
    }


def test_a_folder_of_a_larger_repository_can_adopt_it(template: Path, tmp_path: Path) -> None:
    repository = tmp_path / "many"
    project = USUAL.write(repository / "servers" / "laws")
    (repository / "other.txt").write_text("ours\n", encoding="utf-8")
    commit(repository, "before")
    before = files(repository)
    render(template, project, {"mode": "baseline"})
    commit(repository, "baseline")
    said = update_aloud(project, USUAL, "--data", "repository_folder=servers/laws")
    assert "GitHub reads workflows at the root of a repository and nowhere else" in said
    assert "git mv .github/workflows/canon.yml ../../.github/workflows/canon-laws-mcp.yml" in said
    after = files(repository)
    assert {name: after[name] for name in before} == before
    workflow = yaml.safe_load((project / ".github" / "workflows" / "canon.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["gates"]["defaults"]["run"]["working-directory"] == "servers/laws"


def update_aloud(project: Path, server: OldServer, *more: str) -> str:
    """Adopt on the command line and return what it says."""
    given = [part for name, value in server.answers.items() for part in ("--data", f"{name}={value}")]
    done = subprocess.run(
        [sys.executable, "-m", "copier", "update", "--defaults", "--vcs-ref=:current:", *given, *more],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


# The guide


def test_the_guide_names_every_question_and_every_library() -> None:
    guide = (ROOT / "docs" / "retrofit.md").read_text(encoding="utf-8")
    asked_for = set(re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE))
    assert asked_for == asked("retrofit").keys() - {"template_update"}
    project = (ROOT / "template" / "pyproject.toml.jinja").read_text(encoding="utf-8")
    listed = re.findall(r'^    "(.+)",$', project.partition("dependencies = [")[2].partition("{%- if")[0], re.MULTILINE)
    assert len(listed) > 5
    for library in listed:
        assert f'"{library}"' in guide


# The gates examine it


@pytest.mark.parametrize(
    "server",
    [name if name in FEW else pytest.param(name, marks=pytest.mark.slow) for name in OLD_SERVERS],
    indirect=True,
)
def test_the_gates_examine_the_server_wherever_it_is(
    template: Path, project: Path, server: OldServer, interpreter: Path
) -> None:
    adopt(template, project, server)
    add_the_two_lines(project, server)
    done = gates(interpreter, project, "-k", HELD_AT_ONCE)
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b[1-9]\d passed", done.stdout)


@usual
def test_the_list_is_filled_once_and_gets_only_shorter(
    template: Path, project: Path, server: OldServer, interpreter: Path
) -> None:
    adopt(template, project, server)
    add_the_two_lines(project, server)
    before = (project / "pyproject.toml").read_text(encoding="utf-8")
    filled = gates(interpreter, project, "--accept", REASON)
    assert filled.returncode == 0, filled.stdout
    after = (project / "pyproject.toml").read_text(encoding="utf-8")
    assert after.startswith(before)
    listed = [entry["gate"] for entry in accepted(project)]
    assert "test_coverage.py::test_the_report_names_families_with_counts_and_dates" in listed
    assert not [
        gate for gate in listed if gate.startswith(("test_auth.py::test_no_surface", "test_surface.py::test_names"))
    ]
    assert {entry["reason"] for entry in accepted(project)} == {REASON}

    done = gates(interpreter, project)
    assert done.returncode == 0, done.stdout
    assert f"{len(listed)} gates are accepted" in filled.stdout
    assert " xfailed" in done.stdout

    # A gate that is not listed is red, and one that is listed and passes is too.
    text = (project / server.path).read_text(encoding="utf-8")
    (project / server.path).write_text(text.replace(", auth=door()", ""), encoding="utf-8")
    stale = "test_network.py::test_this_machine_is_open"
    ghost = "test_auth.py::test_that_is_not_there"
    entries = "".join(f'    {{gate = "{gate}", reason = "r"}},\n' for gate in (stale, ghost))
    (project / "pyproject.toml").write_text(
        after.replace("accepted = [\n", f"accepted = [\n{entries}"), encoding="utf-8"
    )
    done = gates(interpreter, project, "-k", "auth or network")
    assert done.returncode == 1
    assert "FAILED tests/canon/test_auth.py::test_no_surface_opens_without_the_right_key" in done.stdout
    assert f"{stale} is accepted, and passes: take it off the list." in done.stdout
    assert f"{ghost} is accepted, and there is no such gate: take it off the list." in done.stdout
    done = gates(interpreter, project, "-k", "auth or network", "--accept", REASON)
    assert done.returncode == 4
    assert "Nothing is written" in done.stdout


@usual
def test_the_old_tests_run_as_before(template: Path, project: Path, server: OldServer, interpreter: Path) -> None:
    adopt(template, project, server)
    done = Environment(interpreter, project).run("-m", "pytest", "-q")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert "The gates of the canon run by themselves: python -m pytest tests/canon" in done.stdout


@usual
def test_the_command_line_mints_a_key_and_describes_the_server(
    template: Path, project: Path, server: OldServer, interpreter: Path, tmp_path: Path
) -> None:
    adopt(template, project, server)
    add_the_two_lines(project, server)
    variables = {"PYTHONPATH": str(project / "src"), "LAWS_MCP_API_KEYS_FILE": str(tmp_path / "keys.json")}
    environment = Environment(interpreter, project)
    program = ("-m", "laws_mcp.canon_connector")
    minted = environment.run(*program, "keys", "mint", "--org", "acme", "--user", "ann", **variables)
    assert minted.stdout.startswith("laws-mcp_pat_"), minted.stderr
    described = environment.run(*program, "describe", **variables)
    assert "`find_laws`" in described.stdout, described.stderr


@usual
def test_the_linters_find_nothing(template: Path, project: Path, server: OldServer, interpreter: Path) -> None:
    adopt(template, project, server)
    environment = Environment(interpreter, project)
    for arguments in (
        (
            "ruff",
            "check",
            "--no-cache",
            "--config",
            str(ROOT / "template" / "ruff.toml"),
            "tests/canon",
            "src/laws_mcp/canon",
            "src/laws_mcp/canon_connector.py",
        ),
        ("ruff", "check", "--no-cache", "tests/canon", "src/laws_mcp/canon"),
        ("ruff", "format", "--no-cache", "--diff", "tests/canon", "src/laws_mcp/canon"),
        ("mypy", "--strict", "--cache-dir", str(project.parent / "mypy"), "-p", "laws_mcp.canon", "-p", "tests.canon"),
        ("mypy", "--strict", "--cache-dir", str(project.parent / "mypy"), "src/laws_mcp/canon_connector.py"),
    ):
        done = environment.run("-m", *arguments, MYPYPATH=f"{project / 'src'}:{project}")
        assert done.returncode == 0, done.stdout + done.stderr


# What goes wrong gets a sentence


WRONG: dict[str, tuple[str, str]] = {
    "a module that is not there": ("from fastmcp", "import not_there_at_all\nfrom fastmcp"),
    "an end at import": ("from fastmcp", "import sys\nsys.exit(1)\nfrom fastmcp"),
    "an object that is not there": ("mcp = FastMCP", "another = mcp_of_ours = FastMCP"),
    "an object that is no server": ("LAWS = ", "mcp = LAWS = "),
}


@either_way
@pytest.mark.parametrize("name", WRONG)
def test_a_server_that_cannot_be_examined_is_named(
    template: Path, project: Path, server: OldServer, interpreter: Path, name: str
) -> None:
    adopt(template, project, server)
    text = server.text(adopted=False).partition("@mcp.tool")[0]
    old, new = WRONG[name]
    assert old in text
    text = text.replace(old, new, 1)
    (project / server.path).write_text(
        text.partition("\nmcp = FastMCP")[0] if name == "an object that is no server" else text, encoding="utf-8"
    )
    done = gates(interpreter, project)
    assert done.returncode == 4, done.stdout + done.stderr
    said = done.stdout + done.stderr
    sentences = (
        "The server cannot be imported, so nothing can be examined: ",
        "laws_mcp.server:mcp is",
        "No module named 'not_there_at_all'. The canon needs",
    )
    assert any(sentence in said for sentence in sentences)
    assert "Traceback" not in said


@either_way
def test_what_it_needs_in_the_environment_can_be_given(
    template: Path, project: Path, server: OldServer, interpreter: Path
) -> None:
    adopt(template, project, server)
    add_the_two_lines(project, server)
    path = project / server.path
    path.write_text(path.read_text(encoding="utf-8") + "\nimport os\nos.environ['LAWS_USER']\n", encoding="utf-8")
    only = ("-k", "names_fit_every_client")
    assert gates(interpreter, project, *only).returncode == 4
    with (project / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write('\n[tool.canon]\nenvironment = { LAWS_USER = "nobody" }\n')
    done = gates(interpreter, project, *only)
    assert done.returncode == 0, done.stdout + done.stderr


def refused() -> Iterator[tuple[str, str]]:
    for name in asked("retrofit").keys() - asked("new").keys():
        for wrong in ("a\nb", "${{ secrets.X }}", "", "/absolute", "../up", "a b:c"):
            if name != "install_command" or wrong in ("a\nb", "${{ secrets.X }}", ""):
                yield name, wrong


@pytest.mark.parametrize(("question", "wrong"), sorted(refused()))
def test_a_wrong_answer_is_refused_and_nothing_is_written(
    template: Path, tmp_path: Path, question: str, wrong: str
) -> None:
    folder = USUAL.write(tmp_path / "laws")
    commit(folder, "before")
    record_baseline(template, folder)
    before = files(folder)
    with pytest.raises(ValueError, match=rf"^Validation error for question '{question}': \S[^\n]*$"):
        copier.run_update(
            folder, data={**USUAL.answers, question: wrong}, defaults=True, overwrite=True, quiet=True, vcs_ref="HEAD"
        )
    assert files(folder) == before
    assert git("status", "--porcelain", cwd=folder) == ""


AWKWARD: dict[str, Any] = {
    "install_command": "python -m pip install \"a[b]\" -c 'x y' # \\ & | : {{ 1 }}",
    "connector_slug": "laws-2",
}


@usual
def test_an_awkward_command_comes_out_as_it_went_in(template: Path, project: Path, server: OldServer) -> None:
    adopt(template, project, server, **AWKWARD)
    workflow = yaml.safe_load((project / ".github" / "workflows" / "canon.yml").read_text(encoding="utf-8"))
    assert AWKWARD["install_command"] in [step.get("run") for step in workflow["jobs"]["gates"]["steps"]]
    subject = (project / "tests" / "canon" / "subject.py").read_text(encoding="utf-8")
    compile(subject, "subject.py", "exec")


@usual
def test_a_repository_with_changes_is_left_as_it_is(template: Path, project: Path, server: OldServer) -> None:
    record_baseline(template, project)
    (project / "README.md").write_text("changed\n", encoding="utf-8")
    before = files(project)
    with pytest.raises(copier.errors.UserMessageError, match="dirty"):
        copier.run_update(project, data=server.answers, defaults=True, overwrite=True, quiet=True, vcs_ref="HEAD")
    assert files(project) == before


# The script that a fleet runs


def script(project: Path, template: Path, *more: object) -> subprocess.CompletedProcess[str]:
    return shell(ROOT / "scripts" / "adopt.sh", template, *more, cwd=project)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    file = tmp_path / "laws.yml"
    file.write_text(yaml.safe_dump(USUAL.answers), encoding="utf-8")
    return file


@usual
def test_the_script_merges_and_commits_only_the_baseline(template: Path, project: Path, answers: Path) -> None:
    before = files(project)
    done = script(project, template, answers)
    assert done.returncode == 0, done.stderr
    assert "The canon is in src/laws_mcp/canon." in done.stdout
    assert git("log", "-1", "--format=%s", cwd=project) == "Record the empty baseline of the canon\n"
    after = files(project)
    assert {name: after[name] for name in before} == before
    assert "src/laws_mcp/canon/boundary.py" in after


@usual
def test_the_script_says_where_a_person_has_to_look(template: Path, project: Path, answers: Path) -> None:
    (project / ".github" / "workflows" / "canon.yml").write_text("name: ours\n", encoding="utf-8")
    commit(project, "before")
    done = script(project, template, answers)
    assert done.returncode == 1
    assert "Conflicts to resolve, marked in the files:\n.github/workflows/canon.yml\n" in done.stdout


@usual
@pytest.mark.parametrize("wrong", ["dirty", "adopted before", "no answers", "a wrong answer", "no template"])
def test_the_script_refuses_with_a_sentence(
    template: Path, project: Path, answers: Path, tmp_path: Path, wrong: str
) -> None:
    source: Path = template
    if wrong == "dirty":
        (project / "README.md").write_text("changed\n", encoding="utf-8")
        expected = "There are changes that are not committed"
    elif wrong == "adopted before":
        record_baseline(template, project)
        expected = ".copier-answers.yml is here already"
    elif wrong == "no answers":
        answers.unlink()
        expected = "There is no file of answers at "
    elif wrong == "a wrong answer":
        answers.write_text("server_object: nothing\n", encoding="utf-8")
        expected = "nothing has changed: ValueError: Validation error for question 'server_object'"
    else:
        source = tmp_path / "nowhere"
        expected = "The adoption was refused, and nothing has changed: "
    before, head = files(project), git("rev-parse", "HEAD", cwd=project)
    status = git("status", "--porcelain", cwd=project)
    done = script(project, source, answers)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert (files(project), git("rev-parse", "HEAD", cwd=project)) == (before, head)
    assert git("status", "--porcelain", cwd=project) == status


@usual
def test_the_script_deletes_nothing_that_it_did_not_make(template: Path, project: Path, answers: Path) -> None:
    answers.write_text("server_object: nothing\n", encoding="utf-8")
    (project / "empty").mkdir()
    assert script(project, template, answers).returncode == 2
    assert (project / "empty").is_dir()
    git("config", "status.showUntrackedFiles", "no", cwd=project)
    (project / "scratch.txt").write_text("x\n", encoding="utf-8")
    before = files(project)
    done = script(project, template, answers)
    assert done.returncode == 2
    assert "There are changes that are not committed" in done.stderr
    assert files(project) == before


@usual
def test_the_script_refuses_an_answer_to_no_question(template: Path, project: Path, answers: Path) -> None:
    before, head = files(project), git("rev-parse", "HEAD", cwd=project)
    done = script(project, template, answers, "--data", "pakage_name=laws")
    assert done.returncode == 2
    assert "the template does not ask for pakage_name" in done.stderr
    assert (files(project), git("rev-parse", "HEAD", cwd=project)) == (before, head)
