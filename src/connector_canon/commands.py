"""The command line."""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from connector_canon import __version__
from connector_canon.elements import element_states
from connector_canon.findings import CannotLook, Report
from connector_canon.rules.rule import AnyRule

FORMATS = ("text", "json", "sarif", "markdown")


class Sentences(click.Group):
    """Ends with one sentence and exit code 2 when nothing could be examined."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except CannotLook as reason:
            click.echo(f"canon: {reason}", err=True)
            sys.exit(2)
        except (RecursionError, MemoryError) as fault:
            click.echo(f"canon: the code is nested deeper than can be followed ({type(fault).__name__}).", err=True)
            sys.exit(2)


@click.group(cls=Sentences, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="canon")
def main() -> None:
    """Check MCP connectors against the canon."""


def show(report: Report, rules: Sequence[AnyRule], form: str, output: Path | None) -> None:
    """Print a report in one of the formats, or write it to a file."""
    ordered = tuple(rules)
    states = element_states(report, ordered)
    if form == "text":
        from connector_canon.outputs import text

        if output is None:
            text.write(report, ordered, states, Console(soft_wrap=False))
        else:
            with output.open("w", encoding="utf-8") as stream:
                text.write(report, ordered, states, Console(file=stream, width=120))
        return
    from connector_canon.outputs import json_report, markdown, sarif

    rendered = {
        "json": lambda: json_report.render(report, ordered, states),
        "sarif": lambda: sarif.render(report, ordered),
        "markdown": lambda: markdown.render(report, ordered, states),
    }[form]()
    if output is None:
        click.echo(rendered)
    else:
        output.write_text(rendered + "\n", encoding="utf-8")


@main.command()
@click.argument("path", type=click.Path(path_type=Path), default=Path())
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How it is shown."
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@click.option("--baseline", type=click.Path(path_type=Path), help="Accepted gaps; else [tool.canon] in pyproject.toml.")
@click.option("--time-limit", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="Seconds.")
@click.option(
    "--live",
    is_flag=False,
    flag_value="the project's own command",
    metavar="[COMMAND]",
    help="Start the server without network too, and compare its tools with the source's.",
)
def review(
    path: Path, form: str, output: Path | None, baseline: Path | None, time_limit: float, live: str | None
) -> None:
    """Examine the source at PATH without importing or running it.

    Ends with 0 when everything is present or accepted, 1 on gaps, 2 when nothing could be examined.
    """
    from connector_canon import acceptance
    from connector_canon import review as look
    from connector_canon.rules import RULES

    # One short-lived process builds trees that all stay alive: collecting garbage only costs time.
    gc.disable()
    entries = acceptance.accepted_in(path, baseline)
    report = look.review(path, time_limit)
    rules: list[AnyRule] = [*RULES]
    if live is not None:
        from connector_canon import live as beside

        report = beside.with_live(report, path, live, time_limit)
        rules.append(beside.RULE)
    report = acceptance.accept(report, entries)
    show(report, rules, form, output)
    sys.exit(report.exit_code)


@main.command(context_settings={"ignore_unknown_options": False})
@click.argument("target", nargs=-1, required=True, metavar="URL | -- COMMAND…", type=click.UNPROCESSED)
@click.option("--header", "headers", multiple=True, metavar="'K: V'", help="A header to send; give the key this way.")
@click.option("--call", "call", multiple=True, metavar="TOOL", help="Call this tool too, without arguments.")
@click.option("--call-read-only", is_flag=True, help="Call every read-only tool that needs no argument.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How it is shown."
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@click.option("--time-limit", type=click.FloatRange(min=0.1), default=20.0, show_default=True, help="Seconds a step.")
def probe(
    target: tuple[str, ...],
    headers: tuple[str, ...],
    call: tuple[str, ...],
    call_read_only: bool,
    form: str,
    output: Path | None,
    time_limit: float,
) -> None:
    """Examine a running server from outside: at a URL, or started as COMMAND over stdio.

    Lists what it offers in both protocol eras and calls nothing but a read-only coverage tool, unless asked.
    Ends with 0 when everything is present, 1 on gaps, 2 when nothing could be examined.
    """
    from connector_canon.probe import PROBE_RULES
    from connector_canon.probe import probe as look

    url = target[0] if len(target) == 1 and target[0].startswith(("http://", "https://")) else None
    pairs = [header.partition(":") for header in headers]
    if any(not separator for _, separator, _ in pairs):
        raise CannotLook("A header is given as 'Name: value'.")
    given = {name.strip(): value.strip() for name, _, value in pairs}
    report = look(url, given, () if url is not None else target, time_limit, call, call_read_only)
    show(report, PROBE_RULES, form, output)
    sys.exit(report.exit_code)


@main.command()
@click.argument("path", type=click.Path(path_type=Path), default=Path())
@click.option("--allow", multiple=True, type=click.Choice(["edited", "missing", "behind"]), help="Not a failure here.")
@click.option(
    "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True, help="How it is shown."
)
@click.option("--time-limit", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="Seconds.")
def drift(path: Path, allow: tuple[str, ...], form: str, time_limit: float) -> None:
    """Compare the template's files in the connector at PATH with the recorded rendering.

    Ends with 0 in step, 1 edited here, 3 missing here, 4 behind a newer release, 2 could not look.
    """
    from connector_canon.drift import drift as look
    from connector_canon.outputs import drift as output

    found = look(path, time_limit)
    code = found.exit_code(frozenset(allow))
    click.echo(output.as_json(found, code) if form == "json" else output.as_text(found))
    sys.exit(code)


@main.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--file", "file", type=click.Path(path_type=Path), help="A list of folders, one a line.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "html")),
    default="text",
    show_default=True,
    help="How it is shown.",
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@click.option("--processes", type=click.IntRange(min=1), help="How many at once; as many as there are cores.")
@click.option("--drift/--no-drift", "with_drift", default=True, show_default=True, help="Render templates to compare.")
@click.option("--time-limit", type=click.FloatRange(min=0.1), default=60.0, show_default=True, help="Seconds each.")
def fleet(
    paths: tuple[Path, ...],
    file: Path | None,
    form: str,
    output: Path | None,
    processes: int | None,
    with_drift: bool,
    time_limit: float,
) -> None:
    """Review many repositories: a table of connectors against elements, template version and drift.

    Ends with 0 when all are whole, 1 when some have gaps, drift or could not be examined, 2 when none could.
    """
    from connector_canon.fleet import examine_all, paths_in
    from connector_canon.outputs import fleet as outputs

    listed = [*paths, *(paths_in(file) if file is not None else ())]
    if not listed:
        raise CannotLook("No folder was named; give folders, or --file with one a line.")
    rows = examine_all(listed, processes, time_limit, with_drift)
    if form == "text" and output is None:
        outputs.write(rows, Console())
    else:
        if form == "text":
            recorded = Console(record=True, width=160, file=io.StringIO())
            outputs.write(rows, recorded)
            rendered = recorded.export_text()
        else:
            rendered = outputs.as_json(rows) if form == "json" else outputs.as_html(rows)
        if output is None:
            click.echo(rendered)
        else:
            output.write_text(rendered + "\n", encoding="utf-8")
    if all(row.reason is not None for row in rows):
        sys.exit(2)
    sys.exit(0 if all(row.is_clean for row in rows) else 1)


@main.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Say why a rule exists and how to mend a gap; without CODE, list the rules."""
    from connector_canon.catalogue import EVERY_RULE

    for rule in EVERY_RULE:
        if code is None:
            click.echo(f"{rule.code:7} {rule.family.name:8} {rule.title}")
        elif rule.code == code.upper():
            click.echo(f"{rule.code} · {rule.title}\n\n{rule.why}\n\nMend: {rule.mend}\n\ndocs/{rule.page}")
            return
    if code is not None:
        raise CannotLook(f"There is no rule {code}; `canon explain` lists them.")
