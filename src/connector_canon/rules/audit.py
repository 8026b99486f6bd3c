"""Every call leaves one line."""

from __future__ import annotations

import ast
import re

from connector_canon.findings import Answer, Place, absent, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import Function, Module
from connector_canon.reading.project import last_name
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import place, share

FAMILY = Family("audit", "Every call leaves a line", "audit")
AUDITS = re.compile(r"audit", re.IGNORECASE)
INTERCEPTS = frozenset({"on_call_tool", "on_message", "on_request", "call_tool"})
APPENDS = re.compile(r"O_APPEND|['\"]ab?\+?['\"]|RotatingFileHandler|FileHandler")
COUNTS = re.compile(r"len\(|==|count")
DIGESTS = re.compile(r"sha256|sha512|blake2[bs]|hash_\w+|\w*digest\w*")


def _writers(connector: Connector) -> list[Module]:
    return [m for m in connector.running("audit", "Audit") if APPENDS.search(m.text) and AUDITS.search(m.text)]


def every_call(connector: Connector) -> Answer:
    """Look for an audit line in the one place all calls pass, else in each tool."""
    if not _writers(connector):
        return absent(
            "Append one line to a local file for every call, refused and failed ones too.", connector.server.place
        )
    for module in connector.running("audit", "Audit"):
        for defined in module.definitions:
            if isinstance(defined.node, Function) and defined.node.name in INTERCEPTS and _mentions_audit(defined.node):
                return present("The place that all calls pass writes the line.", place(module, defined.node))
        if any(d.node.name in INTERCEPTS for d in module.definitions):
            node = next(d.node for d in module.definitions if d.node.name in INTERCEPTS)
            return present("The place that all calls pass writes the line.", place(module, node))
    lacking = [
        (t.name or "a tool", t.place)
        for t in connector.tools
        if t.function is None or not _mentions_audit(t.function.node)
    ]
    return share(
        "tools",
        len(connector.tools),
        lacking,
        "Every tool writes an audit line.",
        "{lacking} of {total} tools write no audit line: {names}. Write it where all calls pass.",
        (Place(_writers(connector)[0].shown),),
    )


def _mentions_audit(node: ast.AST) -> bool:
    return any(
        AUDITS.search(n.id if isinstance(n, ast.Name) else n.attr if isinstance(n, ast.Attribute) else "")
        for n in ast.walk(node)
    )


def no_arguments(connector: Connector) -> Answer:
    """Look for a digest in the code that writes audit lines."""
    writers = _writers(connector)
    if not writers:
        return not_applicable("No audit line is written.")
    for module in connector.running("audit", "Audit"):
        for site in module.calls:
            if DIGESTS.fullmatch(last_name(site.call.func)):
                return present("Arguments are written as a digest.", place(module, site.call))
    return absent("Write a digest of the arguments, never the arguments.", Place(writers[0].shown))


def counted_on_disk(connector: Connector) -> Answer:
    """Look for a test that calls tools and counts lines on disk."""
    if not _writers(connector):
        return not_applicable("No audit line is written.")
    for module in connector.project.tests("audit"):
        for defined in module.definitions:
            node = defined.node
            if isinstance(node, Function) and node.name.startswith("test"):
                asserted = [ast.unparse(n.test) for n in ast.walk(node) if isinstance(n, ast.Assert)]
                if AUDITS.search(ast.unparse(node)) and any(COUNTS.search(text) for text in asserted):
                    return present("A test counts the lines.", place(module, node))
    return absent(
        "Redirect the folder in a test, call every tool and count the lines on disk.",
        Place(_writers(connector)[0].shown),
    )


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN1001", FAMILY, "Every call appends an audit line",
        "A tool that was forgotten makes the promise of an audit untrue for the whole connector.",
        "Write the line in the middleware that all calls pass.",
        every_call, essential=True,
    ),
    Rule(
        "CN1002", FAMILY, "Audit lines hold a digest of the arguments",
        "What people ask a legal database is confidential.",
        "Write sha256 of the canonical arguments.",
        no_arguments,
    ),
    Rule(
        "CN1003", FAMILY, "A test counts audit lines on disk",
        "A call to the logger in the source is not a line in the file.",
        "Point the folder at tmp_path, call each registered tool, count.",
        counted_on_disk, essential=True,
    ),
)  # fmt: skip
