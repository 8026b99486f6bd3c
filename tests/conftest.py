"""What the tests of the template share: a snapshot of it, and one default rendering with its environment."""

from pathlib import Path

import pytest

from tests.rendering import Environment, git, render, snapshot


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template as it lies here, committed and tagged."""
    return snapshot(tmp_path_factory.mktemp("template") / "template")


@pytest.fixture(scope="session")
def connector(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A default rendering, installed. Tests read it and run it; none changes it."""
    folder = tmp_path_factory.mktemp("connector")
    return Environment.of(render(template, folder / "eu-digital-acts"), folder / "environment")


@pytest.fixture
def moving(template: Path, tmp_path: Path) -> Path:
    """A template of which the test makes a newer version."""
    git("clone", "-q", str(template), str(tmp_path / "template"), cwd=tmp_path)
    return tmp_path / "template"
