"""The state of each element: what its essential rules say together."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from connector_canon.findings import Finding, Report, Verdict
from connector_canon.rules.rule import AnyRule


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


def element_states(report: Report, rules: Sequence[AnyRule]) -> dict[str, State]:
    """Return the state of each element that the rules belong to, by its family's name."""
    by_code = {finding.code: finding for finding in report.findings}
    essential: dict[str, list[Finding]] = {}
    for rule in rules:
        if rule.code in by_code:
            known = essential.setdefault(rule.family.name, [])
            if rule.essential:
                known.append(by_code[rule.code])
    return {name: state_of(findings) for name, findings in essential.items()}
