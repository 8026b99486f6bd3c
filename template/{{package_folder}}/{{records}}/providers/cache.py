"""Records that `sync` stored in a SQLite file: fast, offline, as old as the last sync."""

import datetime
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TypeVar

import anyio
import anyio.to_thread
from pydantic import ValidationError

from ...canon.configuration import ConfigurationError
from ...canon.errors import Code, ConnectorError, Reason
from ..definition import FAMILY, FamilyCount, Identifier, Page, Query, Record, families_in, no_such_record, search_text

SCHEMA: Final = """
CREATE TABLE records (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, search_text TEXT NOT NULL, body TEXT NOT NULL
);
CREATE TABLE families (name TEXT PRIMARY KEY, records INTEGER NOT NULL, captured_at TEXT NOT NULL);
"""
COUNT: Final = """
SELECT count(*) FROM records
WHERE NOT EXISTS (SELECT 1 FROM json_each(:words) WHERE instr(search_text, json_each.value) = 0)
"""
SELECT: Final = """
SELECT body FROM records
WHERE NOT EXISTS (SELECT 1 FROM json_each(:words) WHERE instr(search_text, json_each.value) = 0)
ORDER BY position LIMIT :limit OFFSET :offset
"""
WAIT_SECONDS: Final = 5.0

Result = TypeVar("Result")


@contextmanager
def session_scope(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the stored records for reading. Every reader comes through here.

    Raises:
        ConnectorError: `upstream_unavailable`, reason `unreadable`. The file is left as it is.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=WAIT_SECONDS)) as session:
            yield session
    except sqlite3.Error:
        raise ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason=Reason.UNREADABLE, retryable=False) from None


class CacheProvider:
    """Answers from the SQLite file and from nothing else."""

    source = "cache"

    def __init__(self, path: Path) -> None:
        self._path = path

    async def search(self, query: Query) -> Page:
        """See `Provider`."""
        values = {"words": json.dumps(query.words), "limit": query.limit, "offset": query.offset}

        def select(session: sqlite3.Connection) -> Page:
            (total,) = session.execute(COUNT, values).fetchone()
            return Page([_record(body) for (body,) in session.execute(SELECT, values)], total)

        return await self._in_session(select)

    async def read(self, identifier: Identifier) -> Record:
        """See `Provider`."""
        row = await self._in_session(
            lambda session: session.execute("SELECT body FROM records WHERE id = ?", (identifier.value,)).fetchone()
        )
        if row is None:
            raise no_such_record(identifier)
        record = _record(row[0])
        if record is None:
            raise ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason=Reason.UNREADABLE)
        return record

    async def families(self) -> Sequence[FamilyCount]:
        """See `Provider`."""
        rows = await self._in_session(
            lambda session: session.execute("SELECT name, records, captured_at FROM families").fetchall()
        )
        return families_in(rows)

    async def aclose(self) -> None:
        """Hold nothing: each call opens the file anew, so a new sync counts at once."""

    async def _in_session(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        def run() -> Result:
            with session_scope(self._path) as session:
                return work(session)

        return await anyio.to_thread.run_sync(run)


class CacheStore:
    """Where `sync` puts records: a new file that takes the old one's place when it is whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def count(self) -> int:
        """Return how many records are stored, 0 where there is no file.

        Raises:
            ConnectorError: `upstream_unavailable`, reason `unreadable`.
        """
        if not await anyio.Path(self._path).exists():
            return 0
        return (await CacheProvider(self._path).search(Query("", limit=1))).total

    async def store(self, records: Sequence[Record], captured_at: datetime.date) -> None:
        """Store these records instead of what was there.

        Raises:
            ConfigurationError: the file cannot be written.
        """
        try:
            await anyio.to_thread.run_sync(self._store, records, captured_at)
        except (OSError, sqlite3.Error):
            raise ConfigurationError("The stored records cannot be written: set DATABASE to another file.") from None

    def _store(self, records: Sequence[Record], captured_at: datetime.date) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_name(f".{self._path.name}.new")
        fresh.unlink(missing_ok=True)
        with closing(sqlite3.connect(fresh)) as session, session:
            session.executescript(SCHEMA)
            session.executemany(
                "INSERT INTO records (position, id, search_text, body) VALUES (?, ?, ?, ?)",
                [
                    (position, record.id, search_text(record), record.model_dump_json())
                    for position, record in enumerate(records)
                ],
            )
            session.execute("INSERT INTO families VALUES (?, ?, ?)", (FAMILY, len(records), captured_at.isoformat()))
        fresh.replace(self._path)


def _record(body: str) -> Record | None:
    try:
        return Record.model_validate_json(body)
    except ValidationError:
        return None
