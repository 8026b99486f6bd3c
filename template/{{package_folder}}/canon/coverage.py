"""What a connector says about itself: what it holds, as of when, and what it lacks."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Self

from pydantic import Field, NonNegativeInt, model_validator

from .results import Answer, Envelope, Sealed, Status
from .sentences import Sentences


class Family(Sealed):
    """One kind of record: where to ask for it, how many there are and when they were captured."""

    name: str = Field(min_length=1)
    tool: str = Field(min_length=1)
    records: NonNegativeInt
    captured_at: date


class KnownGap(Sealed):
    """Something the connector does not hold, and where to look instead. The `id` never changes."""

    id: str = Field(pattern=r"^[A-Z]{2,8}-\d{3}$")
    family: str = Field(min_length=1)
    missing: str = Field(min_length=1)
    fallback: str = Field(min_length=1)


class CoverageReport(Envelope[None]):
    """The envelope of the coverage tool.

    Raises:
        ValueError: there is no family or no gap. An empty list of gaps means that nobody looked.
    """

    as_of_note: str | None = None
    families: tuple[Family, ...] = ()
    known_gaps: tuple[KnownGap, ...] = ()

    @model_validator(mode="after")
    def _says_what_it_lacks(self) -> Self:
        if self.status is Status.FAILED:
            return self
        if not (self.as_of_note and self.families):
            raise ValueError("a coverage report needs its as_of_note and at least one family.")
        if not self.known_gaps:
            raise ValueError("a coverage report without known gaps means that nobody looked: name at least one.")
        ids = [gap.id for gap in self.known_gaps]
        if len(set(ids)) < len(ids):
            raise ValueError("two known gaps share an id; each keeps its own for ever.")
        return self


def coverage_report(
    families: Sequence[Family], gaps: Sequence[KnownGap], *, source: str, sentences: Sentences
) -> CoverageReport:
    """Return the report over `families` as the provider counts them."""
    message = sentences.coverage.format(
        records=sum(family.records for family in families), families=len(families), gaps=len(gaps)
    )
    return CoverageReport(
        status=Status.OK,
        message=message,
        source=source,
        as_of_note=sentences.as_of_note,
        families=tuple(families),
        known_gaps=tuple(gaps),
    )


def coverage_answer(report: CoverageReport) -> Answer:
    """Return the report as a tool's result."""
    lines: list[Any] = [report.as_of_note]
    lines += [f"- {family.name}: {family.records} ({family.captured_at}), {family.tool}" for family in report.families]
    lines += [f"- {gap.id} {gap.family}: {gap.missing} {gap.fallback}" for gap in report.known_gaps]
    return Answer(report, "\n".join(lines))
