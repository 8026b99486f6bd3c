"""Element 8: a capability is three roles or none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from connector_canon.findings import Answer, Place, absent, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.contracts import Contracts
from connector_canon.reading.modules import Function, Module
from connector_canon.reading.project import last_name
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import place

FAMILY = Family("8", "A capability is three roles", "capability")
ROLE = re.compile(
    r"provider|source|repository|gateway|backend|store|records|archive|catalog|corpus|reader", re.IGNORECASE
)
ANOTHER_CONCERN = re.compile(r"cache|lock|queue|session|auth|token|credential|key|log|metric|telemetry", re.IGNORECASE)
REACHES_OUT = frozenset(
    {
        "httpx",
        "httpx2",
        "requests",
        "aiohttp",
        "urllib3",
        "sqlite3",
        "aiosqlite",
        "psycopg",
        "asyncpg",
        "sqlalchemy",
        "boto3",
    }
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A protocol or abstract class that providers fulfil."""

    name: str
    methods: frozenset[str]
    module: Module
    place: Place
    implementations: tuple[tuple[str, Module], ...]


def definitions(connector: Connector) -> list[Definition]:
    """Return the protocols of records in a project, those with most implementations first."""
    found = [
        Definition(
            node.name, methods, module, place(module, node), tuple(_implementations(connector, node.name, methods))
        )
        for module in connector.own("Protocol", "ABC")
        for node, methods in _protocols(module)
    ]
    return sorted(found, key=lambda d: len(d.implementations), reverse=True)


def _protocols(module: Module) -> Iterator[tuple[ast.ClassDef, frozenset[str]]]:
    for defined in module.definitions:
        node = defined.node
        if not isinstance(node, ast.ClassDef) or not ROLE.search(node.name) or (ANOTHER_CONCERN.search(node.name)):
            continue
        bases = {last_name(base) for base in node.bases}
        methods = frozenset(
            s.name
            for s in node.body
            if isinstance(s, Function)
            and not s.name.startswith("_")
            and ("Protocol" in bases or any("abstract" in ast.unparse(d) for d in s.decorator_list))
        )
        if bases & {"Protocol", "ABC"} and len(methods) >= 2:
            yield node, methods


def _implementations(connector: Connector, name: str, methods: frozenset[str]) -> Iterator[tuple[str, Module]]:
    for module in connector.own("class "):
        for defined in module.definitions:
            node = defined.node
            if not isinstance(node, ast.ClassDef) or node.name == name:
                continue
            bases = {last_name(base) for base in node.bases}
            own = {s.name for s in node.body if isinstance(s, Function)}
            if name in bases or ("Protocol" not in bases and methods <= own):
                yield node.name, module


def has_definition(connector: Connector) -> Answer:
    """Look for a definition without input or output."""
    found = definitions(connector)
    clean = [d for d in found if not _reach(connector, d.module) & REACHES_OUT]
    if clean:
        return present(f"{clean[0].name} defines the capability and reaches nothing.", clean[0].place)
    if found:
        return absent(
            f"{found[0].name} lies in a module that does input and output, itself or by what it imports; "
            "give it one of its own.",
            found[0].place,
        )
    return absent(
        "Define the capability as a protocol of types and codes, without input or output.", connector.server.place
    )


def has_providers(connector: Connector) -> Answer:
    """Look for two providers of one definition."""
    found = definitions(connector)
    if not found:
        return absent(
            "Write a provider for the live source and a fixture for tests, both of one definition.",
            connector.server.place,
        )
    names = [name for name, _ in found[0].implementations]
    if len(names) >= 2:
        return present(f"{found[0].name} has the providers {', '.join(names[:5])}.", found[0].place)
    return absent(f"{found[0].name} has {len(names)} provider; a second shows that the seam holds.", found[0].place)


def has_contract(connector: Connector) -> Answer:
    """Look for one suite that every provider passes."""
    found = [d for d in definitions(connector) if len(d.implementations) >= 2]
    for definition in found:
        suite = Contracts(connector.project, {name for name, _ in definition.implementations}).place()
        if suite is not None:
            return present("One suite examines every provider.", suite)
    return absent("Run one contract suite over every provider.", found[0].place if found else connector.server.place)


def tools_know_no_provider(connector: Connector) -> Answer:
    """Look whether modules that hold tools import a provider."""
    found = [d for d in definitions(connector) if d.implementations]
    if not found:
        return not_applicable("There is no definition whose providers a tool could import.")
    providers = {module for d in found for _, module in d.implementations if module is not d.module}
    holding = {t.function.module for t in connector.tools if t.function is not None} - providers
    wrong = [
        Place(module.shown, _import_line(module, dotted))
        for module in sorted(holding, key=lambda m: m.shown)
        if module is not connector.server.module
        for scope in [module.scope, *module.scopes.values()]
        for dotted in scope.imports.values()
        if connector.project.module_named(dotted, module) in providers
        or connector.project.module_named(dotted.rpartition(".")[0] or "-", module) in providers
    ]
    if wrong:
        return absent(
            "Let the tool know the definition alone and take its provider by configuration.", *dict.fromkeys(wrong)
        )
    return present("No module of tools imports a provider.")


def falls_back_to_nobody(connector: Connector) -> Answer:
    """Look for a provider that asks another one when it fails."""
    found = [d for d in definitions(connector) if len(d.implementations) >= 2]
    if not found:
        return not_applicable("There are no two providers of one definition.")
    falling: list[Place] = []
    for definition in found:
        names = {name for name, _ in definition.implementations}
        for module in dict.fromkeys(module for _, module in definition.implementations):
            for handler in module.nodes(ast.ExceptHandler):
                made = (n for n in ast.walk(handler) if isinstance(n, ast.Call) and last_name(n.func) in names)
                falling += [place(module, call) for call in made]
    if falling:
        return absent(
            "Let the failure surface: an answer from another provider looks like one from the source.",
            *dict.fromkeys(falling),
        )
    return present("No provider falls back to another one.")


def _imports(module: Module) -> set[str]:
    return {d.split(".")[0] for s in [module.scope, *module.scopes.values()] for d in s.imports.values()}


def _reach(connector: Connector, module: Module) -> set[str]:
    """Return what a module imports, also by way of the modules of the project that it imports."""
    found: set[str] = set()
    waiting, seen = [module], set[Module]()
    while waiting:
        current = waiting.pop()
        if current in seen or current.is_test:
            continue
        seen.add(current)
        found |= _imports(current)
        for dotted in (d for s in [current.scope, *current.scopes.values()] for d in s.imports.values()):
            for name in (dotted, dotted.rpartition(".")[0]):
                inner = connector.project.module_named(name, current) if name.strip(".") else None
                if inner is not None and inner.path.name != "__init__.py":
                    waiting.append(inner)
    return found


def _import_line(module: Module, dotted: str) -> int:
    name = dotted.rpartition(".")[2]
    imports: list[ast.Import | ast.ImportFrom] = [*module.nodes(ast.Import), *module.nodes(ast.ImportFrom)]
    for node in imports:
        if any(a.name.endswith(name) for a in node.names):
            return node.lineno
    return 1


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN801", FAMILY, "The capability has a definition of its own",
        "Where what, how and for whom lie in one module, a second source means a second connector.",
        "Write a Protocol with the types and codes in a module that imports no client and no database.",
        has_definition, essential=True,
    ),
    Rule(
        "CN802", FAMILY, "The definition has two providers",
        "One role alone is not a seam; a fixture provider also lets every test run without a network.",
        "Add a fixture or a cache beside the live source.",
        has_providers, essential=True,
    ),
    Rule(
        "CN803", FAMILY, "Every provider passes one contract suite",
        "Providers that are tested apart answer differently where it matters.",
        "Parametrise one suite over all of them.",
        has_contract, essential=True,
    ),
    Rule(
        "CN804", FAMILY, "Tools import no provider",
        "A tool that knows its provider has to be edited when the provider changes.",
        "Hand the provider in through the server that is built.",
        tools_know_no_provider,
    ),
    Rule(
        "CN805", FAMILY, "No provider falls back to another by itself",
        "Sample data or yesterday's copy, given as the source's answer, is believed.",
        "Raise upstream_unavailable; which provider answers is decided by configuration.",
        falls_back_to_nobody,
    ),
)  # fmt: skip
