"""A report for a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from connector_canon.elements import State
from connector_canon.findings import Report
from connector_canon.outputs.words import STATE_STYLES, mark, style
from connector_canon.rules.rule import AnyRule

MOST_PLACES = 4


def write(report: Report, rules: tuple[AnyRule, ...], states: dict[str, State], console: Console) -> None:
    """Print the elements, each finding with its places, the notes and the closing line."""
    by_code = {finding.code: finding for finding in report.findings}
    console.print(
        f"[bold]canon {report.look}[/] {escape(report.target)}  ·  server at {escape(report.server)}  ·  {len(report.tools)} tools"
    )
    for family in dict.fromkeys(rule.family for rule in rules if rule.code in by_code):
        state = states[family.name]
        table = Table.grid(padding=(0, 1))
        table.add_column(width=6, no_wrap=True)
        table.add_column(width=1)
        table.add_column(ratio=1)
        for rule in rules:
            finding = by_code.get(rule.code)
            if rule.family is not family or finding is None:
                continue
            answer = finding.answer
            places = "  ".join(str(place) for place in answer.places[:MOST_PLACES])
            more = f"  and {len(answer.places) - MOST_PLACES} more" if len(answer.places) > MOST_PLACES else ""
            accepted = f" [dim](accepted: {escape(finding.accepted)})[/]" if finding.accepted is not None else ""
            where = f"\n[dim]{escape(places)}{more}[/]" if places else ""
            table.add_row(
                f"[dim]{rule.code}[/]",
                f"[{style(answer.verdict)}]{mark(answer.verdict)}[/]",
                f"{escape(answer.sentence)}{accepted}{where}",
            )
        console.print()
        console.print(f"[bold]{family.name} · {family.title}[/]  [{STATE_STYLES[state]}]{state}[/]")
        console.print(table)
    if report.notes:
        console.print()
    for note in report.notes:
        console.print(f"[yellow]note[/] {escape(note)}")
    for code in report.stale:
        console.print(f"[red]stale[/] {code} is accepted but is no gap any more; take the entry out.")
    console.print()
    console.print(closing(report))


def closing(report: Report) -> str:
    """Return the last line: how many gaps, how many accepted."""
    accepted = sum(finding.accepted is not None for finding in report.findings)
    gaps = len(report.gaps)
    return f"{gaps} gap{'' if gaps == 1 else 's'}, {accepted} accepted, {len(report.stale)} stale."
