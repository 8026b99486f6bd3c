from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

SERVERS = Path(__file__).parent / "servers"


@pytest.fixture
def server(tmp_path: Path) -> Callable[[str], Path]:
    """Copies one of the committed servers out of this repository, so that it is looked at as a repository of its own."""

    def copied(name: str) -> Path:
        return Path(shutil.copytree(SERVERS / name, tmp_path / name))

    return copied
