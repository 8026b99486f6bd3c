"""The site builds strictly and without a network, and its pages tell the truth about what can be run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rendering import ROOT, Environment
from tests.test_tutorial import LONG, Step, blocks, carry_out, edit, editable

README = ROOT / "README.md"
ELSEWHERE = re.compile(r'src="https?:|rel="stylesheet" href="https?:')
CANON = sorted((ROOT / "docs" / "canon").glob("*.md"))


def test_the_site_builds_strictly(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "NO_MKDOCS_2_WARNING": "1",
            "https_proxy": "http://127.0.0.1:9",
            "http_proxy": "http://127.0.0.1:9",
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {path.relative_to(tmp_path / "site") for path in (tmp_path / "site").rglob("index.html")}
    assert len(pages) == len(list((ROOT / "docs").rglob("*.md")))
    for page in pages:
        text = (tmp_path / "site" / page).read_text(encoding="utf-8")
        assert not ELSEWHERE.search(text), f"{page} loads something from another host."


def test_every_element_has_its_page() -> None:
    assert [path.name.partition("-")[0] for path in CANON][:9] == [str(number) for number in range(1, 10)]


def test_the_readme_shows_what_its_command_prints(connector: Environment, tmp_path: Path) -> None:
    first, second, *_ = [block for block in blocks(README) if block.is_command]
    (answer,) = [block for block in blocks(README) if block.kind == "json"]
    question = first.body.splitlines()[-1]
    assert carry_out(question, connector, editable(connector, tmp_path), fails=False) == answer.body
    assert second.body == "bash .ci/run\n"
    assert "python -m pytest -q -n 2\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_readme_links_to_what_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert len(links) > 5
    for link in links:
        assert (ROOT / link).is_file(), f"README.md links to {link}, which is not there."


@pytest.mark.slow
@pytest.mark.parametrize("page", CANON, ids=lambda page: str(page.stem))
def test_what_a_page_breaks_turns_its_gate_red(connector: Environment, page: Path, tmp_path: Path) -> None:
    project = editable(connector, tmp_path)
    (broken,) = [block for block in blocks(page) if block.title == "fails"]
    (expected,) = [block for block in blocks(page) if block.kind == "text"]
    change, gate = broken.body.splitlines()
    carry_out(gate, connector, project, fails=False)
    carry_out(change, connector, project, fails=False)
    output = carry_out(gate, connector, project, fails=True)
    for line in expected.body.splitlines():
        assert line in output, f"{line} is not what {page.name} leads to:\n{output}"
    shutil.rmtree(project)


OWN_RECORDS = ROOT / "docs" / "your-own-records.md"
SPAN = re.compile(r"Replace from `(?P<first>.+)` to `(?P<last>.+)` with:")


def replace_lines(project: Path, step: Step) -> None:
    """Make the change that a block and the sentence above it ask for, over one line, over several or a whole file."""
    path, span = project / step.title, SPAN.fullmatch(step.intro)
    if step.intro == "Write this:":
        path.write_text(step.body, encoding="utf-8")
    elif span is None:
        edit(project, step)
    else:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (first,) = [number for number, line in enumerate(lines) if line.strip() == span["first"]]
        (last,) = [number for number, line in enumerate(lines) if line.strip() == span["last"]]
        lines[first : last + 1] = [step.body]
        path.write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["quick", "whole"])
def test_the_sample_gives_way_to_records_of_ones_own(connector: Environment, tmp_path: Path, *, whole: bool) -> None:
    project = editable(connector, tmp_path)
    output = ""
    for step in blocks(OWN_RECORDS):
        if step.is_command and not step.title:
            for command in step.body.splitlines():
                if whole or not LONG.search(command):
                    output = carry_out(command, connector, project, fails=False)
        elif step.title == "prints" or step.kind == "text":
            assert output == step.body
        elif not step.is_command:
            replace_lines(project, step)
    left = [
        path for folder in ("src", "tests") for path in (project / folder).rglob("*.py") if "canon" not in path.parts
    ]
    assert not [path for path in left if "celex" in path.read_text(encoding="utf-8").lower()]


def test_the_limits_of_the_sample_are_those_of_the_suites(connector: Environment) -> None:
    text = OWN_RECORDS.read_text(encoding="utf-8")
    definition = (connector.project / "src" / "eu_digital_acts" / "acts" / "definition.py").read_text(encoding="utf-8")
    (largest,) = re.findall(r"PAGE_LIMIT: Final = (\d+)", definition)
    tests = (connector.project / "tests" / "test_acts.py").read_text(encoding="utf-8")
    highest = max(int(number) for number in re.findall(r"source\.records\[(\d+)\]", tests))
    assert f"At most {largest} records" in text
    assert f"At least {highest + 1}:" in text
    assert f"Take {highest + 1} to {largest} records" in text
