"""Element 4: who called, on the span."""

from __future__ import annotations

import ast

from connector_canon.findings import Answer, Place, absent, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import Module
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import strings_matching

FAMILY = Family("4", "Who called, on the span", "spans")
CALLER = ("mcp.org_id", "mcp.user_id")


def names_caller(connector: Connector) -> Answer:
    """Look for both attributes that name the caller."""
    modules = connector.running("mcp.org_id", "mcp.user_id")
    found = {name: _set(modules, name) for name in CALLER}
    lacking = [name for name, places in found.items() if not places]
    traced = connector.running("set_attribute", "attributes")
    if not lacking and traced:
        return present("Spans carry mcp.org_id and mcp.user_id.", *(places[0] for places in found.values()))
    return absent(f"Set {' and '.join(lacking or CALLER)} on the call's span.", connector.server.place)


def _set(modules: list[Module], name: str) -> list[Place]:
    """Return where a name is used by itself: being on a list of names sets nothing."""
    found: list[Place] = []
    for module in modules:
        constants = [v for n, values in module.parsed().scope.values.items() if n.isupper() for v in values]
        written = [*module.collections(), *(v for v in constants if not isinstance(v, ast.Constant))]
        listed = {id(node) for collection in written for node in ast.walk(collection)}
        found += [
            Place(module.shown, node.lineno)
            for node in module.nodes(ast.Constant)
            if node.value == name and id(node) not in listed
        ]
    return found


def no_tenant_routing(connector: Connector) -> Answer:
    """Look for an org_id attribute that would route traffic to a tenant's own project."""
    modules = connector.running(".org_id")
    named = strings_matching(modules, r"(?!mcp\.)[a-z][a-z0-9_-]*\.org_id")
    if named:
        return absent(
            "Call the attribute mcp.org_id: <server>.org_id routes the span to a tenant's project.", *named[:5]
        )
    if not modules:
        return not_applicable("No span names an organisation.")
    return present("No attribute routes connector traffic to a tenant's project.")


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN401", FAMILY, "Spans carry mcp.org_id and mcp.user_id",
        "When something goes wrong for one caller, these two tell which calls were theirs.",
        "Set both where the call's span is opened.",
        names_caller, essential=True,
    ),
    Rule(
        "CN402", FAMILY, "No <server>.org_id attribute",
        "That name sends a span to the tenant's own project; connector traffic belongs in the developers' one.",
        "Use mcp.org_id.",
        no_tenant_routing,
    ),
)  # fmt: skip
