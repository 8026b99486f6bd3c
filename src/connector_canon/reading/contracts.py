"""Test suites that one and the same set of tests runs over several classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from connector_canon.findings import Place
from connector_canon.reading.modules import Function, Module, Scope
from connector_canon.reading.project import Expression, Named, Project, last_name

DEEPEST = 6
VIEWS = frozenset({"values", "items", "keys", "list", "tuple", "sorted", "set", "iter"})


@dataclass(slots=True)
class Contracts:
    """Looks in a project's tests for the places that hand several of some classes to the same tests."""

    project: Project
    names: Set[str]
    fixtures: dict[str, Named] = field(init=False)

    def __post_init__(self) -> None:
        self.fixtures = {
            name: Named(node, module, module.scope)
            for module in self.project.tests("def ")
            if module.path.name == "conftest.py"
            for name, node in module.scope.definitions.items()
        }

    def place(self) -> Place | None:
        """Return where the first such suite stands: by parameters, or by a class of tests that others inherit."""
        return next(self._parametrised(), None) or next(self._inherited(), None)

    def _parametrised(self) -> Iterator[Place]:
        for module in self.project.tests("parametrize", "params"):
            decorated = {id(d): defined.node for defined in module.definitions for d in defined.node.decorator_list}
            for site in module.calls:
                given = {k.arg: k.value for k in site.call.keywords}
                values, made = None, list[ast.AST]()
                if last_name(site.call.func) == "fixture":
                    values = given.get("params")
                    made += [decorated[id(site.call)]] if id(site.call) in decorated else []
                elif last_name(site.call.func) == "parametrize":
                    values = given.get("argvalues", site.call.args[1] if len(site.call.args) > 1 else None)
                    arguments = given.get("argnames", site.call.args[0] if site.call.args else None)
                    made += [arguments] if arguments is not None and "indirect" in given else []
                if values is not None and self._are_several(values, module, site.scope, made):
                    yield Place(module.shown, site.call.lineno)

    def _are_several(self, values: ast.expr, module: Module, scope: Scope, made: list[ast.AST]) -> bool:
        """Whether two parameters lead to two of the classes, by themselves or by the fixture that takes them."""
        elements = self._elements(Expression(values, module, scope))
        if len(elements) < 2:
            return False
        named = [self._classes(element.node, element.module, element.scope) for element in elements]
        if sum(map(bool, named)) >= 2 and len(set[str]().union(*named)) >= 2:
            return True
        plain = all(isinstance(element.node, ast.Constant) for element in elements)
        return plain and len(set[str]().union(*(self._classes(node, module, scope) for node in made))) >= 2

    def _elements(self, expression: Expression, depth: int = 0) -> list[Expression]:
        node, module, scope = expression.node, expression.module, expression.scope
        match node:
            case ast.Tuple() | ast.List() | ast.Set():
                return [
                    found
                    for element in node.elts
                    for found in (
                        self._elements(Expression(element.value, module, scope), depth + 1)
                        if isinstance(element, ast.Starred) and depth < DEEPEST
                        else [Expression(element, module, scope)]
                    )
                ]
            case ast.Dict():
                pairs = zip(node.keys, node.values, strict=True)
                return [
                    Expression(ast.Tuple([p for p in pair if p is not None], ast.Load()), module, scope)
                    for pair in pairs
                ]
            case ast.BinOp() if depth < DEEPEST:
                return [
                    found
                    for side in (node.left, node.right)
                    for found in self._elements(Expression(side, module, scope), depth + 1)
                ]
            case ast.Call(func=func) if last_name(func) in VIEWS and depth < DEEPEST:
                inner = node.args[-1] if node.args else func.value if isinstance(func, ast.Attribute) else None
                return [] if inner is None else self._elements(Expression(inner, module, scope), depth + 1)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() if depth < DEEPEST:
                return self._elements(Expression(node.generators[0].iter, module, scope), depth + 1)
            case ast.Name() | ast.Attribute() if depth < DEEPEST:
                return [
                    found
                    for target in self.project.follow(expression)
                    if isinstance(target, Expression) and target.node is not node
                    for found in self._elements(target, depth + 1)
                ]
        return []

    def _classes(
        self, node: ast.AST, module: Module, scope: Scope, depth: int = 0, seen: frozenset[ast.AST] = frozenset()
    ) -> set[str]:
        """Return which of the classes an expression or a function of the tests leads to."""
        found: set[str] = set()
        for inner in ast.walk(node):
            match inner:
                case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str() as word):
                    pass
                case _:
                    continue
            original = module.scope.imports.get(word, word).rpartition(".")[2]
            if original in self.names and not isinstance(inner, ast.Constant):
                found.add(original)
                continue
            if depth >= DEEPEST:
                continue
            for target in self._leading(inner, word, module, scope):
                if target.module.is_test and target.node not in seen:
                    found |= self._classes(
                        target.node, target.module, target.module.scope, depth + 1, seen | {target.node}
                    )
        return found

    def _leading(self, node: ast.AST, word: str, module: Module, scope: Scope) -> Iterator[Expression | Named]:
        if isinstance(node, ast.Constant):
            # A string may be the name of a fixture, here or in a conftest.py.
            for name in (part.strip() for part in word.split(",")):
                if isinstance(defined := module.scope.definitions.get(name), Function):
                    yield Named(defined, module, module.scope)
                elif name in self.fixtures:
                    yield self.fixtures[name]
        elif isinstance(node, ast.Name):
            for target in self.project.bound(word, module, scope):
                if isinstance(target, Expression | Named):
                    yield target

    def _inherited(self) -> Iterator[Place]:
        """Yield the classes of tests from which others inherit that name one of the classes each."""
        heirs: dict[str, list[set[str]]] = {}
        shared: dict[str, Place] = {}
        for module in self.project.tests("class "):
            for defined in module.definitions:
                node = defined.node
                if not isinstance(node, ast.ClassDef):
                    continue
                if any(isinstance(s, Function) and s.name.startswith("test") for s in node.body):
                    shared[node.name] = Place(module.shown, node.lineno)
                for base in node.bases:
                    heirs.setdefault(last_name(base), []).append(self._classes(node, module, module.scope))
        for name, place in shared.items():
            named = heirs.get(name, [])
            if sum(map(bool, named)) >= 2 and len(set[str]().union(*named)) >= 2:
                yield place
