"""The rules of `canon review` as checks of repo-review."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from connector_canon.findings import CannotLook, Finding, Report, Verdict
from connector_canon.rules import RULES, Rule

if TYPE_CHECKING:
    from connector_canon.reading.connector import Connector


class RuleCheck:
    """One rule, asked of the report that all checks share."""

    def __init__(self, rule: Rule[Connector]) -> None:
        self.rule = rule
        self.family = f"canon-{rule.family.name}"
        self.url = ""
        self.requires: set[str] = set()
        self.__doc__ = rule.title

    def check(self, canon_report: Report | None) -> bool | str | None:
        """Return True when present or accepted, the sentence when absent, None when it cannot be told."""
        if canon_report is None:
            return None
        finding: Finding = next(f for f in canon_report.findings if f.code == self.rule.code)
        if finding.answer.verdict is Verdict.PRESENT or finding.accepted is not None:
            return True
        return finding.answer.sentence if finding.answer.verdict is Verdict.ABSENT else None


def canon_report(package: Traversable) -> Report | None:
    """Review the package once for all checks; None when it is not on this machine or is no connector."""
    if not isinstance(package, Path):
        return None
    from connector_canon import acceptance
    from connector_canon.review import review

    try:
        return acceptance.accept(review(package), acceptance.accepted_in(package, None))
    except CannotLook:
        return None


def checks() -> dict[str, RuleCheck]:
    """Return a check for each rule."""
    return {rule.code: RuleCheck(rule) for rule in RULES}


def families() -> dict[str, dict[str, Any]]:
    """Return the elements in the canon's order."""
    listed = dict.fromkeys(rule.family for rule in RULES)
    return {f"canon-{family.name}": {"name": family.title, "order": n} for n, family in enumerate(listed)}
