"""The state of each element: what its essential rules say together."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from connector_canon.findings import Finding, Verdict


class State(StrEnum):
    """What an element as a whole is."""

    PRESENT = "present"
    PARTIAL = "partial"
    ABSENT = "absent"
    CANNOT_TELL = "cannot tell"
    NOT_APPLICABLE = "not applicable"


def state_of(findings: Sequence[Finding]) -> State:
    """Return the state that the findings of an element's essential rules amount to."""
    concerned = [f for f in findings if f.answer.verdict is not Verdict.NOT_APPLICABLE]
    if not concerned:
        return State.NOT_APPLICABLE
    verdicts = [f.answer.verdict for f in concerned]
    if all(v is Verdict.PRESENT for v in verdicts):
        return State.PRESENT
    started = any(f.answer.coverage is not None and f.answer.coverage.usable for f in concerned)
    if Verdict.PRESENT in verdicts or started:
        return State.PARTIAL
    return State.CANNOT_TELL if Verdict.CANNOT_TELL in verdicts else State.ABSENT
