"""The README keeps step."""

from __future__ import annotations

import json
import re

from connector_canon.findings import Answer, Place, Verdict, absent, cannot_tell, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.suites import README, TOOLS
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import mentions, share

FAMILY = Family("README", "The README keeps step", "readme")
COUNTED = re.compile(r"(?<![\w.,-])(\d{1,3}) (?:MCP |read-only )?(?:tools?|narzędzi\w*)(?!\w)", re.IGNORECASE)
NAMES = ("README.md", "README.rst", "README.txt", "README")


def lists_tools(connector: Connector) -> Answer:
    """Look whether the README names every tool, and counts them right where it counts them."""
    found = connector.file(*NAMES)
    answer = _lists(connector, found, "README.md")
    if found is None or answer.verdict is not Verdict.PRESENT:
        return answer
    counted = [int(number) for number in COUNTED.findall(found[1])]
    most = len(connector.tools)
    right = range(most - sum(t.conditional for t in connector.tools), most + 1)
    if counted and sum(counted) not in right and not any(number in right for number in counted):
        return absent(f"{found[0].path} says {counted[0]} tools, and {most} are registered.", found[0])
    return answer


def reference_lists_tools(connector: Connector) -> Answer:
    """Look whether docs/mcp-server.md names every tool."""
    return _lists(connector, connector.file("docs/mcp-server.md"), "docs/mcp-server.md")


def _lists(connector: Connector, found: tuple[Place, str] | None, name: str) -> Answer:
    if found is None:
        return absent(f"Write {name} with a table of tools and resources.", Place(name))
    where, text = found
    lacking = [(t.name, where) for t in connector.tools if t.name is not None and not mentions(text, t.name)]
    if not connector.tool_names:
        return cannot_tell("No tool is known from the source.", where)
    if not lacking and connector.undecided:
        return cannot_tell(f"All known tools are listed; {connector.undecided[0][1]}.", where)
    return share(
        "tools",
        len(connector.tool_names),
        lacking,
        f"{where.path} names every tool.",
        where.path + " does not name {lacking} of {total} tools: {names}.",
        (where,),
    )


def checked(connector: Connector) -> Answer:
    """Look for a test that compares the README with the server."""
    if connector.file(*NAMES) is None:
        return not_applicable("There is no README.")
    tests = [
        t
        for t in connector.tests
        if {README, TOOLS} <= t.facts.touches or (README in t.facts.touches and "describe" in t.module.text)
    ]
    if tests:
        return present("A test compares the README with the server.", *(t.place for t in tests[:3]))
    checked_in_ci = [
        s.place
        for w in connector.workflows
        for s in w.steps()
        if re.search(r"--check", s.run) and re.search(r"doc", s.run)
    ]
    if checked_in_ci:
        return present("A workflow compares the documents with the server.", *checked_in_ci)
    return absent(
        "Compare the README's table with list_tools() in a test; a list that drifts is a documented lie.",
        Place("README.md"),
    )


def found_by_the_registry(connector: Connector) -> Answer:
    """Look for the name under which the registry of MCP servers looks the package up."""
    listed = connector.file("server.json")
    try:
        table = json.loads(listed[1]) if listed is not None else None
    except ValueError:
        table = None
    if listed is None or not isinstance(table, dict) or not isinstance(table.get("name"), str):
        return not_applicable("No server.json names the server for a registry.")
    packages = table.get("packages")
    if not any(isinstance(p, dict) and p.get("registryType") == "pypi" for p in packages or ()):
        return not_applicable("server.json names no package whose README the registry reads.", listed[0])
    readme = connector.file(*NAMES)
    if readme is not None and mentions(readme[1], f"mcp-name: {table['name']}"):
        return present("The README carries the name that the registry looks for.", readme[0])
    return absent(f"Write <!-- mcp-name: {table['name']} --> into the README.", readme[0] if readme else listed[0])


def rules_for_editors(connector: Connector) -> Answer:
    """Look for AGENTS.md."""
    found = connector.file("AGENTS.md", "CLAUDE.md")
    if found is not None:
        return present("Whoever edits the code finds the rules.", found[0])
    return absent(
        "Write AGENTS.md: how to add a tool, a provider, a gap, and what must not be touched.", Place("AGENTS.md")
    )


def rules_for_paths(connector: Connector) -> Answer:
    """Look for rule files that say which paths they hold for."""
    folders = dict.fromkeys((connector.project.folders.project, connector.project.folders.repository))
    files = [path for folder in folders for path in sorted((folder / ".claude" / "rules").glob("*.md"))]
    scoped = [
        p
        for p in files
        if re.search(
            r"\A---\n(?=.*^description:)(?=.*^paths:).*?^---", p.read_text("utf-8", "replace"), re.MULTILINE | re.DOTALL
        )
    ]
    if scoped:
        return present(
            "Rules that concern some files alone name them.",
            *(Place(connector.project.folders.shown(p)) for p in scoped),
        )
    return absent(
        "Put rules for some files alone into .claude/rules/*.md with description and paths.", Place(".claude/rules")
    )


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN1301", FAMILY, "The README names every tool",
        "People choose a connector by that list.",
        "Let the command that describes the server write the table.",
        lists_tools, essential=True,
    ),
    Rule(
        "CN1302", FAMILY, "docs/mcp-server.md names every tool",
        "A README has room for a table; arguments, codes and examples need a page.",
        "Write the reference from the live server.",
        reference_lists_tools,
    ),
    Rule(
        "CN1303", FAMILY, "A test compares the README with the server",
        "A list kept by hand is right on the day it is written.",
        "Fail when the table differs from list_tools().",
        checked, essential=True,
    ),
    Rule(
        "CN1304", FAMILY, "AGENTS.md holds the rules for editors",
        "Assistants and newcomers alike break a rule they cannot read.",
        "Write AGENTS.md.",
        rules_for_editors,
    ),
    Rule(
        "CN1305", FAMILY, "Rules for some files are scoped to their paths",
        "A rule that is shown everywhere is read nowhere.",
        "Write .claude/rules/*.md with description and paths.",
        rules_for_paths,
    ),
    Rule(
        "CN1306", FAMILY, "The README carries the registry's name",
        "The registry of MCP servers refuses a package whose published README does not name the server.",
        "Write <!-- mcp-name: NAME --> with the name of server.json.",
        found_by_the_registry,
    ),
)  # fmt: skip
