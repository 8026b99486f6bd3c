"""A report for a pull request."""

from __future__ import annotations

from connector_canon.elements import State
from connector_canon.findings import Report, Verdict
from connector_canon.outputs.text import closing
from connector_canon.outputs.words import mark
from connector_canon.rules.rule import AnyRule


def render(report: Report, rules: tuple[AnyRule, ...], states: dict[str, State]) -> str:
    """Return the elements as a table and the gaps as a list."""
    by_code = {finding.code: finding for finding in report.findings}
    titles = {rule.family.name: rule.family.title for rule in rules}
    lines = [f"### canon {report.look}: {_cell(report.target)}", "", "| element | | state |", "|---|---|---|"]
    lines += [f"| {name} | {titles[name]} | {state} |" for name, state in states.items()]
    shown = [
        r
        for r in rules
        if r.code in by_code and by_code[r.code].answer.verdict in (Verdict.ABSENT, Verdict.CANNOT_TELL)
    ]
    if shown:
        lines += ["", "| rule | | what to do | where |", "|---|---|---|---|"]
    for rule in shown:
        finding = by_code[rule.code]
        where = ", ".join(f"`{place}`" for place in finding.answer.places[:3])
        accepted = f" *(accepted: {_cell(finding.accepted)})*" if finding.accepted is not None else ""
        lines.append(
            f"| {rule.code} | {mark(finding.answer.verdict)} | {_cell(finding.answer.sentence)}{accepted} | {where} |"
        )
    lines += [""] + [f"- {_cell(note)}" for note in report.notes]
    lines += [f"- **{code}** is accepted but is no gap any more; take the entry out." for code in report.stale]
    return "\n".join([*lines, "", closing(report)])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
