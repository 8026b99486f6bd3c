"""A fleet as a table, as JSON and as one HTML page."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from connector_canon.elements import State
from connector_canon.fleet.rows import Row
from connector_canon.outputs.words import STATE_STYLES
from connector_canon.rules import RULES

SCHEMA_VERSION = 1
FAMILIES = tuple(dict.fromkeys((rule.family.name, rule.family.title) for rule in RULES))
SIGNS = {
    State.PRESENT: "●",
    State.PARTIAL: "◐",
    State.ABSENT: "○",
    State.CANNOT_TELL: "?",
    State.NOT_APPLICABLE: "–",
}
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#1c1c1c;background:#fff}
table{border-collapse:collapse;width:100%}th,td{padding:.35rem .6rem;border-bottom:1px solid #ddd;text-align:left}
th{position:sticky;top:0;background:#fff}td.state{text-align:center}
.present{color:#176b2c}.partial{color:#8a5a00}.absent{color:#b00020}.cannot-tell{color:#8a5a00}.not-applicable{color:#767676}
.reason{color:#b00020}caption{text-align:left;padding:.5rem 0}
@media(prefers-color-scheme:dark){body,th{background:#161616;color:#eee}td,th{border-color:#333}
.present{color:#63d08a}.partial,.cannot-tell{color:#e8b84a}.absent,.reason{color:#ff8a94}.not-applicable{color:#999}}
"""


def drift_words(row: Row) -> str:
    """Return a row's drift in a few words."""
    if row.drift is not None:
        return ", ".join(row.drift) or "in step"
    return "cannot tell" if row.drift_reason is not None else ""


def write(rows: Sequence[Row], console: Console) -> None:
    """Print a row for each repository, then those that could not be examined with the reason."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("repository", overflow="fold")
    for name, _ in FAMILIES:
        table.add_column(name, justify="center")
    for name in ("tools", "gaps", "template", "drift"):
        table.add_column(name)
    for row in rows:
        if row.reason is None:
            states = [State(row.states[name]) for name, _ in FAMILIES]
            signs = [f"[{STATE_STYLES[s]}]{SIGNS[s]}[/]" for s in states]
            table.add_row(
                escape(row.path), *signs, str(row.tools), str(row.gaps), escape(row.template or ""), drift_words(row)
            )
    console.print(table)
    for row in rows:
        if row.reason is not None:
            console.print(f"[red]not examined[/] {escape(row.path)}: {escape(row.reason)}")
        elif row.drift_reason is not None:
            console.print(f"[yellow]drift[/] {escape(row.path)}: {escape(row.drift_reason)}")
    console.print(summary(rows))


def summary(rows: Sequence[Row]) -> str:
    """Return the closing line."""
    clean = sum(row.is_clean for row in rows)
    broken = sum(row.reason is not None for row in rows)
    return f"{len(rows)} repositories: {clean} whole, {len(rows) - clean - broken} with gaps, {broken} not examined."


def as_table(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the fleet as the JSON form has it."""
    return {
        "schema": SCHEMA_VERSION,
        "elements": [{"name": name, "title": title} for name, title in FAMILIES],
        "repositories": [asdict(row) for row in rows],
    }


def as_json(rows: Sequence[Row]) -> str:
    """Return the fleet as JSON text."""
    return json.dumps(as_table(rows), ensure_ascii=False, indent=2)


def as_html(rows: Sequence[Row]) -> str:
    """Return one page that needs nothing else."""
    heads = "".join(f'<th scope="col"><abbr title="{html.escape(t)}">{html.escape(n)}</abbr></th>' for n, t in FAMILIES)
    body = "\n".join(_html_row(row) for row in rows)
    legend = " · ".join(f'<span class="{_name(s)}">{sign}</span> {s}' for s, sign in SIGNS.items())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Connectors against the canon</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Connectors against the canon</h1>\n<p>{html.escape(summary(rows))}</p>\n<table>\n"
        f"<caption>{legend}</caption>\n"
        f'<thead><tr><th scope="col">repository</th>{heads}<th scope="col">tools</th><th scope="col">gaps</th>'
        f'<th scope="col">template</th><th scope="col">drift</th></tr></thead>\n<tbody>\n{body}\n</tbody>\n'
        "</table>\n</body>\n</html>\n"
    )


def _html_row(row: Row) -> str:
    first = f'<th scope="row">{html.escape(row.path)}</th>'
    if row.reason is not None:
        return f'<tr>{first}<td class="reason" colspan="{len(FAMILIES) + 4}">{html.escape(row.reason)}</td></tr>'
    cells = "".join(
        f'<td class="state {_name(State(row.states[name]))}" title="{html.escape(title)}: {row.states[name]}">'
        f"{SIGNS[State(row.states[name])]}</td>"
        for name, title in FAMILIES
    )
    last = (str(row.tools), str(row.gaps), row.template or "", drift_words(row))
    return f"<tr>{first}{cells}{''.join(f'<td>{html.escape(text)}</td>' for text in last)}</tr>"


def _name(state: State) -> str:
    return str(state).replace(" ", "-")
