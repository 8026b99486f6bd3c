"""Element 6: stable codes, three states, the denominator."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from connector_canon.findings import Answer, Coverage, Place, absent, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import Module
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import CODES, named_collections, place

FAMILY = Family("6", "Stable codes, three states, the denominator", "results")
CODE_NAME = re.compile(r"code|error_?(?:type|categor|template|kind)|categor", re.IGNORECASE)
CODE_WORDS = ("code", "CODE", "Code", "rror", "categor", "CATEGOR")
CODE_VALUE = re.compile(r"[a-z]+(?:_[a-z]+)*|[A-Z]+(?:_[A-Z]+)+")
CODE_KEYS = frozenset({"code", "error_code", "error_type"})
NOT_ERRORS = re.compile(r"country|language|currency|lang|court|status_codes|subject|product|patent", re.IGNORECASE)
ERROR_WORDS = re.compile(
    r"not_?found|invalid|unavailable|rate_?limit|forbidden|timeout|upstream|partial|parse_error|validation",
    re.IGNORECASE,
)
STATES = ("ok", "degraded", "failed")
MIDDLE = re.compile(r"partial|degraded|incomplete", re.IGNORECASE)
COUNTED = re.compile(r"total|requested|expected")
COUNTING = re.compile(r"usable|succeeded|processed|returned|available|healthy|loaded")
DENOMINATOR = ("unit", "total", "usable")


def code_sets(modules: list[Module]) -> Iterator[tuple[str, list[str], Place]]:
    """Yield each closed set of error codes: its name, its codes, its place."""
    for module in modules:
        for name, strings, node in named_collections(module):
            if not CODE_NAME.search(name) or NOT_ERRORS.search(name) or len(strings) < 3:
                continue
            if all(CODE_VALUE.fullmatch(s) for s in strings) and sum(bool(ERROR_WORDS.search(s)) for s in strings) >= 2:
                yield name, strings, place(module, node)


def has_codes(connector: Connector) -> Answer:
    """Look for machine codes: a closed set, or at least a code beside each message."""
    modules = connector.running(*CODE_WORDS)
    sets = list(code_sets(modules))
    if sets:
        name, strings, where = sets[0]
        return present(f"{name} closes the set of codes at {len(strings)}.", where, *(p for _, _, p in sets[1:5]))
    loose = [place(m, node) for m in modules for node in _code_entries(m)]
    if len(loose) >= 2:
        return absent(
            "Codes are written here and there; close the set in one place, so that no unknown code can be built.",
            *loose[:10],
            coverage=Coverage("contracts", 2, 1),
        )
    return absent(
        "Give every failure a machine code from a closed set, beside the message for people.", connector.server.place
    )


def _code_entries(module: Module) -> Iterator[ast.AST]:
    for node in module.nodes(ast.Dict, ast.Call, ast.ClassDef):
        match node:
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in CODE_KEYS and _is_code(value):
                        yield node
            case ast.Call(keywords=keywords):
                if any(k.arg in CODE_KEYS and _is_code(k.value) for k in keywords):
                    yield node
            case ast.ClassDef(name=name, body=body) if name.endswith(("Error", "Exception")):
                for s in body:
                    match s:
                        case ast.Assign(targets=[ast.Name(id=attribute)], value=value) if attribute in CODE_KEYS:
                            if _is_code(value):
                                yield s
                        case ast.AnnAssign(target=ast.Name(id=attribute), value=ast.Constant() as value):
                            if attribute in CODE_KEYS and _is_code(value):
                                yield s


def _is_code(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str) and bool(ERROR_WORDS.search(value.value)) and (
        bool(CODE_VALUE.fullmatch(value.value))
    )  # fmt: skip


def exactly_six(connector: Connector) -> Answer:
    """Look whether the closed set is the canon's six."""
    for name, strings, where in code_sets(connector.running(*CODE_WORDS)):
        if set(strings) == set(CODES):
            return present(f"{name} holds exactly the six codes.", where)
    sets = list(code_sets(connector.running(*CODE_WORDS)))
    if sets:
        name, strings, where = sets[0]
        extra, lacking = sorted(set(strings) - set(CODES)), sorted(set(CODES) - set(strings))
        return absent(f"{name} differs from the six codes: {_difference(extra, lacking)}.", where)
    return absent(f"Use exactly these codes: {', '.join(CODES)}.", connector.server.place)


def _difference(extra: list[str], lacking: list[str]) -> str:
    parts = [f"{label} {', '.join(names[:6])}" for label, names in (("has", extra), ("lacks", lacking)) if names]
    return "; ".join(parts)


def pinned(connector: Connector) -> Answer:
    """Look for a test that compares the set of codes with a written-out one."""
    for module in connector.project.tests("ode", "ATEGOR", "error"):
        for node in module.nodes(ast.Compare):
            if not isinstance(node.ops[0], ast.Eq | ast.LtE | ast.GtE):
                continue
            for side, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
                strings = _strings_in(side)
                errors = [s for s in strings if ERROR_WORDS.search(s)]
                if len(strings) >= 3 and len(errors) >= 2 and CODE_NAME.search(ast.unparse(other)):
                    return present("A test pins the codes.", place(module, node))
    return absent("Add a test whose only job is to pin the set of codes.", connector.server.place)


def _strings_in(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Name | ast.Attribute):
        return []
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def three_states(connector: Connector) -> Answer:
    """Look for ok, degraded and failed as one closed set."""
    modules = connector.running("degraded", "partial", "DEGRADED")
    for module in modules:
        for name, strings, node in named_collections(module):
            if set(STATES) <= set(strings) and len(strings) <= 4:
                return present(f"{name} holds the three states.", place(module, node))
        for node in module.nodes(ast.Subscript):
            if {e.value for e in ast.walk(node.slice) if isinstance(e, ast.Constant)} == set(STATES):
                return present("An answer's status is one of the three states.", place(module, node))
    between = [where for m in modules for where in _middle_states(m)]
    if between:
        return absent(
            "There is a state between success and failure; make it the closed set ok, degraded, failed for every tool.",
            *between[:5],
            coverage=Coverage("states", 3, 1),
        )
    return absent("Give every answer a status of ok, degraded or failed.", connector.server.place)


def _middle_states(module: Module) -> Iterator[Place]:
    for node in module.nodes(ast.Dict, ast.Assign, ast.Call):
        pairs: list[tuple[object, ast.expr]] = []
        match node:
            case ast.Dict(keys=keys, values=values):
                pairs = [
                    (k.value if isinstance(k, ast.Constant) else None, v) for k, v in zip(keys, values, strict=True)
                ]
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pairs = [(name, value)]
            case ast.Call(keywords=keywords):
                pairs = [(k.arg, k.value) for k in keywords]
        for key, value in pairs:
            if isinstance(key, str) and key.endswith("status") and any(
                isinstance(c, ast.Constant) and isinstance(c.value, str) and MIDDLE.fullmatch(c.value) for c in ast.walk(value)
            ):  # fmt: skip
                yield place(module, node)


def denominator(connector: Connector) -> Answer:
    """Look for unit, total and usable in one type or one answer."""
    counted: list[Place] = []
    for module in connector.running("total", "requested", "expected"):
        for node in module.nodes(ast.Dict, ast.ClassDef):
            names = _field_names(node)
            if set(DENOMINATOR) <= names:
                return present("A partial answer carries unit, total and usable.", place(module, node))
            if (
                any(COUNTED.search(n) for n in names)
                and any(COUNTING.search(n) for n in names)
                and _speaks_of_states(node)
            ):
                counted.append(place(module, node))
    if counted:
        return absent(
            "How much is missing is counted here; carry it as coverage {unit, total, usable} in every partial answer.",
            *counted[:5],
            coverage=Coverage("fields", 3, 1),
        )
    return absent(
        "Carry coverage {unit, total, usable} in the same answer as the partial data.", connector.server.place
    )


def _speaks_of_states(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Constant) and n.value == "status" for n in ast.walk(node))


def _field_names(node: ast.AST) -> set[str]:
    match node:
        case ast.Dict(keys=keys):
            return {k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str)}
        case ast.ClassDef(body=body):
            return {s.target.id for s in body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
    return set()


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN601", FAMILY, "Failures carry a code from a closed set",
        "The agent branches on the code; a message is for people and changes with the first edit of style.",
        "Declare the codes once and let nothing build another.",
        has_codes, essential=True,
    ),
    Rule(
        "CN602", FAMILY, "The codes are exactly the six",
        "One vocabulary over a whole fleet lets one habit of recovery serve all connectors.",
        "Use not_found, invalid_input, upstream_unavailable, rate_limited, forbidden and partial_result.",
        exactly_six,
    ),
    Rule(
        "CN603", FAMILY, "A test pins the codes",
        "A renamed code breaks every consumer; it should hurt here first.",
        "Compare the declared set with the written-out one in a test of its own.",
        pinned, essential=True,
    ),
    Rule(
        "CN604", FAMILY, "An answer is ok, degraded or failed",
        "With two states, part of the data has to call itself success.",
        "Make status a closed type of three.",
        three_states, essential=True,
    ),
    Rule(
        "CN605", FAMILY, "A partial answer carries its denominator",
        "Nine pages mean nothing without the fourteen.",
        "Carry coverage {unit, total, usable} beside the data.",
        denominator, essential=True,
    ),
)  # fmt: skip
