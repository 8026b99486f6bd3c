"""Element 9: the tool that knows what it does not know."""

from __future__ import annotations

import ast
import re

from connector_canon.findings import Answer, Coverage, Place, absent, cannot_tell, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import Module
from connector_canon.reading.registrations import Tool
from connector_canon.rules.rule import Family, Rule

FAMILY = Family("9", "The tool that knows what it does not know", "coverage")
NAMED = re.compile(r"(?:^|_)(?:coverage|pokrycie|cobertura|abdeckung|couverture|cobertura_da_base|pokrycie_bazy)$")
NEARLY = re.compile(r"collections|sources|datasets|databases|corpora|scope", re.IGNORECASE)
SPEAKS_OF_SCOPE = re.compile(r"exposed|covered|coverage|not (?:yet )?included", re.IGNORECASE)
ANSWER = ("status", "as_of_note", "families", "known_gaps")
FAMILY_FIELDS = ("name", "tool", "records", "captured_at")
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
    words = {
        w
        for m in connector.running("known_gaps", "captured_at", "as_of_note", "families", "fallback")
        for w in _words(m)
    }
    lacking = [name for name in (*ANSWER, *FAMILY_FIELDS, *GAP_FIELDS) if name not in words]
    tool = coverage_tool(connector)
    assert tool is not None
    if lacking:
        return absent(f"The coverage answer lacks {', '.join(lacking)}.", tool.place)
    return present("The answer holds families with capture dates, known gaps and their fallbacks.", tool.place)


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
