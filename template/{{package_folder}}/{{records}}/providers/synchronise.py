"""From the live source to a store: everything or nothing."""

import datetime
from collections.abc import Sequence
from typing import Protocol

from ...canon.errors import Code, ConnectorError, Reason
from ..definition import PAGE_LIMIT, Provider, Query, Record


class Store(Protocol):
    """Where fetched records are kept."""

    async def count(self) -> int:
        """Return how many records are kept."""

    async def store(self, records: Sequence[Record], captured_at: datetime.date) -> None:
        """Store these records instead of what was there, or leave what was there."""


async def synchronise(provider: Provider, store: Store) -> int:
    """Store every record of a provider and return how many there are.

    Raises:
        ConnectorError: the source failed, did not give as many readable records as it counts, or counts none while
            the store holds some. Nothing is stored.
    """
    captured_at = datetime.datetime.now(datetime.UTC).date()
    records: dict[str, Record] = {}
    offset = total = 0
    while True:
        page = await provider.search(Query("", limit=PAGE_LIMIT, offset=offset))
        records |= {record.id: record for record in page.entries if record is not None}
        offset, total = offset + len(page.entries), page.total
        if offset >= total or not page.entries:
            break
    if len(records) != total:
        raise ConnectorError(
            Code.UPSTREAM_UNAVAILABLE,
            f"The source counts {total} records and gave {len(records)} that can be read, so nothing was stored.",
            reason=Reason.MALFORMED,
        )
    if not records and (kept := await store.count()):
        raise ConnectorError(
            Code.UPSTREAM_UNAVAILABLE,
            f"The source counts 0 records and {kept} are stored, so nothing was stored; if it really is empty, "
            "remove the stored records first.",
            reason=Reason.MALFORMED,
        )
    await store.store(tuple(records.values()), captured_at)
    return total
