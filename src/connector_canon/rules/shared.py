"""What several families look for: strings in code, mentions as whole words, shares of a total."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from connector_canon.findings import Answer, Coverage, Place, absent, present
from connector_canon.reading.modules import Module

MOST_PLACES = 50
CODES = ("not_found", "invalid_input", "upstream_unavailable", "rate_limited", "forbidden", "partial_result")


def mentions(text: str, name: str) -> bool:
    """Whether a name stands in a text as a whole word, alone or as `name(…)`."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def place(module: Module, node: ast.AST) -> Place:
    """Return where a node stands."""
    return Place(module.shown, getattr(node, "lineno", 1))


def guards(module: Module, node: ast.AST) -> list[ast.If]:
    """Return the conditions that must hold for a node to be reached."""
    line = getattr(node, "lineno", 0)
    return [n for n in module.nodes(ast.If) if n.body[0].lineno <= line <= (n.body[-1].end_lineno or 0)]


def values_of(module: Module, name: str) -> list[ast.expr]:
    """Return what is bound to a name anywhere in a module."""
    return [v for s in [module.scope, *module.scopes.values()] for v in s.values.get(name, ())]


def codes_in(text: str) -> list[str]:
    """Return the codes a text names; a code that is a word of its own counts beside others or in backticks."""
    certain = [code for code in CODES if "_" in code and mentions(text, code)]
    return certain + [c for c in CODES if "_" not in c and mentions(text, c) and (len(certain) > 1 or f"`{c}`" in text)]


def strings_matching(modules: Iterable[Module], pattern: str) -> list[Place]:
    """Return where a string constant in code matches a pattern whole."""
    wanted = re.compile(pattern)
    return [Place(m.shown, line) for m in modules for value, line in m.strings() if wanted.fullmatch(value)]


def literal_strings(node: ast.expr) -> list[str]:
    """Return the strings of a written-out collection, also inside frozenset(…), Literal[…] and dict keys."""
    match node:
        case ast.Set(elts=elements) | ast.Tuple(elts=elements) | ast.List(elts=elements):
            return [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        case ast.Dict(values=values) if (
            values and all(_is_text(v) for v in values) and not any(map(_is_text, node.keys))
        ):
            return list(
                dict.fromkeys(v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str))
            )
        case ast.Dict(keys=keys):
            return [k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        case ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple" | "list"), args=[inner]):
            return literal_strings(inner)
        case ast.Subscript(slice=inner):
            return literal_strings(inner)
        case ast.BinOp(left=left, right=right):
            return literal_strings(left) + literal_strings(right)
    return []


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def named_collections(module: Module) -> Iterator[tuple[str, list[str], ast.AST]]:
    """Yield each named collection of strings in a module: assignments, Literal aliases and enumerations."""
    parsed = module.parsed()
    for scope in [parsed.scope, *parsed.scopes.values()]:
        for name, values in scope.values.items():
            for value in values:
                strings = literal_strings(value)
                if strings:
                    yield name, strings, value
    for node in parsed.nodes(ast.ClassDef):
        if any("Enum" in ast.unparse(base) for base in node.bases):
            values_of = [s.value for s in node.body if isinstance(s, ast.Assign)]
            strings = [v.value for v in values_of if isinstance(v, ast.Constant) and isinstance(v.value, str)]
            if strings:
                yield node.name, strings, node


def share(
    unit: str, total: int, lacking: list[tuple[str, Place]], good: str, bad: str, whole: tuple[Place, ...] = ()
) -> Answer:
    """Answer with how many of a total are as they should be; `bad` has a place for the names that are not."""
    coverage = Coverage(unit, total, total - len(lacking))
    if not lacking:
        return present(good, *whole, coverage=coverage)
    named = list(dict.fromkeys(name for name, _ in lacking))
    names = ", ".join(named[:6]) + (f" and {len(named) - 6} more" if len(named) > 6 else "")
    places = tuple(dict.fromkeys(p for _, p in lacking))[:MOST_PLACES]
    return absent(bad.format(names=names, lacking=len(lacking), total=total), *places, coverage=coverage)
