"""Which files of a repository are looked at, and how their text is had."""

from __future__ import annotations

import io
import os
import time
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

from connector_canon.findings import CannotLook

SKIPPED_FOLDERS = frozenset(
    {
        ".eggs", ".git", ".hg", ".idea", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv",
        "__pycache__", "build", "dist", "node_modules", "site-packages", "venv",
    }
)  # fmt: skip
LARGEST_FILE = 2_000_000
MOST_FILES = 50_000
PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")


@dataclass(slots=True)
class TimeLimit:
    """How long a look may take."""

    seconds: float
    started: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Raise CannotLook when the time is used up."""
        if time.monotonic() - self.started > self.seconds:
            raise CannotLook(
                f"The look took longer than {self.seconds:g} s and was ended; name a smaller folder or raise --time-limit."
            )


@dataclass(frozen=True, slots=True)
class Folders:
    """Where the connector, its project and its repository begin."""

    target: Path
    project: Path
    repository: Path

    @classmethod
    def around(cls, target: Path) -> Folders:
        """Find the project and the repository that a folder or file belongs to.

        Raises CannotLook when there is nothing at the path.
        """
        if not target.exists():
            raise CannotLook(f"There is nothing at {target}; name a folder that holds a connector.")
        target = target.resolve()
        start = target if target.is_dir() else target.parent
        above = [start, *start.parents]
        repository = next((folder for folder in above if (folder / ".git").exists()), start)
        within = above[: above.index(repository) + 1]
        project = next((f for f in within if any((f / name).is_file() for name in PROJECT_FILES)), start)
        return cls(target, project, repository)

    def shown(self, path: Path) -> str:
        """Return a path as reports show it: relative to the repository, with forward slashes."""
        return path.relative_to(self.repository).as_posix() if path.is_relative_to(self.repository) else path.as_posix()


def walk(folder: Path, limit: TimeLimit) -> list[Path]:
    """List the files below a folder in order, following no link and entering no folder of built or foreign things.

    Raises CannotLook when there are more files than a connector can have.
    """
    found: list[Path] = []
    for here, folders, names in os.walk(folder):
        limit.check()
        folders[:] = sorted(
            name for name in folders if name not in SKIPPED_FOLDERS and not os.path.exists(f"{here}/{name}/pyvenv.cfg")
        )
        found.extend(Path(here, name) for name in sorted(names) if not os.path.islink(f"{here}/{name}"))
        if len(found) > MOST_FILES:
            raise CannotLook(f"More than {MOST_FILES:,} files below {folder}; name the connector's own folder.")
    return found


def text_of_file(path: Path) -> str | None:
    """Return the text of a file, or None when it is too large, unreadable or in no encoding that it declares."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            return None
        raw = path.read_bytes()
    except OSError:
        return None
    if path.suffix == ".py":
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
            return raw.decode(encoding)
        except (SyntaxError, LookupError, UnicodeDecodeError):
            return None
    return raw.decode("utf-8-sig", errors="replace")
