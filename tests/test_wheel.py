"""A connector leaves its tree: built, installed in an empty environment and served from another folder."""

import email.message
import email.parser
import os
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement

from tests.answers import ANSWERS
from tests.rendering import UV, files, render, run

pytestmark = pytest.mark.xdist_group("wheel")

BOUNDED: Final = {"<", "<=", "==", "~="}


@dataclass(frozen=True, slots=True)
class Built:
    """What the build makes of one rendering."""

    project: Path
    slug: str
    package: str
    records: str
    wheel: Path
    sdist: Path
    wheel_of_sdist: Path

    @property
    def metadata(self) -> email.message.Message:
        """What an installer reads."""
        with zipfile.ZipFile(self.wheel) as opened:
            name = next(name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
            return email.parser.Parser().parsestr(opened.read(name).decode())


def built(project: Path, folder: Path, slug: str, package: str, records: str) -> Built:
    """Build a wheel from the tree, and an archive and a wheel from that archive."""
    run(*UV, "build", "-q", "--wheel", "--out-dir", str(folder / "tree"), str(project), cwd=folder)
    run(*UV, "build", "-q", "--out-dir", str(folder / "archive"), str(project), cwd=folder)
    (wheel,) = (folder / "tree").glob("*.whl")
    (sdist,) = (folder / "archive").glob("*.tar.gz")
    (wheel_of_sdist,) = (folder / "archive").glob("*.whl")
    return Built(project, slug, package, records, wheel, sdist, wheel_of_sdist)


@pytest.fixture(scope="module")
def default(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    return built(render(template, folder / "connector"), folder, "eu-digital-acts", "eu_digital_acts", "acts")


@pytest.fixture(scope="module")
def everything(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    project = render(template, folder / "connector", ANSWERS["polish-everything"])
    return built(project, folder, "eu-digital-acts", "eu_digital_acts", "akty")


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist() if not name.endswith("/RECORD")}


def serves(made: Built, archive: Path, folder: Path) -> None:
    """Install one archive where nothing else is, and speak to its command from a folder without its sources."""
    run(*UV, "venv", "-q", str(folder / "environment"), cwd=folder)
    python = folder / "environment" / "bin" / "python"
    run(*UV, "pip", "install", "-q", "--python", str(python), str(archive), cwd=folder)
    (folder / "elsewhere").mkdir()
    smoke = made.project / "tests" / "canon" / "wheel_smoke.py"
    # The folder of the script holds tests; an isolated interpreter does not look for modules there.
    done = subprocess.run(
        [str(python), "-I", str(smoke), "--command", str(python.with_name(made.slug))],
        cwd=folder / "elsewhere",
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "The connector answers.\n"


@pytest.mark.parametrize("kind", ["wheel", "sdist", "wheel_of_sdist"])
def test_every_archive_serves_from_another_folder(default: Built, tmp_path: Path, kind: str) -> None:
    serves(default, getattr(default, kind), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist", "wheel_of_sdist"])
def test_every_archive_serves_with_every_switch(everything: Built, tmp_path: Path, kind: str) -> None:
    serves(everything, getattr(everything, kind), tmp_path)


def test_the_wheel_is_the_same_by_way_of_the_archive(default: Built) -> None:
    assert contents(default.wheel) == contents(default.wheel_of_sdist)


def test_the_wheel_holds_the_whole_package_and_nothing_else(default: Built) -> None:
    source = default.project / "src"
    held = {name: content for name, content in contents(default.wheel).items() if ".dist-info/" not in name}
    assert held == files(source)
    assert f"{default.package}/{default.records}/providers/fixture.json" in held


def test_the_archive_holds_what_the_gates_need(default: Built) -> None:
    with tarfile.open(default.sdist) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    assert files(default.project).keys() - held == set()


@pytest.mark.parametrize("name", ["default", pytest.param("everything", marks=pytest.mark.slow)])
def test_every_dependency_is_bounded(request: pytest.FixtureRequest, name: str) -> None:
    made: Built = request.getfixturevalue(name)
    requirements = [Requirement(line) for line in made.metadata.get_all("Requires-Dist", [])]
    assert {"fastmcp", "pytest"} <= {requirement.name for requirement in requirements}
    for requirement in requirements:
        assert {specifier.operator for specifier in requirement.specifier} & BOUNDED, requirement


def test_the_metadata_say_whose_it_is(default: Built) -> None:
    metadata = default.metadata
    assert metadata["Name"] == default.slug
    assert metadata["Summary"] == "Legal acts of the European Union on digital matters."
    assert metadata["Author-email"] == "example-org <maintainers@example.org>"
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"


def test_a_connector_that_does_not_start_is_noticed(default: Built, tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    silent.chmod(0o755)
    smoke = str(default.project / "tests" / "canon" / "wheel_smoke.py")
    command = [sys.executable, "-I", smoke, "--command", str(silent)]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode != 0
