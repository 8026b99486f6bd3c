"""What people install: the command from a wheel, in an environment of its own, outside of this checkout."""

from __future__ import annotations

import email.parser
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from connector_canon import __version__
from tests.rendering import UV, run


@pytest.fixture(scope="module")
def wheel(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(*UV, "build", "-q", "--wheel", "--out-dir", str(folder), str(template), cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_says_what_an_index_shows(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = email.parser.Parser().parsestr(opened.read(name).decode())
        assert {part.split("/")[0] for part in opened.namelist()} == {"connector_canon", name.split("/")[0]}
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert str(metadata.get_payload()).startswith("# Connector template")
    assert metadata.get_all("Classifier")
    assert metadata.get_all("Project-URL")


def test_the_command_works_from_the_wheel(wheel: Path, server: Callable[[str], Path], tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    run(*UV, "venv", "-q", "--python", sys.executable, str(environment), cwd=tmp_path)
    run(*UV, "pip", "install", "-q", "--python", str(environment / "bin" / "python"), str(wheel), cwd=tmp_path)
    command = str(environment / "bin" / "canon")
    assert run(command, "--version", cwd=tmp_path).strip() == f"canon, version {__version__}"
    assert "0 gaps" in run(command, "review", str(server("whole")), "--format", "markdown", cwd=tmp_path)
