"""What tests compare with what: which side comes from the instructions, the tools, the codes, the descriptions."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cache

from connector_canon.findings import Place
from connector_canon.reading.modules import Function, Module, Scope
from connector_canon.reading.project import Expression, Named, Project, last_name, own_nodes

INSTRUCTIONS = "instructions"
TOOLS = "tools"
CODES = "codes"
DESCRIPTIONS = "descriptions"
README = "readme"

NAMED_LIKE: tuple[tuple[str, re.Pattern[str]], ...] = (
    (INSTRUCTIONS, re.compile(r"instructions?$|mentioned|referenced", re.IGNORECASE)),
    (TOOLS, re.compile(r"^_?(?:list_tools|get_tools|_tool_manager|tools?|tool_names?|registered\w*|live_tools)$", re.IGNORECASE)),
    (CODES, re.compile(r"(?:^|_)codes?$", re.IGNORECASE)),
    (DESCRIPTIONS, re.compile(r"descriptions?$|docstring", re.IGNORECASE)),
    (README, re.compile(r"readme", re.IGNORECASE)),
)  # fmt: skip
LIVE = frozenset({"list_tools", "get_tools"})
PRIVATE = re.compile(r"^_(?:tool_manager|tools|list_tools|mcp_server|local_provider)$")
WEAK_WORDS = re.compile(
    r"ghost|phantom|unregistered|not_registered|unknown|orphan|nonexist|only_ref|no_tool_that|does_not_exist"
)
STRONG_WORDS = re.compile(r"every|each|all_|mention|unmentioned|silent|missing|named|strong")
CODE_WORDS = re.compile(r"code")
TOUCHING_WORDS = ("nstructions", "NSTRUCTIONS", "description", "README", "docstring")
MOST_HELPERS = 40


@dataclass(slots=True)
class Facts:
    """What one function of a test suite touches and compares."""

    touches: set[str] = field(default_factory=set)
    differences: set[tuple[str, str]] = field(default_factory=set)
    asserted_filled: set[str] = field(default_factory=set)
    handed_over: set[str] = field(default_factory=set)
    reads_live: bool = False
    reads_private: bool = False
    calls: list[Named] = field(default_factory=list)

    def add(self, other: Facts) -> None:
        """Take in what a helper or fixture does."""
        self.touches |= other.touches
        self.differences |= other.differences
        self.asserted_filled |= other.asserted_filled
        self.handed_over |= other.handed_over
        self.reads_live |= other.reads_live
        self.reads_private |= other.reads_private


@dataclass(slots=True)
class TestFunction:
    """One test function with what its comparisons are about, helpers and fixtures included."""

    __test__ = False

    place: Place
    module: Module
    node: Function
    facts: Facts

    @property
    def label(self) -> str:
        """The name and first docstring words that say what the test is for."""
        return f"{self.node.name} {(ast.get_docstring(self.node) or '')[:200]}".lower().replace(" ", "_")

    def _compares(self, one: str, other: str, words: re.Pattern[str]) -> bool:
        """Whether it looks for what `one` has and `other` lacks; a helper that is handed both is judged by the name."""
        facts = self.facts
        if (one, other) in facts.differences:
            return True
        handed = {one, other} <= facts.touches and bool({one, other} & facts.handed_over)
        return handed and not facts.differences and bool(words.search(self.label))

    @property
    def is_weak_drift(self) -> bool:
        """Whether it fails when the instructions name a tool that is not registered."""
        return self._compares(INSTRUCTIONS, TOOLS, WEAK_WORDS)

    @property
    def is_strong_drift(self) -> bool:
        """Whether it fails when a registered tool is not named in the instructions."""
        return self._compares(TOOLS, INSTRUCTIONS, STRONG_WORDS)

    @property
    def is_code_drift(self) -> bool:
        """Whether it fails when a code is missing from a tool's description."""
        return self._compares(CODES, DESCRIPTIONS, CODE_WORDS)


def drift_tests(project: Project) -> list[TestFunction]:
    """Analyse the test functions that touch instructions, descriptions or the README, themselves or by a helper."""
    suite = _Suite(project)
    return [
        TestFunction(
            Place(module.shown, node.lineno), module, node, suite.everything(Named(node, module, module.scope))
        )
        for module in suite.modules
        for defined in module.definitions
        if isinstance(node := defined.node, Function) and node.name.startswith("test") and suite.concerns(node, module)
    ]


class _Suite:
    """The test modules that touch a text tools are named in, with each function's facts gathered once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.fixtures: dict[str, list[Named]] = {}
        self.touching: dict[Module | None, set[str]] = {None: set()}
        self._facts: dict[ast.AST, Facts] = {}
        for module in project.tests("def "):
            if module.path.name == "conftest.py":
                self._note_definitions(module, None)
                for name, node in module.scope.definitions.items():
                    if isinstance(node, Function):
                        self.fixtures.setdefault(name, []).append(Named(node, module, module.scope))
        self.modules = list(project.tests(*TOUCHING_WORDS, *sorted(self.touching[None])))
        for module in self.modules:
            self._note_definitions(module, module)

    def _note_definitions(self, module: Module, owner: Module | None) -> None:
        for name, node in module.scope.definitions.items():
            if any(word in line for line in module.lines_of(node) for word in TOUCHING_WORDS):
                self.touching.setdefault(owner, set()).add(name)

    def concerns(self, node: Function, module: Module) -> bool:
        """Whether a test is worth following."""
        text = "\n".join(module.lines_of(node))
        if any(word in text for word in TOUCHING_WORDS):
            return True
        names = self.touching[None] | self.touching.get(module, set())
        return any(name in text and re.search(rf"\b{re.escape(name)}\b", text) for name in names)

    def everything(self, test: Named) -> Facts:
        """Return a test's facts together with those of the helpers and fixtures it uses."""
        together, waiting, seen = Facts(), [test], set[ast.AST]()
        while waiting and len(seen) < MOST_HELPERS:
            named = waiting.pop()
            if named.node in seen or not isinstance(named.node, Function):
                continue
            seen.add(named.node)
            if named.node not in self._facts:
                self._facts[named.node] = _Sides(self.project, named).facts
            facts = self._facts[named.node]
            together.add(facts)
            waiting.extend(facts.calls)
            for parameter in named.node.args.args:
                together.touches |= labels_of_name(parameter.arg)
                local = named.module.scope.definitions.get(parameter.arg)
                if isinstance(local, Function):
                    waiting.append(Named(local, named.module, named.module.scope))
                waiting.extend(self.fixtures.get(parameter.arg, ()))
        return together


class _Sides:
    """Follows where the two sides of each comparison in one function come from."""

    def __init__(self, project: Project, named: Named) -> None:
        self.project = project
        self.facts = Facts()
        scope = named.module.scopes[named.node]
        for node in ast.walk(named.node):
            self._note(node, named.module, scope)

    def _note(self, node: ast.AST, module: Module, scope: Scope) -> None:
        facts = self.facts

        def sides(left: ast.expr, right: ast.expr) -> None:
            for one in self._labels(left, module, scope):
                facts.differences |= {(one, other) for other in self._labels(right, module, scope) if one != other}

        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                facts.touches |= labels_of_name(name)
                facts.reads_live |= name in LIVE
                facts.reads_private |= bool(PRIVATE.match(name))
            case ast.Constant(value=str() as text) if text in {"description", "instructions"}:
                facts.touches |= labels_of_name(text)
            case ast.Constant(value=str() as text) if "README" in text:
                facts.touches.add(README)
            case ast.BinOp(op=ast.Sub()):
                sides(node.left, node.right)
            case ast.Compare(ops=[ast.In() | ast.NotIn() | ast.LtE() | ast.Lt()]):
                sides(node.left, node.comparators[0])
            case ast.Compare(ops=[ast.GtE() | ast.Gt()]):
                sides(node.comparators[0], node.left)
            case ast.Call(func=ast.Attribute(attr="issubset" | "difference", value=left), args=[right, *_]):
                sides(left, right)
            case ast.Call(func=ast.Attribute(attr="search" | "findall" | "fullmatch"), args=[pattern, text_node, *_]):
                sides(pattern, text_node)
            case ast.Call():
                for callee in self.project.callees(Expression(node, module, scope)):
                    if isinstance(callee, Named) and isinstance(callee.node, Function):
                        if callee.module.is_test:
                            facts.calls.append(callee)
                        for handed in node.args:
                            facts.handed_over |= self._labels(handed, module, scope)
            case ast.Assert(test=ast.Name() | ast.Call() | ast.Attribute() | ast.Compare() as asserted):
                if not isinstance(asserted, ast.Compare) or isinstance(asserted.ops[0], ast.Gt | ast.GtE | ast.NotEq):
                    facts.asserted_filled |= self._labels(asserted, module, scope)

    def _labels(self, node: ast.expr, module: Module, scope: Scope, depth: int = 0) -> set[str]:
        """Return where an expression's value comes from; the name decides only when nothing else does."""
        if depth > 6:
            return set()
        if isinstance(node, ast.Name):
            by_value = self._from_bindings(node.id, module, scope, depth)
            return by_value or self._named_like(node.id)
        if isinstance(node, ast.Attribute):
            return self._named_like(node.attr) or self._labels(node.value, module, scope, depth + 1)
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else ""
            return self._named_like(str(key)) or self._labels(node.value, module, scope, depth + 1)
        if isinstance(node, ast.Call):
            found = self._named_like(last_name(node.func))
            if not found and isinstance(node.func, ast.Attribute):
                found = self._labels(node.func.value, module, scope, depth + 1)
            if not found:
                for argument in node.args:
                    found |= self._labels(argument, module, scope, depth + 1)
            if not found:
                for callee in self.project.callees(Expression(node, module, scope)):
                    if isinstance(callee, Named) and isinstance(callee.node, Function):
                        found |= self._returned(callee, depth)
            return found
        if isinstance(node, ast.SetComp | ast.ListComp | ast.GeneratorExp):
            return self._labels(node.generators[0].iter, module, scope, depth + 1)
        if isinstance(node, ast.DictComp):
            return self._labels(node.value, module, scope, depth + 1) | self._labels(
                node.generators[0].iter, module, scope, depth + 1
            )
        if isinstance(node, ast.BoolOp):
            return self._labels(node.values[0], module, scope, depth + 1)
        return {
            label
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.expr)
            for label in self._labels(child, module, scope, depth + 1)
        }

    def _from_bindings(self, name: str, module: Module, scope: Scope, depth: int) -> set[str]:
        holder: Scope | None = scope
        while holder is not None:
            if name in holder.values:
                return {
                    label for value in holder.values[name] for label in self._labels(value, module, holder, depth + 1)
                }
            if name in holder.loops:
                return self._labels(holder.loops[name][1], module, holder, depth + 1)
            holder = holder.parent
        return set()

    def _returned(self, callee: Named, depth: int) -> set[str]:
        scope = callee.module.scopes.get(callee.node)
        if scope is None:
            return set()
        return {
            label
            for node in own_nodes(callee.node)
            if isinstance(node, ast.Return) and node.value is not None
            for label in self._labels(node.value, callee.module, scope, depth + 2)
        }

    @staticmethod
    def _named_like(name: str) -> set[str]:
        return set(labels_of_name(name))


@cache
def labels_of_name(name: str) -> frozenset[str]:
    """Return what a name says it holds."""
    return frozenset(label for label, pattern in NAMED_LIKE if pattern.search(name))
