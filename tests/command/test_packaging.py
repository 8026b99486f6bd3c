"""Which major version of a framework a pin brings, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from connector_canon.findings import Verdict
from connector_canon.reading.connector import Connector
from connector_canon.review import review

PINS = {
    ">=2,<3": 2,
    ">=2,<3.0": 2,
    ">=2,<3.0.0": 2,
    ">=2,<3.0a1": 2,
    ">=3,<3.1": 3,
    ">=4.2,<5": 4,
    ">=4.2,<=5": 5,
    ">=4.2,<10": 9,
    ">=4.2,<20": 19,
    "==4.*": 4,
    "==2.10.0": 2,
    "===3.1": 3,
    "~=4.2": 4,
    ">=4.2": None,
    "": None,
}


def pinned(path: Path, pin: str) -> Path:
    (path / "pyproject.toml").write_text(
        f'[project]\nname = "laws"\nversion = "1"\ndependencies = ["fastmcp{pin}"]\n', encoding="utf-8"
    )
    return path


@pytest.mark.parametrize("pin", PINS)
def test_a_bound_says_the_newest_major_that_it_lets_in(pin: str, server: Callable[[str], Path]) -> None:
    connector = Connector.read(pinned(server("decorators"), pin), 30)
    assert connector.framework == ("fastmcp", PINS[pin])


@pytest.mark.parametrize("pin", [">=2,<3", ">=2,<3.0"])
def test_an_old_framework_is_not_told_of_spans(pin: str, server: Callable[[str], Path]) -> None:
    found = {f.code: f.answer.verdict for f in review(pinned(server("decorators"), pin)).findings}
    assert found["CN701"] is found["CN703"] is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("pin", "start"),
    [
        (">=4.2,<5", "fastmcp 4 opens spans of its own"),
        (">=4.2", "fastmcp has no upper bound, so the newest is installed, and it opens spans of its own"),
    ],
)
def test_a_framework_with_spans_is_named_in_a_sentence(pin: str, start: str, server: Callable[[str], Path]) -> None:
    said = {f.code: f.answer.sentence for f in review(pinned(server("decorators"), pin)).findings}
    assert said["CN701"].endswith(f" {start}.")
    assert said["CN703"].startswith(f"{start} and puts exception texts on them; turn them off (")
