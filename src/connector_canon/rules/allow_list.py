"""Element 7: the allow-list at the edge."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from connector_canon.findings import Answer, Place, absent, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import Function, Module
from connector_canon.reading.project import Expression, Named, default_of, last_name
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import literal_strings, named_collections, place

FAMILY = Family("7", "The allow-list at the edge", "allow-list")
EXPORTERS = re.compile(
    r"SpanExporter|BatchSpanProcessor|SimpleSpanProcessor|OTLPSpanExporter|TracerProvider|start_as_current_span|start_span"
)
VENDORS = (("sentry_sdk", "init"), ("langfuse", "Langfuse"), ("logfire", "configure"), ("newrelic", "initialize"))
GLOBAL = frozenset({"set_tracer_provider", "set_logger_provider", "set_meter_provider"})
EXPORTER_BASES = re.compile(r"Span(?:Exporter|Processor)$")
PASSES = frozenset({"name", "links", "resource", "context", "parent"})
SPEAKS = frozenset({"events", "status"})
FIRST_WITH_SPANS = {"fastmcp": 3, "mcp": 2}


def exports(connector: Connector) -> list[Place]:
    """Return where the project itself sends telemetry."""
    found: list[Place] = []
    for module in connector.running("opentelemetry", *(vendor for vendor, _ in VENDORS)):
        for site in module.calls:
            name = last_name(site.call.func)
            written = ast.unparse(site.call.func)
            if EXPORTERS.search(name) or any(written in {f"{v}.{f}", f} and f == name for v, f in VENDORS):
                found.append(place(module, site.call))
    return found


def framework_spans(connector: Connector) -> str | None:
    """Say that the installed framework opens spans of its own, None when it does not."""
    name, major = connector.framework
    if major is None:
        return f"{name} has no upper bound, so the newest is installed, and it opens spans of its own"
    return f"{name} {major} opens spans of its own" if major >= FIRST_WITH_SPANS[name] else None


def _nothing_leaves(connector: Connector) -> Answer | None:
    if not exports(connector) and framework_spans(connector) is None:
        return not_applicable("Nothing is exported, and the installed framework opens no spans of its own.")
    return None


def one_gate(connector: Connector) -> Answer:
    """Look for a collection of attribute names that something is filtered by."""
    if (answer := _nothing_leaves(connector)) is not None:
        return answer
    listed = _list(connector)
    if listed is not None:
        name, _, gate = listed
        denied = _denied(connector, name)
        unused = _unused_exporters(connector)
        past = [where for m in connector.running("ReadableSpan") for _, where in _taken_over(connector, m, PASSES)]
        if denied:
            return absent(f"What is not on {name} is kept here; keep what is on it and drop the rest.", *denied)
        if unused:
            return absent("Nothing is exported through the class that filters; put it before the exporter.", *unused)
        if past:
            return absent("This is taken from the span as it is, past the list; build it anew or leave it out.", *past)
        return present(f"{name} decides which attributes leave.", gate)
    where = exports(connector)[:3] or [connector.server.place]
    reason = framework_spans(connector)
    tail = f" {reason}." if reason and not exports(connector) else ""
    return absent(f"Let every attribute set pass one function that keeps only listed keys.{tail}", *where)


def _list(connector: Connector) -> tuple[str, list[str], Place] | None:
    """Return the collection of attribute names that something is filtered by."""
    for module in connector.running("mcp."):
        for name, strings, node in named_collections(module):
            if isinstance(node, ast.Dict) and not name.isupper():
                continue
            if len([s for s in strings if s.startswith("mcp.")]) >= 3 and _filters_by(connector, name):
                return name, strings, place(module, node)
    return None


def _denied(connector: Connector, name: str) -> list[Place]:
    """Return where a comprehension keeps what is not on the list, under the list's name or a parameter that defaults to it."""
    found: list[Place] = []
    for module in connector.running(name):
        for function in (d.node for d in module.definitions if isinstance(d.node, Function)):
            arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            given = {
                a.arg for a in arguments if (d := default_of(function, a.arg)) is not None and last_name(d) == name
            }
            for kept in (n for n in ast.walk(function) if isinstance(n, ast.comprehension)):
                tests = [t for condition in kept.ifs for t in ast.walk(condition) if isinstance(t, ast.Compare)]
                found += [
                    place(module, t)
                    for t in tests
                    if isinstance(t.ops[0], ast.NotIn) and last_name(t.comparators[0]) in {name, *given}
                ]
    return found


def _unused_exporters(connector: Connector) -> list[Place]:
    """Return the exporters and processors of the project when none of them is made anywhere."""
    written = [
        (module, d.node)
        for module in connector.running("SpanExporter", "SpanProcessor")
        for d in module.definitions
        if isinstance(d.node, ast.ClassDef) and any(EXPORTER_BASES.search(last_name(b)) for b in d.node.bases)
    ]
    if any(connector.project.calls_named(node.name) for _, node in written):
        return []
    return [place(module, node) for module, node in written]


def _taken_over(connector: Connector, module: Module, parts: frozenset[str]) -> Iterator[tuple[str, Place]]:
    """Yield the parts of a span built anew that are the old span's own."""
    for site in module.calls:
        if last_name(site.call.func) != "ReadableSpan":
            continue
        for keyword in site.call.keywords:
            taken = keyword.arg in parts and _is_taken_over(connector, Expression(keyword.value, module, site.scope))
            if keyword.arg is not None and taken:
                yield keyword.arg, place(module, keyword.value)
            if keyword.arg == "status" and "status" in parts and any(
                isinstance(n, ast.Attribute) and n.attr == "description" for n in ast.walk(keyword.value)
            ):  # fmt: skip
                yield "status", place(module, keyword.value)


def _is_taken_over(connector: Connector, value: Expression) -> bool:
    """Whether this is an attribute of another object as it is, also by way of a function that hands it back."""
    match value.node:
        case ast.Attribute(value=ast.Name()):
            return True
        case ast.Call(args=[ast.Attribute() | ast.Call(), *_]):
            for callee in connector.project.callees(value):
                if isinstance(callee, Named) and isinstance(callee.node, Function):
                    names = {a.arg for a in callee.node.args.args}
                    returned = [n.value for n in ast.walk(callee.node) if isinstance(n, ast.Return)]
                    if any(isinstance(r, ast.Name) and r.id in names for r in returned):
                        return True
    return False


def _filters_by(connector: Connector, name: str) -> bool:
    """Whether something is kept or dropped by being on the list, or a function is handed the list to do so."""
    for module in connector.running(name):
        tested = [n.comparators[0] for n in module.nodes(ast.Compare) if isinstance(n.ops[0], ast.In | ast.NotIn)]
        met = [n for n in module.nodes(ast.BinOp) if isinstance(n.op, ast.BitAnd)]
        handed = [a for n in module.nodes(ast.Call) for a in [*n.args, *(k.value for k in n.keywords)]]
        defaults = [d for n in module.nodes(ast.arguments) for d in [*n.defaults, *n.kw_defaults] if d is not None]
        if any(name in ast.unparse(node) for node in [*tested, *met]) or name in map(last_name, [*handed, *defaults]):
            return True
    return False


def private_provider(connector: Connector) -> Answer:
    """Look for calls that install a provider for the whole process."""
    if (answer := _nothing_leaves(connector)) is not None:
        return answer
    installed = [
        place(m, s.call) for m in connector.running(*GLOBAL) for s in m.calls if last_name(s.call.func) in GLOBAL
    ]
    if installed:
        return absent(
            "Keep the provider private: a global one exports what other libraries in the process put on their spans.",
            *installed,
        )
    return present("No provider is installed for the whole process.")


def messages_stay(connector: Connector) -> Answer:
    """Look for exception texts that leave with a span."""
    if (answer := _nothing_leaves(connector)) is not None:
        return answer
    leaving = [
        place(m, s.call)
        for m in connector.running("record_exception")
        for s in m.calls
        if last_name(s.call.func) == "record_exception"
        or any(
            k.arg == "record_exception" and not (isinstance(k.value, ast.Constant) and k.value.value is False)
            for k in s.call.keywords
        )
    ]
    vendors = [
        place(m, s.call)
        for m in connector.running("sentry_sdk")
        for s in m.calls
        if ast.unparse(s.call.func) == "sentry_sdk.init" and not any(k.arg == "before_send" for k in s.call.keywords)
    ]
    leaving += [where for m in connector.running("ReadableSpan") for _, where in _taken_over(connector, m, SPEAKS)]
    if leaving or vendors:
        return absent("Export the exception's class and the code; its text stays in the local log.", *leaving, *vendors)
    reason = framework_spans(connector)
    if reason is not None and not _switched_off(connector):
        return absent(
            f"{reason} and puts exception texts on them; turn them off "
            "(fastmcp.settings.telemetry_mode = 'off') and open your own.",
            connector.server.place,
        )
    return present("No exception text is put on a span.")


def _switched_off(connector: Connector) -> bool:
    for module in connector.running("telemetry_mode", "FASTMCP_TELEMETRY_MODE"):
        for node in module.nodes(ast.Assign, ast.Call, ast.keyword):
            match node:
                case ast.Assign(targets=[target], value=ast.Constant(value="off")) if (
                    "telemetry_mode" in ast.unparse(target).lower()
                ):
                    return True
                case ast.Call(args=[*_, ast.Constant(value="off")]) if "telemetry_mode" in ast.unparse(node).lower():
                    return True
                case ast.keyword(arg="telemetry_mode", value=ast.Constant(value="off")):
                    return True
    return False


def list_pinned(connector: Connector) -> Answer:
    """Look for a test that writes the allow-list out."""
    if (answer := _nothing_leaves(connector)) is not None:
        return answer
    pinned: list[tuple[set[str], Place]] = []
    for module in connector.project.tests("mcp.org_id"):
        for node in module.collections():
            strings = set(literal_strings(node))
            if {"mcp.org_id", "mcp.user_id", "mcp.tool"} <= strings:
                pinned.append((strings, place(module, node)))
    listed = _list(connector)
    if pinned and listed is not None:
        more = [name for name in listed[1] if not any(name in strings for strings, _ in pinned)]
        if more:
            return absent(
                f"The list has {', '.join(more)}, which no test writes out; a longer list is a decision.",
                listed[2],
                *(where for _, where in pinned),
            )
    if pinned:
        return present("A test pins the allow-list.", pinned[0][1])
    return absent(
        "Write the list out in a test, so that a longer one is a decision somebody reviews.", connector.server.place
    )


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN701", FAMILY, "One function decides which attributes leave",
        "The leak comes through the attribute nobody set on purpose.",
        "Filter every attribute set at the exporter by a frozen set of exact keys.",
        one_gate, essential=True,
    ),
    Rule(
        "CN702", FAMILY, "The telemetry provider is private",
        "A global provider carries the spans of every other library in the process out with yours.",
        "Build a TracerProvider and hand it to your own tracer; never call set_tracer_provider.",
        private_provider,
    ),
    Rule(
        "CN703", FAMILY, "Exception texts never leave",
        "The text of an error routinely holds paths, queries and answers of the source.",
        "Export exception.type, a bare class name, and the stable code.",
        messages_stay, essential=True,
    ),
    Rule(
        "CN704", FAMILY, "A test pins the allow-list",
        "A list that can grow unnoticed is a comment.",
        "Compare the list with the written-out one, and scan exported bytes for planted secrets.",
        list_pinned, essential=True,
    ),
)  # fmt: skip
