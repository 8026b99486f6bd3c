"""How verdicts and states are shown."""

from __future__ import annotations

from connector_canon.elements import State
from connector_canon.findings import Verdict

MARKS: dict[Verdict, tuple[str, str]] = {
    Verdict.PRESENT: ("✓", "green"),
    Verdict.ABSENT: ("✗", "red"),
    Verdict.CANNOT_TELL: ("?", "yellow"),
    Verdict.NOT_APPLICABLE: ("–", "dim"),
}
STATE_STYLES: dict[State, str] = {
    State.PRESENT: "green",
    State.PARTIAL: "yellow",
    State.ABSENT: "red",
    State.CANNOT_TELL: "yellow",
    State.NOT_APPLICABLE: "dim",
}


def mark(verdict: Verdict) -> str:
    """Return the sign of a verdict."""
    return MARKS[verdict][0]


def style(verdict: Verdict) -> str:
    """Return the colour of a verdict."""
    return MARKS[verdict][1]
