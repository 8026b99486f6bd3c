"""A fleet takes a new version of the template in one command, and the command says which repositories need a person."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.rendering import ROOT, VERSION, commit, git, render, shell

NEXT = "99.1.0"
OLDER = "98.0.0"


def add(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def as_rendered(project: Path) -> None:
    """Leave it as it is."""


def with_own_work(project: Path) -> None:
    add(project / "README.md", "\nOurs.\n")
    add(project / "src" / "eu_digital_acts" / "acts" / "gaps.py", "\n# Ours.\n")
    add(project / "src" / "eu_digital_acts" / "server.py", "\n# Ours.\n")


def with_an_edit_in_the_way(project: Path) -> None:
    add(project / "src" / "eu_digital_acts" / "canon" / "paging.py", "\n# Ours.\n")


def broken(project: Path) -> None:
    add(project / ".copier-answers.yml", "<<<<<<< ours\n")


KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "current": (as_rendered, "nothing to do"),
    "behind": (as_rendered, "updated"),
    "edited": (with_own_work, "updated"),
    "conflict": (with_an_edit_in_the_way, "look: 1 conflicts, src/eu_digital_acts/canon/paging.py"),
    "broken": (broken, "refused: .copier-answers.yml is damaged"),
}
FEW = {"current": 1, "behind": 1, "edited": 1, "conflict": 1, "broken": 1}
FORTY = {"current": 8, "behind": 16, "edited": 12, "conflict": 3, "broken": 1}


@pytest.fixture
def fleet_template(template: Path, tmp_path: Path) -> Path:
    """The template as it is, one version before it and one after."""
    clone = tmp_path / "template"
    git("clone", "-q", str(template), str(clone), cwd=tmp_path)
    git("tag", OLDER, cwd=clone)
    git("commit", "-q", "--allow-empty", "-m", "now", cwd=clone)
    git("tag", "-f", VERSION, cwd=clone)
    rendered = clone / "template" / "{{package_folder}}"
    add(rendered / "canon" / "paging.py", "\n# The template's.\n")
    server = rendered / "server.py.jinja"
    server.write_text(server.read_text(encoding="utf-8").replace('"""', '"""Changed: ', 1), encoding="utf-8")
    commit(clone, "next")
    git("tag", NEXT, cwd=clone)
    return clone


def a_fleet(folder: Path, template: Path, counts: Mapping[str, int]) -> dict[Path, str]:
    """Return repositories and the result that each should have."""
    versions = {"current": NEXT, "behind": OLDER}
    fleet = {}
    for kind, count in counts.items():
        spoil, expected = KINDS[kind]
        model = render(template, folder / f"model-{kind}", vcs_ref=versions.get(kind, VERSION))
        spoil(model)
        commit(model)
        for number in range(count):
            repository = folder / "fleet" / f"{kind}-{number:02}"
            shutil.copytree(model, repository)
            fleet[repository] = expected
    return fleet


def roll_out(*folders: Path) -> subprocess.CompletedProcess[str]:
    return shell(ROOT / "scripts" / "roll-out.sh", *folders, cwd=ROOT)


@pytest.mark.parametrize("counts", [FEW, pytest.param(FORTY, marks=pytest.mark.slow)], ids=["few", "forty"])
def test_a_fleet_is_updated_by_one_command(fleet_template: Path, tmp_path: Path, counts: dict[str, int]) -> None:
    fleet = a_fleet(tmp_path, fleet_template, counts)
    heads = {repository: git("rev-parse", "HEAD", cwd=repository) for repository in fleet}
    done = roll_out(*fleet)
    sys.stdout.write(done.stdout)
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["repository", "before", "after", "result"]
    found = {line.split()[0]: line.split(maxsplit=3)[1:] for line in lines}
    assert set(found) == {repository.name for repository in fleet}
    for repository, expected in fleet.items():
        before, after, result = found[repository.name]
        assert result.startswith(expected), f"{repository.name}: {result}"
        changed = expected.startswith(("updated", "look"))
        assert (after == NEXT) is (changed or before == NEXT)
        assert git("status", "--porcelain", cwd=repository) == ""
        assert git("rev-parse", "main", cwd=repository) == heads[repository], "The work went to main."
        branch = "template-update" if changed else "main"
        assert git("branch", "--show-current", cwd=repository).strip() == branch
        if result == "updated":
            assert "# The template's." in git("show", "HEAD:src/eu_digital_acts/canon/paging.py", cwd=repository)
    assert done.returncode == 1, "Some of them need a person."
    ours = [git("show", "HEAD:README.md", cwd=folder) for folder in fleet if folder.name.startswith("edited")]
    assert all(text.endswith("\nOurs.\n") for text in ours)


def test_a_fleet_without_trouble_ends_well(template: Path, tmp_path: Path) -> None:
    project = render(template, tmp_path / "project")
    commit(project)
    done = roll_out(project)
    assert (done.returncode, done.stdout.splitlines()[1].split(maxsplit=3)[3]) == (0, "nothing to do")


def test_renovate_proposes_and_never_merges(template: Path, tmp_path: Path) -> None:
    content = json.loads((render(template, tmp_path / "project") / "renovate.json").read_text(encoding="utf-8"))
    assert content["enabledManagers"] == ["copier"]
    assert content["automerge"] is False
    (rule,) = content["packageRules"]
    assert rule["matchManagers"] == ["copier"]
    assert rule["groupName"] == "template"
    assert "automerge" not in rule


@pytest.mark.parametrize("wanted", [True, False])
def test_the_workflow_is_there_when_it_is_asked_for(template: Path, tmp_path: Path, wanted: bool) -> None:
    project = render(template, tmp_path / "project", {"template_update": wanted})
    assert (project / ".github" / "workflows" / "template-update.yml").exists() is wanted
    assert (project / ".github" / "template-update.sh").exists()
