"""The source itself, over HTTP.

It expects a JSON API: the base address lists `{"total": …, "items": […]}` for `query`, `limit` and `offset`, and a
record's identifier below it gives that record. A source that speaks otherwise is translated here and nowhere else.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ...canon.errors import Code, ConnectorError, Reason
from ...canon.upstream import Upstream
from ..definition import FAMILY, FamilyCount, Identifier, Page, Query, Record, consistent, no_such_record


class LiveProvider:
    """Asks the source at each call and keeps nothing."""

    source = "live"

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def search(self, query: Query) -> Page:
        """See `Provider`."""
        answer = await self._get(query=query.text, limit=query.limit, offset=query.offset)
        match answer:
            case {"total": int(total), "items": list(items)} if len(items) <= query.limit:
                return consistent(Page([_record(item) for item in items], total), query)
        raise ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason=Reason.MALFORMED)

    async def read(self, identifier: Identifier) -> Record:
        """See `Provider`."""
        try:
            record = _record(await self._get(identifier.value))
        except ConnectorError as error:
            raise no_such_record(identifier) if error.code is Code.NOT_FOUND else error from None
        if record is None or record.id != identifier.value:
            raise ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason=Reason.MALFORMED)
        return record

    async def families(self) -> Sequence[FamilyCount]:
        """See `Provider`. The source is asked now, so the date is today's."""
        page = await self.search(Query("", limit=1))
        return (FamilyCount(FAMILY, page.total, datetime.datetime.now(datetime.UTC).date()),)

    async def aclose(self) -> None:
        """Close the connections to the source."""
        await self._upstream.aclose()

    async def _get(self, *path: str, **parameters: str | int) -> Any:
        answer = await self._upstream.get(*path, **parameters)
        # Some sources say that a limit is reached inside an answer that is otherwise fine.
        if isinstance(answer, Mapping) and answer.get("error") == "rate_limited":
            raise ConnectorError(Code.RATE_LIMITED, retryable=True)
        return answer


def _record(item: object) -> Record | None:
    if not isinstance(item, Mapping):
        return None
    try:
        return Record.model_validate({name: item[name] for name in Record.model_fields if name in item})
    except ValidationError:
        return None
