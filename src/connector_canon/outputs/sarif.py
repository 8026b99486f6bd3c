"""A report as SARIF 2.1.0, with every rule declared."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from connector_canon import __version__
from connector_canon.findings import Finding, Place, Report, Verdict
from connector_canon.rules.rule import AnyRule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
SHOWN = {Verdict.ABSENT: "fail", Verdict.CANNOT_TELL: "open"}


def as_table(report: Report, rules: tuple[AnyRule, ...]) -> dict[str, Any]:
    """Return one run: gaps fail, what cannot be told stays open, accepted gaps are suppressed with their reason."""
    places = {rule.code: number for number, rule in enumerate(rules)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "canon", "version": __version__, "rules": [_rule(rule) for rule in rules]}},
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(finding, places[finding.code])
                    for finding in report.findings
                    if finding.answer.verdict in SHOWN
                ],
                "invocations": [{"executionSuccessful": True, "exitCode": report.exit_code}],
            }
        ],
    }


def _rule(rule: AnyRule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.title.replace("'", "").split() if word.isalnum()),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {
            "text": f"{rule.why} {rule.mend}",
            "markdown": f"{rule.why}\n\n**Mend:** {rule.mend}\n\nMore: `docs/{rule.page}`",
        },
        "defaultConfiguration": {"level": "error" if rule.essential else "warning"},
        "properties": {"tags": [rule.family.name, rule.family.title]},
    }


def _result(finding: Finding, number: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": number,
        "kind": SHOWN[finding.answer.verdict],
        "message": {"text": finding.answer.sentence},
        "locations": [_location(place) for place in finding.answer.places[:1]],
        "relatedLocations": [{**_location(place), "id": n} for n, place in enumerate(finding.answer.places[1:], 1)],
    }
    if finding.answer.verdict is Verdict.CANNOT_TELL:
        result["level"] = "none"
    if finding.accepted is not None:
        result["suppressions"] = [{"kind": "external", "justification": finding.accepted}]
    return result


def _location(place: Place) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(place.path), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": place.line},
        }
    }


def render(report: Report, rules: tuple[AnyRule, ...]) -> str:
    """Return the report as SARIF text."""
    return json.dumps(as_table(report, rules), ensure_ascii=False, indent=2)
