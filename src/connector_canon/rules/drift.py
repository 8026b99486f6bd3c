"""Element 2: tests hold the instructions, the tools and the codes together, in both directions."""

from __future__ import annotations

from collections.abc import Callable

from connector_canon.findings import Answer, absent, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.suites import CODES, DESCRIPTIONS, INSTRUCTIONS, TOOLS, TestFunction
from connector_canon.rules.rule import Family, Rule

FAMILY = Family("2", "Drift tests, both directions", "drift")


def _found(kind: Callable[[TestFunction], bool], good: str, bad: str) -> Callable[[Connector], Answer]:
    def look(connector: Connector) -> Answer:
        tests = [test for test in connector.tests if kind(test)]
        return present(good, *(test.place for test in tests)) if tests else absent(bad, connector.instructions.place)

    return look


def _drift_tests(connector: Connector) -> list[TestFunction]:
    return [t for t in connector.tests if t.is_weak_drift or t.is_strong_drift or t.is_code_drift]


def reads_live(connector: Connector) -> Answer:
    """Look whether drift tests ask the server through its public method."""
    tests = _drift_tests(connector)
    if not tests:
        return not_applicable("There is no drift test.")
    private = [t for t in tests if t.facts.reads_private]
    if private:
        return absent(
            "The drift test reads private attributes, which another version of the framework lacks; ask list_tools().",
            *(t.place for t in private),
        )
    live = [t for t in tests if t.facts.reads_live]
    if live:
        return present("The drift tests ask the live server.", *(t.place for t in live))
    return absent(
        "Compare with await server.list_tools(), not with source text or a copy of the names.", tests[0].place
    )


def fails_when_empty(connector: Connector) -> Answer:
    """Look whether drift tests assert that they had something to compare."""
    tests = _drift_tests(connector)
    if not tests:
        return not_applicable("There is no drift test.")
    guarded = [t for t in tests if t.facts.asserted_filled & {INSTRUCTIONS, TOOLS, CODES, DESCRIPTIONS}]
    if guarded:
        return present("A drift test fails when it looked at nothing.", *(t.place for t in guarded))
    return absent(
        "Assert that names were found before comparing: a comparison of nothing always passes.", tests[0].place
    )


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN201", FAMILY, "A test fails when the instructions name an unregistered tool",
        "Tools are renamed; the text that names them is not compiled.",
        "Collect the names in the instructions and assert that none is missing from list_tools().",
        _found(
            lambda t: t.is_weak_drift,
            "A test compares the instructions' names with the registered tools.",
            "Add a test that fails when the instructions name a tool that is not registered.",
        ), essential=True,
    ),
    Rule(
        "CN202", FAMILY, "A test fails when a registered tool is not named",
        "A new tool goes live without any change in behaviour when the instructions do not know it.",
        "For every tool of list_tools(), assert that its exact name stands in the instructions.",
        _found(
            lambda t: t.is_strong_drift,
            "A test demands that every registered tool is named.",
            "Add a test that fails when a registered tool is not named in the instructions.",
        ), essential=True,
    ),
    Rule(
        "CN203", FAMILY, "A test fails when a code is not in its tool's description",
        "A model cannot recover from a code it has never been told.",
        "Assert that every code a tool can return stands in the description that list_tools() gives.",
        _found(
            lambda t: t.is_code_drift,
            "A test compares the codes with the tools' descriptions.",
            "Add a test that fails when a tool's description lacks a code the tool can return.",
        ), essential=True,
    ),
    Rule(
        "CN204", FAMILY, "Drift tests read the live server",
        "Private attributes move between versions, and a test that falls back to something else passes for the wrong reason.",
        "Use await server.list_tools().",
        reads_live,
    ),
    Rule(
        "CN205", FAMILY, "Drift tests fail when they looked at nothing",
        "An empty set differs from nothing, so a broken pattern turns the gate green.",
        "Assert that the collected names are not empty.",
        fails_when_empty,
    ),
)  # fmt: skip
