"""The job of a rendered connector that compares the template's files, as its CI runs it, against real repositories."""

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.rendering import UV, commit, git, render, run, snapshot

NEWER = "100.0.0"


@dataclass(frozen=True)
class Runner:
    """A folder with a connector, and the environment that a runner has before the job's last step."""

    project: Path
    environment: Path

    def job(self) -> subprocess.CompletedProcess[str]:
        """Run the last step of the job as GitHub does."""
        workflow = yaml.safe_load((self.project / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
        step = workflow["jobs"]["drift"]["steps"][-1]
        path = f"{self.environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=self.project,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **step["env"], "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        )

    def record(self, template: str) -> None:
        """Say that the connector comes from somewhere else."""
        answers = self.project / ".copier-answers.yml"
        lines = answers.read_text(encoding="utf-8").splitlines(keepends=True)
        replaced = [f"_src_path: {template}\n" if line.startswith("_src_path:") else line for line in lines]
        answers.write_text("".join(replaced), encoding="utf-8")


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A remote that holds this template with a release."""
    return snapshot(tmp_path_factory.mktemp("origin") / "template")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with pip. What the command depends on is there already, the command itself is not."""
    folder = tmp_path_factory.mktemp("runner") / "environment"
    run(*UV, "venv", "-q", "--seed", "--python", sys.executable, str(folder), cwd=folder.parent)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "here.pth").write_text(sysconfig.get_paths()["purelib"], encoding="utf-8")
    return folder


@pytest.fixture
def runner(origin: Path, environment: Path, tmp_path: Path) -> Runner:
    project = render(origin, tmp_path / "connector")
    here = Runner(project, environment)
    here.record(f"git+file://{origin}")
    commit(project)
    return here


def test_a_connector_in_step_passes_though_a_newer_release_waits(runner: Runner, origin: Path) -> None:
    git("tag", "--force", NEWER, cwd=origin)
    done = runner.job()
    git("tag", "--delete", NEWER, cwd=origin)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{NEWER} is released" in done.stdout


def test_an_edit_of_the_templates_file_turns_the_job_red(runner: Runner) -> None:
    owned = runner.project / "src" / "eu_digital_acts" / "canon" / "boundary.py"
    owned.write_text(owned.read_text(encoding="utf-8") + "\nEDITED = True\n", encoding="utf-8")
    done = runner.job()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "edited here   src/eu_digital_acts/canon/boundary.py" in done.stdout


@pytest.mark.parametrize("template", ["/somebody/template", "~/template", "../template"])
def test_a_template_in_a_folder_is_a_notice(runner: Runner, template: str) -> None:
    runner.record(template)
    done = runner.job()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("::notice title=Drift was not examined::")
    assert template in done.stdout


def test_a_template_that_cannot_be_reached_is_a_warning(runner: Runner, tmp_path: Path) -> None:
    runner.record(f"git+file://{tmp_path}/nowhere")
    done = runner.job()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "::warning title=Drift was not examined::" in done.stdout
