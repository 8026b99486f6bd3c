"""Compare the template's files here with those of the recorded rendering."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from connector_canon.drift.owned import Ownership, same
from connector_canon.drift.template import Recorded, is_behind, newest_version, render_again
from connector_canon.findings import CannotLook

# One number each, so that a script can tell them apart; 2 stays "could not look".
EXIT_CODES = {"edited": 1, "missing": 3, "behind": 4}


@dataclass(frozen=True, slots=True)
class Drift:
    """How a connector differs from its template."""

    target: str
    source: str
    version: str
    newest: str | None
    edited: tuple[str, ...]
    added: tuple[str, ...]
    missing: tuple[str, ...]
    behind: bool
    unknown: str | None = None
    """Why the newest release is not known."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of drift there are, gravest first."""
        present = {"edited": self.edited or self.added, "missing": self.missing, "behind": self.behind}
        return tuple(kind for kind, there in present.items() if there)

    def exit_code(self, allowed: frozenset[str]) -> int:
        """0 in step, else the number of the gravest kind that is not allowed."""
        return next((EXIT_CODES[kind] for kind in self.kinds if kind not in allowed), 0)


def drift(path: Path, seconds: float = 60.0) -> Drift:
    """Compare a rendered connector with its template.

    Raises CannotLook when the folder was not rendered, or the recorded version cannot be rendered again.
    """
    if not path.is_dir():
        raise CannotLook(f"There is no folder at {path}; name a rendered connector.")
    recorded = Recorded.of(path)
    with tempfile.TemporaryDirectory(prefix="canon-drift-") as temporary:
        again = Path(temporary) / "again"
        render_again(path, again, recorded)
        owned = Ownership.of(again, adopted=recorded.adopted)
        theirs, ours = owned.files_in(again), owned.files_in(path)
        if not theirs:
            raise CannotLook(f"{recorded.source} at {recorded.version} renders none of the template's own files.")
        edited = [file for file in theirs & ours if not same(again / file, path / file)]
    newest = newest_version(recorded, seconds)
    return Drift(
        target=str(path),
        source=recorded.source,
        version=recorded.version,
        newest=newest.tag,
        edited=tuple(sorted(map(str, edited))),
        added=tuple(sorted(map(str, ours - theirs))),
        missing=tuple(sorted(map(str, theirs - ours))),
        behind=is_behind(recorded, newest.tag),
        unknown=newest.reason,
    )
