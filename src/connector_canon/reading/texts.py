"""The text an expression stands for, as far as that is written down."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from connector_canon.findings import Place
from connector_canon.reading.files import text_of_file
from connector_canon.reading.modules import Function
from connector_canon.reading.project import (
    DEEPEST,
    Expression,
    Named,
    Outside,
    Project,
    Target,
    argument,
    last_name,
    own_nodes,
)

SHAPING: dict[str, Callable[[str], str]] = {
    "strip": str.strip,
    "lstrip": str.lstrip,
    "rstrip": str.rstrip,
    "lower": str.lower,
    "upper": str.upper,
}
CLEANING: dict[str, Callable[[str], str]] = {"dedent": textwrap.dedent, "cleandoc": inspect.cleandoc}
FILE_SUFFIXES = (".md", ".txt", ".rst")


@dataclass(frozen=True, slots=True)
class Text:
    """A text and whether all of it is known; the rest is made at run time."""

    value: str
    complete: bool
    place: Place | None = None


def text_of(project: Project, expression: Expression, depth: int = 0) -> Text | None:
    """Return the text an expression gives, or None when nothing of it is written down."""
    if depth > DEEPEST:
        return None
    node, module, scope = expression.node, expression.module, expression.scope

    def inner(part: ast.expr) -> Text | None:
        return text_of(project, Expression(part, module, scope), depth + 1)

    def here(value: str, complete: bool) -> Text:
        return Text(value, complete, Place(module.shown, node.lineno))

    match node:
        case ast.Constant(value=str() | int() | float() as value):
            return here(str(value), True)
        case ast.JoinedStr():
            return _joined([inner(v.value if isinstance(v, ast.FormattedValue) else v) for v in node.values], "", here)
        case ast.BinOp(op=ast.Add()):
            return _joined([inner(node.left), inner(node.right)], "", here)
        case ast.BinOp(op=ast.Mod()):
            left = inner(node.left)
            return left and here(left.value, False)
        case ast.Call(func=ast.Attribute(attr="join", value=glue), args=[parts]):
            separator, elements = inner(glue), project.elements(Expression(parts, module, scope), depth + 1)
            if separator is None or elements is None:
                return None
            return _joined([text_of(project, e, depth + 1) for e in elements], separator.value, here)
        case ast.Call(func=ast.Attribute(attr="read_text")):
            return _file_text(project, expression)
        case ast.Call(func=ast.Attribute(attr=name, value=base)) if name in SHAPING and not node.args:
            text = inner(base)
            return text and Text(SHAPING[name](text.value), text.complete, text.place)
        case ast.Call(func=ast.Attribute(attr="format" | "replace" | "format_map" | "substitute", value=base)):
            text = inner(base)
            return text and Text(text.value, False, text.place)
        case ast.Call() if last_name(node.func) in CLEANING and node.args:
            text = inner(node.args[0])
            return text and Text(CLEANING[last_name(node.func)](text.value), text.complete, text.place)
        case ast.Call():
            return _call_text(project, expression, depth)
        case ast.Attribute(attr="value", value=ast.Attribute() as member):
            return inner(member)
        case ast.Name() | ast.Attribute() | ast.IfExp() | ast.BoolOp() | ast.Await():
            return _first_text(project, project.follow(expression, depth + 1), expression, depth)
    return None


def _joined(parts: list[Text | None], separator: str, here: Callable[[str, bool], Text]) -> Text | None:
    known = [part for part in parts if part is not None]
    if not known:
        return None
    complete = len(known) == len(parts) and all(part.complete for part in known)
    return here(separator.join(part.value for part in known), complete)


def _first_text(project: Project, targets: list[Target], origin: Expression, depth: int) -> Text | None:
    texts = [
        text
        for target in targets
        if isinstance(target, Expression) and target.node is not origin.node
        if (text := text_of(project, target, depth + 1)) is not None
    ]
    if not texts:
        return None
    longest = max(texts, key=lambda text: len(text.value))
    return Text(longest.value, longest.complete and len({text.value for text in texts}) == 1, longest.place)


def _call_text(project: Project, expression: Expression, depth: int) -> Text | None:
    """Follow a function of the project to what it returns, else take the text it was handed."""
    assert isinstance(expression.node, ast.Call)
    passed = _passed_through(project, expression, depth)
    if passed is not None:
        return passed
    results: list[Target] = []
    for callee in project.callees(expression, depth):
        if isinstance(callee, Outside):
            return None
        if isinstance(callee, Named):
            results.extend(project.results(callee, depth + 1))
    text = _first_text(project, results, expression, depth)
    if text is not None:
        return Text(text.value, text.complete and not expression.node.args, text.place)
    handed = [
        text_of(project, Expression(a, expression.module, expression.scope), depth + 1) for a in expression.node.args
    ]
    known = [t for t in handed if t is not None]
    return Text(known[0].value, False, known[0].place) if known else None


def _passed_through(project: Project, expression: Expression, depth: int) -> Text | None:
    """Return the text a function of the project only hands back, as one that checks its length does."""
    assert isinstance(expression.node, ast.Call)
    for callee in project.callees(expression, depth):
        if not isinstance(callee, Named) or not isinstance(callee.node, Function):
            continue
        scope = callee.module.scopes[callee.node]
        returned = [n.value for n in own_nodes(callee.node) if isinstance(n, ast.Return)]
        names = {n.id for n in returned if isinstance(n, ast.Name) and scope.parameter(n.id) is not None}
        if len(names) == 1 and len(returned) == 1 and not names & scope.values.keys():
            handed = argument(expression.node, callee.node, names.pop())
            if handed is not None:
                return text_of(project, Expression(handed, expression.module, expression.scope), depth + 1)
    return None


def _file_text(project: Project, expression: Expression) -> Text | None:
    names = [
        n.value
        for n in ast.walk(expression.node)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value.endswith(FILE_SUFFIXES)
    ]
    for name in names:
        fitting = [p for p in project.others if p.as_posix().endswith("/" + name.lstrip("./"))]
        nearest = sorted(fitting, key=lambda p: (p.parent != expression.module.path.parent, len(p.parts)))
        for path in nearest[:1]:
            text = text_of_file(path)
            if text is not None:
                return Text(text, True, Place(project.folders.shown(path)))
    return None
