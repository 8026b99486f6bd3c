"""Which files of a rendered connector belong to the template: their place tells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

WORKFLOWS = ".github/workflows"
OWNED_FILES = ("ruff.toml", "mypy.ini", "pytest.ini", ".importlinter", "renovate.json")
SHARED_FOLDERS = (".github", ".claude/rules")
"""Folders in which a project has files of its own beside those that are rendered."""
UPDATE = ".github/template-update.sh"
LEFT_OVER = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})


@dataclass(frozen=True, slots=True)
class Ownership:
    """What belongs to the template: some files, and all that is in some folders."""

    files: frozenset[PurePosixPath]
    folders: frozenset[PurePosixPath]

    @classmethod
    def of(cls, rendering: Path, *, adopted: bool) -> Ownership:
        """Read it off a fresh rendering. Beside the canon, a server that adopted it has files of its own."""
        folders = {PurePosixPath(path.relative_to(rendering).as_posix()) for path in rendering.glob("**/canon")}
        if adopted:
            # Its workflow may have moved to the root of a larger repository, where the template knows of none.
            return cls(frozenset({PurePosixPath(UPDATE)}), frozenset(folders))
        beside = {
            PurePosixPath(path.relative_to(rendering).as_posix())
            for folder in SHARED_FOLDERS
            for path in (rendering / folder).rglob("*")
        }
        return cls(
            frozenset({*map(PurePosixPath, OWNED_FILES), *beside}), frozenset({*folders, PurePosixPath(WORKFLOWS)})
        )

    def files_in(self, folder: Path) -> set[PurePosixPath]:
        """Return the template's files in a folder, relative to it."""
        found = {name for name in self.files if (folder / name).is_file()}
        for owned in self.folders:
            found |= {
                PurePosixPath(path.relative_to(folder).as_posix())
                for path in (folder / owned).rglob("*")
                if path.is_file() and not LEFT_OVER & set(path.parts) and path.suffix not in {".pyc", ".rej", ".orig"}
            }
        return found


def same(one: Path, other: Path) -> bool:
    """Whether two files hold the same, whatever their line ends."""
    return one.read_bytes().replace(b"\r\n", b"\n") == other.read_bytes().replace(b"\r\n", b"\n")
