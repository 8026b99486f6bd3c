"""Element 5: annotations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from connector_canon.findings import Answer, absent, cannot_tell, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import Function
from connector_canon.reading.project import Expression, Target, default_of, last_name
from connector_canon.reading.registrations import Tool, is_injected, parameters
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import mentions, share

FAMILY = Family("5", "Annotations", "annotations")
HINTS = ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")
WRITTEN_BY = frozenset({"ToolAnnotations", "dict", "model_copy", "copy"})
PLAIN_TYPES = frozenset(
    {"Annotated", "Any", "Dict", "List", "Literal", "Optional", "Sequence", "Set", "Tuple", "Union"}
)
KNOWN = {*HINTS, "title"}


def snake(name: str) -> str:
    """Return readOnlyHint as read_only_hint; both spellings are one hint."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: "_" + m[1].lower(), name)


def hints(connector: Connector, tool: Tool) -> dict[str, ast.expr] | None:
    """Return a tool's written-out hints by snake-case name; None when they are made at run time."""
    if tool.annotations is None:
        return {}
    found: dict[str, ast.expr] = {}
    known = False
    for target in _made(connector, connector.project.follow(tool.annotations)):
        known = True
        found |= _written(connector, target)
    return found if known else None


def _made(connector: Connector, targets: Iterable[Target], depth: int = 0) -> Iterator[Expression]:
    """Yield the calls and dicts that write hints out, also those a function of the project returns."""
    for target in targets:
        if not isinstance(target, Expression) or depth > 4:
            continue
        if isinstance(target.node, ast.Dict):
            yield target
        elif isinstance(target.node, ast.Call):
            results = [r for c in connector.project.callees(target) for r in connector.project.results(c)]
            if results:
                yield from _made(connector, results, depth + 1)
            elif last_name(target.node.func) in WRITTEN_BY:
                yield target


def _written(connector: Connector, target: Expression) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    pairs: list[tuple[str | None, ast.expr]] = []
    if isinstance(target.node, ast.Call):
        pairs = [(k.arg, k.value) for k in target.node.keywords]
        pairs += [(None, a) for a in target.node.args]
        if isinstance(target.node.func, ast.Attribute) and target.node.func.attr in {"model_copy", "copy"}:
            pairs = [(None, target.node.func.value), *((None, v) for _, v in pairs)]
    elif isinstance(target.node, ast.Dict):
        pairs = [
            (str(k.value) if isinstance(k, ast.Constant) else None, v)
            for k, v in zip(target.node.keys, target.node.values, strict=True)
        ]
    for name, value in pairs:
        if name is not None:
            found[snake(name)] = value
            continue
        for inner in connector.project.follow(Expression(value, target.module, target.scope)):
            if (
                isinstance(inner, Expression)
                and isinstance(inner.node, ast.Call | ast.Dict)
                and inner.node is not target.node
            ):
                found |= _written(connector, inner)
    return found


def says_read_only(connector: Connector) -> Answer:
    """Look whether each tool says if it changes anything."""
    if not connector.tools:
        return _no_tools(connector)
    lacking, unknown = [], []
    for tool in connector.tools:
        written = hints(connector, tool)
        if written is None:
            unknown.append(tool)
        elif not written.keys() & {"read_only_hint", "destructive_hint"}:
            lacking.append((tool.name or "a tool", tool.place))
        elif all(_is_true(written.get(hint)) for hint in ("read_only_hint", "destructive_hint")):
            lacking.append((f"{tool.name or 'a tool'} (both read-only and destructive)", tool.place))
    if not lacking and (unknown or connector.undecided):
        reason = connector.undecided[0] if connector.undecided else (unknown[0].place, "hints are made at run time")
        return cannot_tell(f"Every known tool says so; {reason[1]}.", reason[0])
    return share(
        "tools",
        len(connector.tools),
        lacking,
        "Every tool says whether it changes anything.",
        "{lacking} of {total} tools do not say whether they change anything, so clients ask before each call: {names}.",
        (connector.tools[0].place,),
    )


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def says_all(connector: Connector) -> Answer:
    """Look for a title and four explicit booleans on each tool."""
    if not connector.tools:
        return _no_tools(connector)
    lacking, unknown = [], []
    for tool in connector.tools:
        written = hints(connector, tool)
        if written is None:
            unknown.append(tool)
            continue
        missing = [h for h in HINTS if h not in written]
        if "title" not in written and tool.title is None and not any(k.arg == "title" for k in tool.options):
            missing.append("title")
        if missing:
            lacking.append((f"{tool.name or 'a tool'} ({', '.join(missing)})", tool.place))
    if not lacking and unknown:
        return cannot_tell("Some hints are made at run time; canon probe reads them.", unknown[0].place)
    return share(
        "tools",
        len(connector.tools),
        lacking,
        "Every tool has a title and all four hints.",
        "{lacking} of {total} tools lack something: {names}.",
        (connector.tools[0].place,),
    )


def no_unknown_hint(connector: Connector) -> Answer:
    """Look for hints that the protocol does not know."""
    if not connector.tools:
        return _no_tools(connector)
    wrong = [
        (name, tool.place)
        for tool in connector.tools
        for name in (hints(connector, tool) or {})
        if name not in KNOWN and not name.startswith("_")
    ]
    if not any(hints(connector, tool) for tool in connector.tools):
        return not_applicable("No tool has annotations.")
    if not wrong:
        return present("Every hint is one the protocol knows.")
    names = ", ".join(sorted({name for name, _ in wrong}))
    return absent(f"The protocol knows no {names}; such a hint is ignored in silence.", *(p for _, p in wrong[:20]))


def describes_arguments(connector: Connector) -> Answer:
    """Look for a description of each argument: in its field, beside its type, or by its name in the tool's text."""
    known = [(t, t.function.node) for t in connector.tools if t.function and isinstance(t.function.node, Function)]
    taking = [(t, a) for t, node in known for a in parameters(node) if not is_injected(a, node)]
    if not known:
        return cannot_tell("No tool's function is known from the source.", connector.server.place)
    if not taking:
        return not_applicable("No tool takes an argument.")
    lacking = [(f"{t.name or 'a tool'} ({a.arg})", t.place) for t, a in taking if not _is_described(t, a)]
    return share(
        "arguments",
        len(taking),
        lacking,
        "Every argument is described.",
        "{lacking} of {total} arguments are described nowhere: {names}.",
        (known[0][0].place,),
    )


def _is_described(tool: Tool, argument: ast.arg) -> bool:
    assert tool.function is not None
    function = tool.function.node
    assert isinstance(function, Function)
    written = [n for n in (argument.annotation, default_of(function, argument.arg)) if n is not None]
    for part in written:
        for node in ast.walk(part):
            match node:
                case ast.Call(keywords=keywords) if any(k.arg == "description" for k in keywords):
                    return True
                case ast.Subscript(value=kind, slice=ast.Tuple(elts=[_, *notes])) if last_name(kind) == "Annotated":
                    if any(isinstance(n, ast.Constant | ast.JoinedStr | ast.Name | ast.Attribute) for n in notes):
                        return True
                case ast.Name(id=name) if name[:1].isupper() and name not in PLAIN_TYPES:
                    # A type of the project's own may describe its fields; only running it tells.
                    return True
    texts = [tool.description.value if tool.description is not None else "", ast.get_docstring(function) or ""]
    return any(mentions(text, argument.arg) for text in texts)


def _no_tools(connector: Connector) -> Answer:
    reason = (
        connector.undecided[0] if connector.undecided else (connector.server.place, "none is registered in the source")
    )
    return cannot_tell(f"No tool could be examined: {reason[1]}.", reason[0])


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN501", FAMILY, "Every tool says whether it changes anything",
        "Clients approve read-only tools by themselves; without the hint they ask a person each time.",
        "Give each tool read_only_hint, and destructive_hint where it writes.",
        says_read_only, essential=True,
    ),
    Rule(
        "CN502", FAMILY, "Every tool has a title and all four hints",
        "A hint that is left out has a default that says the opposite of what a read-only tool is.",
        "State title, read_only_hint, destructive_hint, idempotent_hint and open_world_hint.",
        says_all,
    ),
    Rule(
        "CN503", FAMILY, "Hints are ones the protocol knows",
        "A misspelt hint raises nothing and reaches nobody.",
        "Correct the name; put data of your own into meta.",
        no_unknown_hint,
    ),
    Rule(
        "CN504", FAMILY, "Every argument is described",
        "A model that has only a name to go by guesses the format and the limits.",
        "Write Annotated[str, Field(description=…)], or explain the argument by its name in the tool's text.",
        describes_arguments,
    ),
)  # fmt: skip
