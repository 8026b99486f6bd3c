"""What tests compare with what: which side comes from the instructions, the tools, the codes, the descriptions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

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
TOUCHING = re.compile(r"nstructions|NSTRUCTIONS|description|README|docstring")
MOST_HELPERS = 40


@dataclass(slots=True)
class TestFunction:
    """One test function with what its comparisons are about."""

    __test__ = False

    name: str
    place: Place
    module: Module
    node: Function
    touches: set[str] = field(default_factory=set)
    differences: set[tuple[str, str]] = field(default_factory=set)
    asserted_filled: set[str] = field(default_factory=set)
    reads_live: bool = False
    reads_private: bool = False
    handed_over: set[str] = field(default_factory=set)

    @property
    def label(self) -> str:
        """The name and first docstring words that say what the test is for."""
        return f"{self.name} {(ast.get_docstring(self.node) or '')[:200]}".lower().replace(" ", "_")

    @property
    def is_weak_drift(self) -> bool:
        """Whether it fails when the instructions name a tool that is not registered."""
        if (INSTRUCTIONS, TOOLS) in self.differences:
            return True
        both = {INSTRUCTIONS, TOOLS} <= self.touches and bool({INSTRUCTIONS, TOOLS} & self.handed_over)
        return both and not self.differences and bool(WEAK_WORDS.search(self.label))

    @property
    def is_strong_drift(self) -> bool:
        """Whether it fails when a registered tool is not named in the instructions."""
        if (TOOLS, INSTRUCTIONS) in self.differences:
            return True
        both = {INSTRUCTIONS, TOOLS} <= self.touches and bool({INSTRUCTIONS, TOOLS} & self.handed_over)
        return both and not self.differences and bool(STRONG_WORDS.search(self.label))

    @property
    def is_code_drift(self) -> bool:
        """Whether it fails when a code is missing from a tool's description."""
        if (CODES, DESCRIPTIONS) in self.differences:
            return True
        both = {CODES, DESCRIPTIONS} <= self.touches and bool({CODES, DESCRIPTIONS} & self.handed_over)
        return both and not self.differences and bool(CODE_WORDS.search(self.name))


def drift_tests(project: Project) -> list[TestFunction]:
    """Analyse the test functions that touch instructions, descriptions or the README, themselves or by a helper."""
    suite = _Suite(project)
    found: list[TestFunction] = []
    for module in suite.modules:
        for defined in module.definitions:
            node = defined.node
            if isinstance(node, Function) and node.name.startswith("test") and suite.concerns(node, module):
                test = TestFunction(node.name, Place(module.shown, node.lineno), module, node)
                _Sides(project, suite, test).run()
                found.append(test)
    return found


class _Suite:
    """The test modules, and the fixtures and helpers in them that touch a text tools are named in."""

    def __init__(self, project: Project) -> None:
        self.modules = list(project.tests())
        self.fixtures: dict[str, list[Named]] = {}
        self.touching: dict[Module | None, set[str]] = {None: set()}
        for module in self.modules:
            lines = module.text.splitlines()
            shared = module.path.name == "conftest.py"
            for name, node in module.scope.definitions.items():
                if shared and isinstance(node, Function):
                    self.fixtures.setdefault(name, []).append(Named(node, module, module.scope))
                if TOUCHING.search("\n".join(lines[node.lineno - 1 : node.end_lineno])):
                    self.touching.setdefault(None if shared else module, set()).add(name)

    def concerns(self, node: Function, module: Module) -> bool:
        """Whether a test is worth following."""
        text = "\n".join(module.text.splitlines()[node.lineno - 1 : node.end_lineno])
        names = self.touching[None] | self.touching.get(module, set())
        return bool(TOUCHING.search(text)) or any(re.search(rf"\b{re.escape(n)}\b", text) for n in names)


class _Sides:
    """Follows where the two sides of each comparison in a test come from."""

    def __init__(self, project: Project, suite: _Suite, test: TestFunction) -> None:
        self.project = project
        self.suite = suite
        self.test = test
        self.seen: set[ast.AST] = set()

    def run(self) -> None:
        self._function(Named(self.test.node, self.test.module, self.test.module.scope))
        for parameter in self.test.node.args.args:
            self.test.touches |= labels_of_name(parameter.arg)

    def _function(self, named: Named) -> None:
        if named.node in self.seen or len(self.seen) > MOST_HELPERS:
            return
        self.seen.add(named.node)
        scope = named.module.scopes.get(named.node)
        if scope is None:
            return
        for node in ast.walk(named.node):
            self._note(node, named.module, scope)
        for name in {a.arg for a in named.node.args.args} if isinstance(named.node, Function) else ():
            for fixture in self._fixtures(name):
                self._function(fixture)

    def _fixtures(self, name: str) -> Iterator[Named]:
        definition = self.test.module.scope.definitions.get(name)
        if isinstance(definition, Function):
            yield Named(definition, self.test.module, self.test.module.scope)
        yield from self.suite.fixtures.get(name, ())

    def _note(self, node: ast.AST, module: Module, scope: Scope) -> None:
        def sides(left: ast.expr, right: ast.expr) -> None:
            for one in self._labels(left, module, scope):
                for other in self._labels(right, module, scope):
                    if one != other:
                        self.test.differences.add((one, other))

        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                self.test.touches |= labels_of_name(name)
                self.test.reads_live |= name in LIVE
                self.test.reads_private |= bool(PRIVATE.match(name))
            case ast.Constant(value=str() as text) if text in {"description", "instructions"}:
                self.test.touches |= labels_of_name(text)
            case ast.Constant(value=str() as text) if "README" in text:
                self.test.touches.add(README)
        match node:
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
                            self._function(callee)
                        for argument in node.args:
                            self.test.handed_over |= self._labels(argument, module, scope)
            case ast.Assert(test=ast.Name() | ast.Call() | ast.Attribute() | ast.Compare() as asserted):
                if not isinstance(asserted, ast.Compare) or isinstance(asserted.ops[0], ast.Gt | ast.GtE | ast.NotEq):
                    self.test.asserted_filled |= self._labels(asserted, module, scope)

    def _labels(self, node: ast.expr, module: Module, scope: Scope, depth: int = 0) -> set[str]:
        """Return where an expression's value comes from; the name decides only when nothing else does."""
        if depth > 6:
            return set()
        if isinstance(node, ast.Name):
            by_value = self._from_bindings(node.id, module, scope, depth)
            return by_value or labels_of_name(node.id)
        if isinstance(node, ast.Attribute):
            return labels_of_name(node.attr) or self._labels(node.value, module, scope, depth + 1)
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else ""
            return labels_of_name(str(key)) or self._labels(node.value, module, scope, depth + 1)
        if isinstance(node, ast.Call):
            found = labels_of_name(last_name(node.func))
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


def labels_of_name(name: str) -> set[str]:
    """Return what a name says it holds."""
    return {label for label, pattern in NAMED_LIKE if pattern.search(name)}
