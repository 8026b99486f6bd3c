"""Element 9: the tool that knows what it does not know."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from connector_canon.findings import Answer, Coverage, Place, absent, cannot_tell, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import Module
from connector_canon.reading.project import Expression
from connector_canon.reading.registrations import Tool
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import place

FAMILY = Family("9", "The tool that knows what it does not know", "coverage")
NAMED = re.compile(r"(?:^|_)(?:coverage|pokrycie|cobertura|abdeckung|couverture|cobertura_da_base|pokrycie_bazy)$")
NEARLY = re.compile(r"collections|sources|datasets|databases|corpora|scope", re.IGNORECASE)
SPEAKS_OF_SCOPE = re.compile(r"exposed|covered|coverage|not (?:yet )?included", re.IGNORECASE)
ANSWER = ("status", "as_of_note", "families", "known_gaps")
FAMILY_FIELDS = ("name", "tool", "records", "captured_at")
FILLED_LATER = re.compile(r"known_gaps['\"]\]\s*(?:\.(?:append|extend)|\+?=)")
CONTRACT = ("known_gaps", "captured_at", "as_of_note", "families", "fallback")
GAP_FIELDS = ("id", "family", "missing", "fallback")


def coverage_tool(connector: Connector) -> Tool | None:
    """Return the tool that declares coverage."""
    return next((t for t in connector.tools if t.name is not None and NAMED.search(t.name)), None)


def has_tool(connector: Connector) -> Answer:
    """Look for a coverage tool without arguments."""
    tool = coverage_tool(connector)
    if tool is not None:
        if tool.arguments not in (0, None):
            return absent(
                f"{tool.name} takes {tool.arguments} arguments; the whole answer must come without any.", tool.place
            )
        return present(f"{tool.name} declares what the connector covers.", tool.place)
    if connector.undecided:
        place, reason = connector.undecided[0]
        return cannot_tell(f"No known tool declares coverage; {reason}.", place)
    for tool in connector.tools:
        text = tool.description.value if tool.description is not None else ""
        if tool.arguments == 0 and NEARLY.search(tool.name or "") and SPEAKS_OF_SCOPE.search(text):
            return absent(
                f"{tool.name} lists what is offered; add records, capture dates and the known gaps, and call it coverage.",
                tool.place,
                coverage=Coverage("contracts", 3, 1),
            )
    return absent(
        "Add a tool without arguments that says what is covered, since when, and what is missing.",
        connector.server.place,
    )


def answers_in_full(connector: Connector) -> Answer:
    """Look for every field of the contract in the code that runs."""
    if coverage_tool(connector) is None:
        return absent(
            "There is no coverage tool whose answer could hold families and known gaps.", connector.server.place
        )
    words = {w for m in connector.running(*CONTRACT) for w in _words(m)}
    tool = coverage_tool(connector)
    assert tool is not None
    hollow = [said for m in connector.running(*CONTRACT) for said in _hollow(connector, m)]
    if hollow:
        return absent(hollow[0][0], *(where for _, where in hollow))
    lacking = [name for name in (*ANSWER, *FAMILY_FIELDS, *GAP_FIELDS) if name not in words]
    if lacking:
        return absent(f"The coverage answer lacks {', '.join(lacking)}.", tool.place)
    return present("The answer holds families with capture dates, known gaps and their fallbacks.", tool.place)


def _hollow(connector: Connector, module: Module) -> Iterator[tuple[str, Place]]:
    """Yield what the contract asks for and the code leaves open: an empty list, a date that may be missing, a field left out."""
    for site in module.calls:
        handed = {k.arg: k.value for k in site.call.keywords}
        gaps = handed.get("known_gaps")
        if gaps is not None and not _says_failed(handed.get("status")):
            elements = connector.project.elements(Expression(gaps, module, site.scope))
            if elements is not None and not elements:
                yield "known_gaps is empty: nobody looked.", place(module, gaps)
        records, captured = handed.get("records"), handed.get("captured_at")
        if isinstance(records, ast.Constant) and captured is not None and not _is_written_out(captured):
            yield "The date is asked for and the count is written here; ask for both.", place(module, records)
    for written in module.nodes(ast.Dict):
        named = {k.value: v for k, v in zip(written.keys, written.values, strict=True) if isinstance(k, ast.Constant)}
        gaps = named.get("known_gaps")
        is_empty = isinstance(gaps, ast.List | ast.Tuple) and not gaps.elts
        if is_empty and not _says_failed(named.get("status")) and not FILLED_LATER.search(module.text):
            yield "known_gaps is empty: nobody looked.", place(module, written)
    for declared in module.nodes(ast.AnnAssign):
        match declared:
            case ast.AnnAssign(target=ast.Name(id="captured_at"), annotation=kind):
                if re.search(r"\bNone\b|\bOptional\b", ast.unparse(kind)):
                    yield "captured_at may be left out; each family says when it was captured.", place(module, declared)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(keywords=options)) if name in ANSWER:
                if any(
                    o.arg == "exclude" and isinstance(o.value, ast.Constant) and o.value.value is True for o in options
                ):
                    yield f"{name} is kept out of the answer.", place(module, declared)


def _is_written_out(date: ast.expr) -> bool:
    """Whether a date stands in the code, as text or as date(2026, 11, 30)."""
    return all(isinstance(n, ast.Constant) for n in ([date] if not isinstance(date, ast.Call) else date.args))


def _says_failed(status: ast.expr | None) -> bool:
    return status is not None and "fail" in ast.unparse(status).lower()


def _words(module: Module) -> set[str]:
    """Return the keys, fields and keyword arguments that a module builds answers from."""
    found: set[str] = set()
    for node in module.nodes(ast.Constant, ast.AnnAssign, ast.keyword):
        match node:
            case ast.Constant(value=str() as value) if len(value) < 40:
                found.add(value)
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.keyword(arg=str() as name):
                found.add(name)
    return found


def gaps_tested(connector: Connector) -> Answer:
    """Look for a test that turns red when the list of gaps is empty."""
    if coverage_tool(connector) is None:
        return not_applicable("There is no coverage tool to test.")
    for module in connector.project.tests("known_gaps"):
        for node in module.nodes(ast.Assert, ast.For):
            if isinstance(node, ast.Assert) and "known_gaps" in ast.unparse(node.test):
                return present("A test turns red when nobody looked for gaps.", Place(module.shown, node.lineno))
            if isinstance(node, ast.For) and "known_gaps" in ast.unparse(node.iter):
                return present("A test examines each known gap.", Place(module.shown, node.lineno))
    return absent("Add a test that fails on an empty list of gaps: empty means nobody looked.", connector.server.place)


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN901", FAMILY, "A tool without arguments declares coverage",
        "Without it the connector answers a question about what it does not hold with confidence.",
        "Add a read-only tool `coverage` (Polish: `pokrycie_bazy`).",
        has_tool, essential=True,
    ),
    Rule(
        "CN902", FAMILY, "Its answer holds families, dates and known gaps",
        "A count without a date and without what is missing cannot be relied on.",
        "Answer status, as_of_note, families (name, tool, records, captured_at), known_gaps (id, family, missing, fallback).",
        answers_in_full, essential=True,
    ),
    Rule(
        "CN903", FAMILY, "A test fails on an empty list of gaps",
        "No corpus is complete; an empty list says that nobody looked.",
        "Assert that families and known_gaps are filled and that each family has captured_at.",
        gaps_tested, essential=True,
    ),
)  # fmt: skip
