"""Lists: a cursor that belongs to one search, and a cut that never goes through a record."""

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from pydantic import BaseModel
from pydantic_core import to_json

from .errors import Code, ConnectorError
from .sentences import ENGLISH, Sentences

RESULT_LIMIT: Final = 50_000
"""Characters of a whole result; clients replace or refuse larger ones."""
ROOM_FOR_THE_REST: Final = 4_000
"""Characters kept free for the message, the envelope and the wire format."""
OFFSET_LIMIT: Final = 2**53
"""The largest whole number that every backend and every JSON reader counts to."""

Item = TypeVar("Item", bound=BaseModel)


def encode_cursor(query: str, offset: int) -> str:
    """Return the cursor that continues `query` at `offset`."""
    return base64.urlsafe_b64encode(f"{offset}.{_seal(query, offset)}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None, query: str, *, sentences: Sentences = ENGLISH) -> int:
    """Return the offset that a cursor of this query stands for; without a cursor, 0.

    Raises:
        ConnectorError: `invalid_input`, the cursor is not one that this query was given.
    """
    if cursor is None:
        return 0
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        number, _, seal = base64.b64decode(padded, altchars=b"-_", validate=True).decode("ascii").partition(".")
        offset = int(number)
        if encode_cursor(query, offset) == cursor and seal and 0 <= offset <= OFFSET_LIMIT:
            return offset
    except (ValueError, binascii.Error):
        pass
    raise ConnectorError(Code.INVALID_INPUT, sentences.wrong_cursor)


def _seal(query: str, offset: int) -> str:
    return hashlib.sha256(f"{offset}\0{query}".encode("utf-8", "replace")).hexdigest()[:16]


def that_fit(
    items: Sequence[Item | None], line: Callable[[Item], str], limit: int = RESULT_LIMIT
) -> Sequence[Item | None]:
    """Return the first items that fit one result, as JSON and as the lines a person reads. Nothing takes no room."""
    room = limit - ROOM_FOR_THE_REST
    readable = [item for item in items if item is not None]
    if len(to_json(readable)) + len(json.dumps([line(item) for item in readable], ensure_ascii=False)) <= room:
        return items
    for count, item in enumerate(items):
        if item is None:
            continue
        room -= len(item.model_dump_json()) + len(json.dumps(line(item), ensure_ascii=False)) + 4
        if room < 0:
            return items[:count]
    return items
