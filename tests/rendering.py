"""Renders the template as it lies here, and gives a rendering an environment of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import copier

ROOT: Final = Path(__file__).resolve().parents[1]
VERSION: Final = "99.0.0"
"""The tag of a snapshot: newer than every release, so that an update leads to it."""

UV: Final = (sys.executable, "-m", "uv")
GATES: Final = ("-m", "pytest", "tests/", "-q", "-k", "not smoke", "-p", "no:cacheprovider")


def git(*arguments: str, cwd: Path) -> str:
    """Run git without anybody's configuration and return what it prints."""
    done = subprocess.run(
        ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "core.autocrlf=false", *arguments],
        cwd=cwd,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )
    return done.stdout


def snapshot(folder: Path, version: str = VERSION) -> Path:
    """Copy the template with all changes that are not committed yet into a repository of its own, and tag it."""
    folder.mkdir(parents=True)
    for name in git("ls-files", "-co", "--exclude-standard", "-z", cwd=ROOT).split("\0"):
        source, target = ROOT / name, folder / name
        if name and source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    git("init", "-q", "-b", "main", cwd=folder)
    git("add", "-A", "-f", cwd=folder)
    git("commit", "-qm", "snapshot", cwd=folder)
    git("tag", version, cwd=folder)
    return folder


def render(template: Path, destination: Path, answers: Mapping[str, Any] | None = None, **options: Any) -> Path:
    """Render in process: without trust, without a terminal, without a network.

    Raises:
        ValueError: an answer is refused.
    """
    copier.run_copy(str(template), destination, data=dict(answers or {}), defaults=True, quiet=True, **options)
    return destination


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment that holds one rendering, installed as its README says."""

    python: Path
    project: Path

    @classmethod
    def of(cls, project: Path, folder: Path, python: str | None = None) -> "Environment":
        """Install a rendering with its development extra."""
        version = ("--python", python or sys.executable)
        run(*UV, "venv", "-q", *version, str(folder), cwd=project)
        interpreter = folder / "bin" / "python"
        run(*UV, "pip", "install", "-q", "--python", str(interpreter), "-e", ".[dev]", cwd=project)
        return cls(interpreter, project)

    @property
    def bytecode(self) -> dict[str, str]:
        """The variables by which Python compiles once, and not into a rendering: a suite starts dozens of processes."""
        return {"PYTHONPYCACHEPREFIX": str(self.python.parents[1] / "cache"), "PYTHONDONTWRITEBYTECODE": ""}

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the rendering's folder, with its environment and without the caller's settings."""
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [str(self.python), *arguments],
            cwd=self.project,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": path, **self.bytecode, **variables},
        )

    def gates(self, *more: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the generated suite."""
        return self.run(*GATES, *more, **variables)


def run(*command: str, cwd: Path) -> str:
    """Run a command and return what it prints.

    Raises:
        AssertionError: it failed; the message holds what it said.
    """
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}"
    return done.stdout


def shell(script: Path | str, *arguments: object, cwd: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a shell script that finds the tests' own Copier and may commit; its exit code is the caller's to judge."""
    identity = {
        f"GIT_{who}_{part}": "test@example.org" for who in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", str(script), *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": path, **identity, **variables},
    )


def files(folder: Path) -> dict[str, bytes]:
    """Return every file of a rendering by its path, git's own left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def commit(project: Path, message: str = "change") -> None:
    """Commit everything in a rendering, making it a repository first where it is none."""
    if not (project / ".git").exists():
        git("init", "-q", "-b", "main", cwd=project)
    git("add", "-A", cwd=project)
    git("commit", "-qm", message, "--allow-empty", cwd=project)


def interpreters(names: Sequence[str] = ("3.11", "3.12", "3.13")) -> dict[str, str]:
    """Return the Python interpreters on this machine by version, as uv finds them."""
    found = {}
    # The shims of pyenv answer for versions that are not switched on, with an error; its own folders do not.
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin")
    path = os.pathsep.join([*map(str, sorted(pyenv)), os.environ["PATH"]])
    for name in names:
        done = subprocess.run(
            [*UV, "python", "find", name], capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
        )
        if done.returncode == 0:
            found[name] = done.stdout.strip()
    return found
