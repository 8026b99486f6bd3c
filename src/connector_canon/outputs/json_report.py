"""A report as versioned JSON; its schema is shipped beside it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from connector_canon import __version__
from connector_canon.elements import State
from connector_canon.findings import Answer, Finding, Report
from connector_canon.rules.rule import AnyRule

SCHEMA_VERSION = 1


def as_table(report: Report, rules: tuple[AnyRule, ...], states: dict[str, State]) -> dict[str, Any]:
    """Return the report as the schema describes it."""
    by_code = {rule.code: rule for rule in rules}
    families = dict.fromkeys(rule.family for rule in rules)
    return {
        "schema": SCHEMA_VERSION,
        "canon": __version__,
        "look": report.look,
        "target": report.target,
        "server": report.server,
        "exit_code": report.exit_code,
        "elements": [
            {"name": family.name, "title": family.title, "state": str(states[family.name])}
            for family in families
            if family.name in states
        ],
        "findings": [_finding(finding, by_code[finding.code]) for finding in report.findings],
        "tools": [
            {"name": t.name, "path": t.place.path, "line": t.place.line, "conditional": t.conditional}
            for t in report.tools
        ],
        "notes": list(report.notes),
        "stale": list(report.stale),
    }


def _finding(finding: Finding, rule: AnyRule) -> dict[str, Any]:
    answer: Answer = finding.answer
    coverage = answer.coverage
    return {
        "rule": rule.code,
        "element": rule.family.name,
        "title": rule.title,
        "essential": rule.essential,
        "verdict": str(answer.verdict),
        "sentence": answer.sentence,
        "places": [{"path": p.path, "line": p.line} for p in answer.places],
        "coverage": None
        if coverage is None
        else {"unit": coverage.unit, "total": coverage.total, "usable": coverage.usable},
        "accepted": finding.accepted,
        "page": rule.page,
    }


def render(report: Report, rules: tuple[AnyRule, ...], states: dict[str, State]) -> str:
    """Return the report as JSON text."""
    return json.dumps(as_table(report, rules, states), ensure_ascii=False, indent=2)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the report."""
    text = files("connector_canon").joinpath("schemas", "report.schema.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table
