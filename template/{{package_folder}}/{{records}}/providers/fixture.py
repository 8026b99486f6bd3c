"""Records that come with the package: for tests, for a first look, for work without a network."""

import datetime
import json
from collections.abc import Sequence
from importlib import resources

from ..definition import FAMILY, FamilyCount, Identifier, Page, Query, Record, matches, no_such_record


class FixtureProvider:
    """Answers from `fixture.json`. Its answers say so, so that nobody takes them for the source."""

    source = "fixture"

    def __init__(self) -> None:
        text = resources.files(__package__).joinpath("fixture.json").read_text(encoding="utf-8")
        content = json.loads(text)
        self._records = tuple(Record.model_validate(record) for record in content["records"])
        self._captured_at = datetime.date.fromisoformat(content["captured_at"])

    async def search(self, query: Query) -> Page:
        """See `Provider`."""
        found = [record for record in self._records if matches(record, query)]
        return Page(found[query.offset : query.offset + query.limit], len(found))

    async def read(self, identifier: Identifier) -> Record:
        """See `Provider`."""
        for record in self._records:
            if record.id == identifier.value:
                return record
        raise no_such_record(identifier)

    async def families(self) -> Sequence[FamilyCount]:
        """See `Provider`."""
        return (FamilyCount(FAMILY, len(self._records), self._captured_at),)

    async def aclose(self) -> None:
        """Hold nothing."""
