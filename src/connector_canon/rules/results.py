"""Element 6: stable codes, three states, the denominator."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from connector_canon.findings import Answer, Coverage, Place, absent, cannot_tell, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import Function, Module
from connector_canon.reading.project import Expression, Named, last_name
from connector_canon.reading.registrations import Tool
from connector_canon.rules.capability import Definition, definitions
from connector_canon.rules.coverage import NAMED as COVERAGE_TOOL
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import CODES, mentions, named_collections, place, share

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
EXCEPTION = re.compile(r"e|ex|exc|err|error|exception|cause|fault|\w+_(?:error|exc|exception)")
CONVERSIONS = frozenset(
    {
        "AttributeError",
        "IndexError",
        "JSONDecodeError",
        "KeyError",
        "LookupError",
        "StopIteration",
        "TypeError",
        "ValueError",
        "ImportError",
    }
)
MOST_FOLLOWED = 60
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
    lenient = [where for m in modules for where in _turned_into_others(m, {name for name, _, _ in sets})]
    if lenient:
        return absent("An unknown code is turned into another here; raise, so that none can be built.", *lenient)
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


def _turned_into_others(module: Module, names: set[str]) -> Iterator[Place]:
    """Yield where an enumeration of codes answers a value it does not know with a member."""
    for node in module.nodes(ast.ClassDef):
        for method in node.body:
            if node.name in names and isinstance(method, Function) and method.name == "_missing_":
                for returned in (n for n in ast.walk(method) if isinstance(n, ast.Return)):
                    if returned.value is not None and getattr(returned.value, "value", "") is not None:
                        yield place(module, returned)


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


def describes_codes(connector: Connector) -> Answer:
    """Look whether each tool's description names the codes that the code behind the tool answers with."""
    described = [t for t in connector.tools if t.description is not None and t.description.complete]
    described = [t for t in described if t.name is None or not COVERAGE_TOOL.search(t.name)]
    if not described:
        return cannot_tell("No description is written down.", connector.server.place)
    lacking: list[tuple[str, Place]] = []
    codes = Codes(connector)
    for tool in described:
        text = tool.description.value if tool.description is not None else ""
        missing = sorted(codes.behind(tool) - {code for code in CODES if mentions(text, code)})
        if missing:
            lacking.append((f"{tool.name or 'a tool'} ({', '.join(missing)})", tool.place))
        elif not any(mentions(text, code) for code in CODES):
            lacking.append((tool.name or "a tool", tool.place))
    return share(
        "tools",
        len(described),
        lacking,
        "Every description names the codes its tool can answer with.",
        "{lacking} of {total} descriptions leave codes out, so the model meets them unprepared: {names}.",
        (described[0].place,),
    )


def publishes_schema(connector: Connector) -> Answer:
    """Look for what the framework makes an output schema of: one that is given, or the type that is returned."""
    known = [t for t in connector.tools if t.function is not None and isinstance(t.function.node, Function)]
    if not known:
        return cannot_tell("No tool's function is known from the source.", connector.server.place)
    if any(k.arg is None for t in known for k in t.options):
        return cannot_tell("Options of a tool are made at run time; canon probe reads its schema.", known[0].place)
    return share(
        "tools",
        len(known),
        [(t.name or "a tool", t.place) for t in known if not _has_schema(connector, t)],
        "Every tool publishes an output schema.",
        "{lacking} of {total} tools publish no output schema, so no client can check an answer: {names}.",
        (known[0].place,),
    )


def _has_schema(connector: Connector, tool: Tool) -> bool:
    given = next((k.value for k in tool.options if k.arg in {"output_schema", "outputSchema"}), None)
    if given is not None:
        return not (isinstance(given, ast.Constant) and given.value is None)
    assert tool.function is not None
    function = tool.function.node
    assert isinstance(function, Function)
    returned = function.returns
    if returned is None or last_name(returned) in {"Any", "ToolResult", "CallToolResult"}:
        return False
    targets = connector.project.follow(Expression(returned, tool.function.module, tool.function.scope))
    bases = {
        last_name(b) for t in targets if isinstance(t, Named) and isinstance(t.node, ast.ClassDef) for b in t.node.bases
    }
    return not bases & {"ToolResult", "CallToolResult"}


def quotes_no_exception(connector: Connector) -> Answer:
    """Look for answers that are built from the text of an exception."""
    classes = error_classes(connector)
    own = {id(t.function.node): t.function.module for t in connector.tools if t.function is not None}
    quoting: list[Place] = []
    for module in connector.running("except", "Error", "Exception"):
        made = (c for c in module.nodes(ast.Call) if last_name(c.func) in classes)
        quoting += [place(module, call) for call in made if any(map(_quotes, _handed(call)))]
        for defined in module.definitions:
            if id(defined.node) in own:
                returned = (n.value for n in ast.walk(defined.node) if isinstance(n, ast.Return) and n.value)
                quoting += [place(module, value) for value in returned if any(map(_quotes, ast.walk(value)))]
    if quoting:
        return absent(
            "Say what to do in words of your own; an exception's text holds addresses, paths and what the source sent.",
            *dict.fromkeys(quoting[:20]),
        )
    return present("No answer quotes an exception.")


def error_classes(connector: Connector) -> set[str]:
    """Return the names under which an error that reaches the client is made."""
    known = {"ToolError", "ResourceError", "PromptError", "McpError", "MCPError", "ErrorData"}
    classes = [n for m in connector.running("Error", "Exception") for n in m.nodes(ast.ClassDef)]
    while more := {c.name for c in classes if c.name not in known and {last_name(b) for b in c.bases} & known}:
        known |= more
    return known


def _handed(call: ast.Call) -> Iterator[ast.AST]:
    for value in (*call.args, *(k.value for k in call.keywords)):
        yield from ast.walk(value)


def _quotes(node: ast.AST) -> bool:
    """Whether this is the text of an exception: str(error), repr(error), error.args or {error} in an f-string."""
    match node:
        case ast.FormattedValue(value=ast.Name(id=name)):
            return bool(EXCEPTION.fullmatch(name))
        case ast.Call(func=ast.Name(id="str" | "repr" | "format"), args=[ast.Name(id=name)]):
            return bool(EXCEPTION.fullmatch(name))
        case ast.Attribute(value=ast.Name(id=name), attr="args" | "message"):
            return bool(EXCEPTION.fullmatch(name))
    return False


def hides_no_failure(connector: Connector) -> Answer:
    """Look for tools that catch a failure and go on as if nothing had been found."""
    known = [t for t in connector.tools if t.function is not None and isinstance(t.function.node, Function)]
    if not known:
        return cannot_tell("No tool's function is known from the source.", connector.server.place)
    hiding = [
        (t.name or "a tool", place(t.function.module, handler))
        for t in known
        if t.function is not None
        for handler in ast.walk(t.function.node)
        if isinstance(handler, ast.ExceptHandler) and _hides(handler)
    ]
    return share(
        "tools",
        len(known),
        hiding,
        "No tool hides a failure.",
        "{names} answers a failure as if there were nothing; let it surface with its code.",
        (known[0].place,),
    )


def _hides(handler: ast.ExceptHandler) -> bool:
    """Whether a handler replaces what failed by something empty, and does nothing else but write to a log.

    A value that cannot be read as a number or a date is no failure of what was asked.
    """
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if all(kind is not None and last_name(kind) in CONVERSIONS for kind in caught):
        return False
    replaced = False
    for statement in handler.body:
        match statement:
            case ast.Assign(value=value) | ast.Return(value=ast.expr() as value) if _is_empty(value):
                replaced = True
            case ast.Expr(value=ast.Call(func=func)) if re.search(r"log|print|warn", ast.unparse(func), re.IGNORECASE):
                pass
            case _:
                return False
    return replaced


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Constant(value=None | 0 | ""):
            return True
        case ast.Call(args=handed, keywords=named) if last_name(value.func) not in {"object", "Lock"}:
            parts = [*handed, *(k.value for k in named)]
            return (bool(parts) or last_name(value.func) in {"list", "dict", "set", "tuple"}) and all(
                map(_is_empty, parts)
            )
    return False


class Codes:
    """The codes that functions make answers with, and those that the functions and providers they ask do."""

    def __init__(self, connector: Connector) -> None:
        self.connector = connector
        self.roles = definitions(connector)
        self.is_known = bool(connector.running(*CODES, *(code.upper() for code in CODES)))
        self._made: dict[ast.AST, tuple[set[str], list[Named]]] = {}

    def behind(self, tool: Tool) -> set[str]:
        """Return the codes that are written where a tool leads."""
        found: set[str] = set()
        waiting = [tool.function] if tool.function is not None and self.is_known else []
        seen: set[ast.AST] = set()
        while waiting and len(seen) < MOST_FOLLOWED:
            named = waiting.pop()
            if named.node not in seen:
                seen.add(named.node)
                codes, asked = self._in(named)
                found |= codes
                waiting += asked
        return found

    def _in(self, named: Named) -> tuple[set[str], list[Named]]:
        if named.node not in self._made:
            found: set[str] = set()
            asked: list[Named] = []
            scope = named.module.scopes.get(named.node)
            for call in (n for n in ast.walk(named.node) if isinstance(n, ast.Call)):
                found |= _made_with(call)
                if scope is not None:
                    asked += _asked(self.connector, self.roles, call, Expression(call, named.module, scope))
            self._made[named.node] = found, asked
        return self._made[named.node]


def _made_with(call: ast.Call) -> set[str]:
    """Return the codes that are handed to a call, as a member of an enumeration or as text."""
    found: set[str] = set()
    for value in (*call.args, *(k.value for k in call.keywords)):
        match value:
            case ast.Attribute(attr=name) if name.lower() in CODES and name.isupper():
                found.add(name.lower())
            case ast.Constant(value=str() as text) if text in CODES:
                found.add(text)
    return found if last_name(call.func) not in {"mentions", "get", "isinstance"} else set()


def _asked(connector: Connector, roles: list[Definition], call: ast.Call, site: Expression) -> Iterator[Named]:
    callees = [c for c in connector.project.callees(site) if isinstance(c, Named) and not c.module.is_test]
    yield from (c for c in callees if isinstance(c.node, Function))
    if not callees and isinstance(call.func, ast.Attribute):
        for role in roles:
            if call.func.attr in role.methods:
                for name, module in role.implementations:
                    holder = next((d.node for d in module.definitions if d.node.name == name), None)
                    for method in holder.body if isinstance(holder, ast.ClassDef) else ():
                        if isinstance(method, Function) and method.name == call.func.attr:
                            yield Named(method, module, module.scope)


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
    Rule(
        "CN606", FAMILY, "Every description names its tool's codes",
        "The model meets a code prepared, or not at all.",
        "End each description with the codes the tool can answer.",
        describes_codes,
    ),
    Rule(
        "CN607", FAMILY, "No answer quotes an exception",
        "The text of an exception holds addresses, paths and parts of what the source sent.",
        "Raise an error with a code and a sentence of your own; the exception's text belongs in the local log.",
        quotes_no_exception,
    ),
    Rule(
        "CN608", FAMILY, "No tool hides a failure",
        "An empty list that stands for an outage is read as the answer that there is nothing.",
        "Let the failure surface with its code; catch only what you answer with a code of its own.",
        hides_no_failure,
    ),
    Rule(
        "CN609", FAMILY, "Every tool publishes an output schema",
        "Without one a client passes structured content on unchecked, or not at all.",
        "Annotate what the tool returns, or give output_schema=….",
        publishes_schema,
    ),
)  # fmt: skip
