"""What a client stumbles over before the canon even begins, as far as the source shows it."""

from __future__ import annotations

import ast
import re

from connector_canon.findings import Answer, Place, absent, cannot_tell, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import is_main_guard
from connector_canon.reading.project import Expression
from connector_canon.reading.texts import text_of
from connector_canon.rules.instructions import MOST_BYTES
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import guards, share

FAMILY = Family("clients", "Clients can work with it", "clients")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MOST_NAME = 60


def is_fitting(tool: str, server: str) -> bool:
    """Whether every client shows a tool of that name and takes it from a server of that name."""
    return NAME.fullmatch(tool) is not None and len(server.replace(" ", "-")) + len(tool) < MOST_NAME


def names_fit(connector: Connector) -> Answer:
    """Look for names that a client hides or refuses."""
    if not connector.tool_names:
        return cannot_tell("No tool's name is known from the source.", connector.server.place)
    named = [(t.name, t.place) for t in connector.tools if t.name is not None]
    server = _server_name(connector)
    return share(
        "tools",
        len(named),
        [(name, where) for name, where in named if not is_fitting(name, server)],
        "Every name fits every client.",
        "{lacking} of {total} names are hidden by Cursor (60 characters with the server's name) or refused "
        "([a-zA-Z0-9_-], at most 64): {names}.",
        (named[0][1],),
    )


def _server_name(connector: Connector) -> str:
    server = connector.server
    given = server.keyword("name")
    if given is None and server.call.args:
        given = Expression(server.call.args[0], server.module, server.scope)
    text = text_of(connector.project, given) if given is not None else None
    return text.value if text is not None else ""


def descriptions_fit(connector: Connector) -> Answer:
    """Look for descriptions that are cut."""
    described = [(t.name or "a tool", t.place, t.description) for t in connector.tools if t.description is not None]
    if not described:
        return cannot_tell("No description is written down.", connector.server.place)
    return share(
        "tools",
        len(described),
        [(name, where) for name, where, text in described if len(text.value.encode()) > MOST_BYTES],
        "Every description fits 2,048 bytes.",
        "{lacking} of {total} descriptions are cut at 2,048 bytes by Claude Code: {names}.",
        (described[0][1],),
    )


def nothing_printed(connector: Connector) -> Answer:
    """Look for what an import prints: over stdio it comes before the protocol."""
    printed = [
        Place(site.module.shown, site.call.lineno)
        for module in connector.running("print")
        for site in module.calls
        if site.scope is module.scope
        and isinstance(site.call.func, ast.Name)
        and site.call.func.id == "print"
        and not any(keyword.arg == "file" for keyword in site.call.keywords)
        and not any(is_main_guard(guard) for guard in guards(module, site.call))
    ]
    if printed:
        return absent("An import prints here, and a client that reads stdout gives up; write it to stderr.", *printed)
    return present("No import prints.", connector.server.place)


def own_version(connector: Connector) -> Answer:
    """Look whether the server says its own version; without one a framework says its own."""
    server = connector.server
    if server.keyword("version") is not None or (server.is_low_level and len(server.call.args) > 1):
        return present("The server says its own version.", server.place)
    if server.spreads_keywords:
        return cannot_tell("The server's options are made at run time; canon probe reads its version.", server.place)
    return absent("Give the server version=…; without one it reports the framework's.", server.place)


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN1402", FAMILY, "Tool names fit every client",
        "A client hides a tool whose name is too long, and another refuses the whole request for one dot.",
        "Use [a-zA-Z0-9_-], under 60 characters together with the server's name.",
        names_fit, essential=True,
    ),
    Rule(
        "CN1403", FAMILY, "Descriptions fit 2,048 bytes",
        "What is cut is the end, where the codes stand.",
        "Shorten the description; put examples into the reference.",
        descriptions_fit,
    ),
    Rule(
        "CN1404", FAMILY, "stdout carries the protocol alone",
        "One banner on stdout and the client says no more than that the server failed to start.",
        "Log to stderr, from the first line on.",
        nothing_printed, essential=True,
    ),
    Rule(
        "CN1407", FAMILY, "The server says its own version",
        "Without one it reports the framework's, and nobody can tell which release answered.",
        "Pass version= to the server's constructor, read from the installed package.",
        own_version,
    ),
)  # fmt: skip
