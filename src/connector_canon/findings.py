"""What a look says: a verdict with its places and one sentence to act on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum


class Verdict(StrEnum):
    """The four answers a rule can give."""

    PRESENT = "present"
    ABSENT = "absent"
    CANNOT_TELL = "cannot tell"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line of a file, relative to the folder that was looked at."""

    path: str
    line: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of what a rule asks for are there."""

    unit: str
    total: int
    usable: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What one rule says of one connector."""

    verdict: Verdict
    sentence: str
    places: tuple[Place, ...] = ()
    coverage: Coverage | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer with the rule it belongs to and, when the gap is accepted, the reason."""

    code: str
    answer: Answer
    accepted: str | None = None

    @property
    def is_gap(self) -> bool:
        """Whether this keeps the look from ending with 0."""
        return self.answer.verdict is Verdict.ABSENT and self.accepted is None


@dataclass(frozen=True, slots=True)
class SeenTool:
    """A tool as the look found it."""

    name: str
    place: Place
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one look found out about one connector."""

    look: str
    target: str
    server: str
    findings: tuple[Finding, ...]
    tools: tuple[SeenTool, ...] = ()
    notes: tuple[str, ...] = ()
    stale: tuple[str, ...] = field(default=())
    examined: bool = True

    @property
    def gaps(self) -> tuple[Finding, ...]:
        """The findings that are absent and not accepted."""
        return tuple(finding for finding in self.findings if finding.is_gap)

    @property
    def exit_code(self) -> int:
        """0 all present or accepted, 1 gaps or stale entries, 2 when the look saw too little to judge by."""
        if not self.examined:
            return 2
        return 1 if self.gaps or self.stale else 0

    def with_findings(self, findings: tuple[Finding, ...], stale: tuple[str, ...]) -> Report:
        """Return the same report after gaps were accepted."""
        return replace(self, findings=findings, stale=stale)


class CannotLook(Exception):
    """Nothing could be examined; the message says why and what to do. Ends with exit code 2."""


def present(sentence: str, *places: Place, coverage: Coverage | None = None) -> Answer:
    """Answer that the thing is there."""
    return Answer(Verdict.PRESENT, sentence, places, coverage)


def absent(sentence: str, *places: Place, coverage: Coverage | None = None) -> Answer:
    """Answer that the thing is missing, with what to do."""
    return Answer(Verdict.ABSENT, sentence, places, coverage)


def cannot_tell(sentence: str, *places: Place) -> Answer:
    """Answer that this kind of look cannot decide."""
    return Answer(Verdict.CANNOT_TELL, sentence, places)


def not_applicable(sentence: str, *places: Place) -> Answer:
    """Answer that the rule does not concern this connector."""
    return Answer(Verdict.NOT_APPLICABLE, sentence, places)
