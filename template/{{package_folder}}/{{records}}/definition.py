"""What this connector can do: records, questions about them, and who answers. No I/O here.

Limits and refusals that hold for every backend live here too, so that no tool can skip them.
"""

import datetime
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Protocol

import pydantic.dataclasses
from pydantic import BeforeValidator, Field, NonNegativeInt, ValidationError

from ..canon.errors import Code, ConnectorError, Reason
from ..canon.results import Sealed
from . import words

FAMILY: Final = words.FAMILY
IDENTIFIER: Final = re.compile(r"3[0-9]{4}[A-Z]{1,2}[0-9]{4}")
"""A CELEX number of legislation: 3, year, type, number."""
PAGE_LIMIT: Final = 50
QUERY_LIMIT: Final = 200
NO_TEXT: Final = frozenset({"Cc", "Cs"})
"""Categories of characters that no word has: controls and halves of surrogate pairs."""
BETWEEN_WORDS: Final = frozenset("\t\n\r")


def _written_day(value: object) -> object:
    # Pydantic alone takes "0" for the first day of 1970.
    return datetime.date.fromisoformat(value) if isinstance(value, str) else value


Day = Annotated[datetime.date, BeforeValidator(_written_day)]
"""A date, or text that spells one as ISO 8601 does. A number is none."""


class Record(Sealed, strict=True):
    """One legal act. Strict: what a source sends in another type does not become a value."""

    id: str
    kind: str
    date: Day
    subject: str
    status: Literal["in force", "repealed"]
    repealed_on: Day | None = None


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
        ConnectorError: `invalid_input`, the text, the limit or the offset is out of bounds, or the text holds
            control characters, which each backend would read in its own way.
    """

    text: str
    limit: int
    offset: int = 0

    def __post_init__(self) -> None:
        if len(self.text) > QUERY_LIMIT:
            raise ConnectorError(Code.INVALID_INPUT, words.QUERY_TOO_LONG.format(limit=QUERY_LIMIT))
        if any(unicodedata.category(character) in NO_TEXT for character in set(self.text) - BETWEEN_WORDS):
            raise ConnectorError(Code.INVALID_INPUT, words.QUERY_NOT_TEXT)
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


@pydantic.dataclasses.dataclass(frozen=True, slots=True, config={"strict": True})
class FamilyCount:
    """How many records of a family a provider holds, and when they were captured.

    Raises:
        ValidationError: a value is of another type, the name is empty or the count is below zero.
    """

    name: Annotated[str, Field(min_length=1)]
    records: NonNegativeInt
    captured_at: Day


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


def consistent(page: Page, query: Query) -> Page:
    """Return the page if its count goes with its entries: it counts all that it lists, and is empty only at the end.

    Raises:
        ConnectorError: `upstream_unavailable`, reason `malformed`: a list that was not delivered is no empty list.
    """
    end = query.offset + len(page.entries)
    # A bool is an int to Python, but it counts nothing.
    counts = type(page.total) is int and page.total >= 0
    if not counts or (page.total < end if page.entries else page.total > query.offset):
        raise ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason=Reason.MALFORMED, retryable=True)
    return page


def families_in(rows: Iterable[Sequence[Any]]) -> Sequence[FamilyCount]:
    """Return the families that the rows of a store hold: each a name, a count and a day.

    Raises:
        ConnectorError: `upstream_unavailable`, reason `unreadable`, a row holds something else, or there is none.
    """
    try:
        families = tuple(FamilyCount(*row) for row in rows)
    except ValidationError:
        families = ()
    if not families:
        raise ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason=Reason.UNREADABLE, retryable=False)
    return families


def search_text(record: Record) -> str:
    """Return the text that the words of a query are looked for in."""
    return " ".join((record.id, record.kind, str(record.date), record.subject, record.status)).casefold()


def matches(record: Record, query: Query) -> bool:
    """Return whether every word of the query occurs in a record."""
    text = search_text(record)
    return all(word in text for word in query.words)
