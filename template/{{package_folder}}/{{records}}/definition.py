"""What this connector can do: records, questions about them, and who answers. No I/O here.

Limits and refusals that hold for every backend live here too, so that no tool can skip them.
"""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from ..canon.errors import Code, ConnectorError
from ..canon.results import Sealed
from . import words

FAMILY: Final = words.FAMILY
IDENTIFIER: Final = re.compile(r"3[0-9]{4}[A-Z]{1,2}[0-9]{4}")
"""A CELEX number of legislation: 3, year, type, number."""
PAGE_LIMIT: Final = 50
QUERY_LIMIT: Final = 200


class Record(Sealed):
    """One legal act."""

    id: str
    kind: str
    date: datetime.date
    subject: str
    status: Literal["in force", "repealed"]
    repealed_on: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class Identifier:
    """The number of a record.

    Raises:
        ConnectorError: `invalid_input`, it is not formed like one.
    """

    value: str

    def __post_init__(self) -> None:
        if not IDENTIFIER.fullmatch(self.value):
            raise ConnectorError(Code.INVALID_INPUT, words.WRONG_IDENTIFIER)


@dataclass(frozen=True, slots=True)
class Query:
    """A question for a list of records: every word must occur, an empty text asks for all.

    Raises:
        ConnectorError: `invalid_input`, the text, the limit or the offset is out of bounds.
    """

    text: str
    limit: int
    offset: int = 0

    def __post_init__(self) -> None:
        if len(self.text) > QUERY_LIMIT:
            raise ConnectorError(Code.INVALID_INPUT, words.QUERY_TOO_LONG.format(limit=QUERY_LIMIT))
        if not 1 <= self.limit <= PAGE_LIMIT or self.offset < 0:
            raise ConnectorError(Code.INVALID_INPUT, words.WRONG_LIMIT.format(limit=PAGE_LIMIT))

    @property
    def words(self) -> tuple[str, ...]:
        """The words that must occur, as `search_text` spells them."""
        return tuple(self.text.casefold().split())


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the records that a query matches, and how many it matches in all.

    An entry is nothing where the source sent a record that cannot be read. It is counted, never left out.
    """

    entries: Sequence[Record | None]
    total: int


@dataclass(frozen=True, slots=True)
class FamilyCount:
    """How many records of a family a provider holds, and when they were captured."""

    name: str
    records: int
    captured_at: datetime.date


class Provider(Protocol):
    """One backend. Every provider passes the same contract suite."""

    source: str
    """Names the backend in each answer."""

    async def search(self, query: Query) -> Page:
        """Return the records that match, newest first.

        Raises:
            ConnectorError: `rate_limited` or `upstream_unavailable`.
        """

    async def read(self, identifier: Identifier) -> Record:
        """Return one record.

        Raises:
            ConnectorError: `not_found`, `rate_limited` or `upstream_unavailable`.
        """

    async def families(self) -> Sequence[FamilyCount]:
        """Count what there is.

        Raises:
            ConnectorError: `rate_limited` or `upstream_unavailable`.
        """

    async def aclose(self) -> None:
        """Release what the provider holds."""


def no_such_record(identifier: Identifier) -> ConnectorError:
    """Return what `read` raises when there is no record of that number."""
    return ConnectorError(Code.NOT_FOUND, words.NO_SUCH_RECORD.format(id=identifier.value))


def search_text(record: Record) -> str:
    """Return the text that the words of a query are looked for in."""
    return " ".join((record.id, record.kind, str(record.date), record.subject, record.status)).casefold()


def matches(record: Record, query: Query) -> bool:
    """Return whether every word of the query occurs in a record."""
    text = search_text(record)
    return all(word in text for word in query.words)
