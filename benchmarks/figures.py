"""What the benchmarks share: one rendering with its environment, and a table with a verdict."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.rendering import ROOT, VERSION, Environment, commit, git, render, snapshot

MEASURED: Final = Path(__file__).with_name("measured")
PACKAGE: Final = "eu_digital_acts"


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value and the bound it keeps."""

    what: str
    value: float
    bound: float
    unit: str
    note: str = ""


@contextmanager
def template() -> Iterator[Path]:
    """Yield a snapshot of the template."""
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    try:
        yield snapshot(folder / "template")
    finally:
        shutil.rmtree(folder)


@contextmanager
def connector() -> Iterator[Environment]:
    """Yield a default rendering, installed."""
    with template() as source:
        folder = source.parent
        yield Environment.of(render(source, folder / "eu-digital-acts"), folder / "environment")


def plain_template(rendering: Path, folder: Path) -> Path:
    """Make a template of the same files without a question or a condition: what Copier needs for itself."""
    shutil.copytree(rendering, folder / "template")
    answers = folder / "template" / "{{ _copier_conf.answers_file }}.jinja"
    (folder / "template" / ".copier-answers.yml").rename(answers)
    answers.write_text("{{ _copier_answers | to_nice_yaml -}}\n", encoding="utf-8")
    (folder / "copier.yml").write_text("_subdirectory: template\n", encoding="utf-8")
    commit(folder, VERSION)
    git("tag", VERSION, cwd=folder)
    return folder


def measured(environment: Environment, script: str, *arguments: str) -> str:
    """Run a script of `measured/` inside a rendering and return what it prints."""
    cache = str(environment.python.parents[1] / "bytecode")
    variables = {
        "CONNECTOR_PACKAGE": PACKAGE,
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": cache,
        "PYTHONDONTWRITEBYTECODE": "",
    }
    done = environment.run(str(MEASURED / script), *arguments, **variables)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def verdict(figures: Sequence[Figure]) -> int:
    """Print the figures and return the exit code: 1 when one is over its bound."""
    width = max(len(figure.what) for figure in figures)
    for figure in figures:
        state = "ok" if figure.value <= figure.bound else "OVER"
        value, bound = f"{figure.value:8.2f} {figure.unit}", f"{figure.bound:g} {figure.unit}"
        print(f"{figure.what:{width}}  {value}  (at most {bound})  {state:4}  {figure.note}".rstrip())
    return int(any(figure.value > figure.bound for figure in figures))
