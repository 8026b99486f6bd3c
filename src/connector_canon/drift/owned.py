"""Which files of a rendered connector belong to the template: their place tells."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

OWNED_FOLDERS = ("src/*/canon", "tests/canon", ".github/workflows")
OWNED_FILES = ("ruff.toml", "mypy.ini", "pytest.ini", ".importlinter")
LEFT_OVER = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})


def owned_files(folder: Path) -> set[PurePosixPath]:
    """Return the template's files in a folder, relative to it."""
    found = {PurePosixPath(name) for name in OWNED_FILES if (folder / name).is_file()}
    for pattern in OWNED_FOLDERS:
        for owned in folder.glob(pattern):
            found |= {
                PurePosixPath(path.relative_to(folder).as_posix())
                for path in owned.rglob("*")
                if path.is_file() and not LEFT_OVER & set(path.parts) and path.suffix not in {".pyc", ".rej", ".orig"}
            }
    return found


def same(one: Path, other: Path) -> bool:
    """Whether two files hold the same, whatever their line ends."""
    return one.read_bytes().replace(b"\r\n", b"\n") == other.read_bytes().replace(b"\r\n", b"\n")
