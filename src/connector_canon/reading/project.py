"""A project's modules, and which definition a name in one of them stands for."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from connector_canon.reading.files import Folders, TimeLimit, text_of_file, walk
from connector_canon.reading.modules import Defined, Definition, Function, Module, Scope, Site

DEEPEST = 24
MOST_TARGETS = 400
NEVER_OF_A_PROJECT = sys.stdlib_module_names | {"mcp", "mcp_types", "fastmcp"}
ALIASED = re.compile(r"\b(\w+) as (\w+)")
TRANSPARENT_CALLS = frozenset({"tuple", "list", "sorted", "set", "frozenset", "reversed", "cast"})


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression together with where its names are looked up."""

    node: ast.expr
    module: Module
    scope: Scope


@dataclass(frozen=True, slots=True)
class Named:
    """A function or class that a name stands for."""

    node: Definition
    module: Module
    scope: Scope


@dataclass(frozen=True, slots=True)
class Whole:
    """A module of the project that a name stands for."""

    module: Module


@dataclass(frozen=True, slots=True)
class Outside:
    """A dotted name that leads out of the project."""

    dotted: str


Target = Expression | Named | Whole | Outside


@dataclass(slots=True)
class Project:
    """Every Python file of a project, parsed when first needed, and the names between them."""

    folders: Folders
    limit: TimeLimit
    modules: list[Module] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    _by_parts: dict[tuple[str, ...], Module] = field(default_factory=dict)
    _by_tail: dict[str, list[Module]] = field(default_factory=dict)
    _calls: dict[str, list[Site]] = field(default_factory=dict)
    _calls_in: dict[Module, dict[str, list[Site]]] = field(default_factory=dict)
    _aliases: dict[str, set[str]] | None = None
    _attributes: dict[Expression, list[Target]] = field(default_factory=dict)
    _bound: dict[tuple[str, Module, Scope | None], list[Target]] = field(default_factory=dict)

    @classmethod
    def read(cls, folders: Folders, limit: TimeLimit) -> Project:
        """Read every file below the project's folder; raises CannotLook when that takes too long."""
        project = cls(folders, limit)
        for path in walk(folders.project, limit):
            if path.suffix != ".py":
                project.others.append(path)
                continue
            limit.check()
            text = text_of_file(path)
            if text is None:
                project.unreadable.append(folders.shown(path))
                continue
            project.add(path, text)
        return project

    def add(self, path: Path, text: str) -> Module:
        """Take one file in."""
        relative = path.relative_to(self.folders.repository)
        parts = relative.with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        # What was named is looked at for itself, even below a folder of tests.
        named = self.folders.target if self.folders.target.is_dir() else self.folders.target.parent
        is_test = is_test_path(path.relative_to(named if path.is_relative_to(named) else self.folders.project))
        module = Module(path, relative.as_posix(), parts, text, is_test)
        self.modules.append(module)
        self._by_parts[parts] = module
        self._by_tail.setdefault(parts[-1] if parts else "", []).append(module)
        return module

    def sources(self, *words: str) -> Iterator[Module]:
        """Yield the parsed modules that are no tests and mention one of the words (all without words)."""
        yield from self._parsed((m for m in self.modules if not m.is_test), words)

    def tests(self, *words: str) -> Iterator[Module]:
        """Yield the parsed test modules that mention one of the words."""
        yield from self._parsed((m for m in self.modules if m.is_test), words)

    def _parsed(self, modules: Iterator[Module], words: tuple[str, ...]) -> Iterator[Module]:
        for module in modules:
            if not words or module.mentions(*words):
                self.limit.check()
                yield module.parsed()

    def _calls_under_any_name(self, name: str) -> list[Site]:
        if self._aliases is None:
            self._aliases = {}
            for module in self.modules:
                if not module.is_test and " as " in module.text:
                    for original, alias in ALIASED.findall(module.text):
                        self._aliases.setdefault(original, set()).add(alias)
        return [site for known in (name, *sorted(self._aliases.get(name, ()))) for site in self.calls_named(known)]

    def module_named(self, dotted: str, near: Module) -> Module | None:
        """Find the module that a dotted import name leads to, the nearest one where several would do.

        A name that begins with a dot is the module's whole path below the repository.
        """
        if dotted.startswith("."):
            exact = self._by_parts.get(tuple(part for part in dotted.split(".") if part))
            return None if exact is None else exact.parsed()
        parts = tuple(dotted.split("."))
        if parts[0] in NEVER_OF_A_PROJECT:
            return None
        fitting = [m for m in self._by_tail.get(parts[-1], ()) if m.parts[-len(parts) :] == parts]
        if not fitting:
            return None
        return max(fitting, key=lambda m: (shared_head(m.parts, near.parts), -len(m.parts))).parsed()

    def calls_named(self, name: str) -> list[Site]:
        """Return the calls, outside tests, of anything with that last name."""
        if name not in self._calls:
            self._calls[name] = [site for m in self.sources(name) for site in self._calls_of(m).get(name, ())]
        return self._calls[name]

    def _calls_of(self, module: Module) -> dict[str, list[Site]]:
        if module not in self._calls_in:
            named = self._calls_in[module] = {}
            for site in module.calls:
                named.setdefault(last_name(site.call.func), []).append(site)
        return self._calls_in[module]

    def imported(self, dotted: str, near: Module, depth: int = 0) -> list[Target]:
        """Return what an imported dotted name stands for."""
        if depth > DEEPEST:
            return []
        module = self.module_named(dotted, near)
        if module is not None:
            return [Whole(module)]
        head, _, name = dotted.rpartition(".")
        if head:
            holders = self.imported(head, near, depth + 1)
            targets = [t for h in holders if isinstance(h, Whole) for t in self.member(h.module, name, depth + 1)]
            if targets:
                return targets
        return [Outside(dotted)]

    def member(self, module: Module, name: str, depth: int = 0) -> list[Target]:
        """Return what a module's attribute stands for."""
        scope = module.parsed().scope
        found = self.bound(name, module, scope, depth)
        if not found:
            for origin in scope.star_imports:
                source = self.module_named(origin, module)
                if source is not None and source is not module and depth < DEEPEST:
                    found = self.member(source, name, depth + 1)
                    if found:
                        break
        return found

    def bound(self, name: str, module: Module, scope: Scope | None, depth: int = 0) -> list[Target]:
        """Return what a name stands for in a scope, looking outwards; a name that stands for itself is left out."""
        key = (name, module, scope)
        if key not in self._bound:
            self._bound[key] = []
            self._bound[key] = list(dict.fromkeys(self._look_up(name, module, scope, depth)))[:MOST_TARGETS]
        return self._bound[key]

    def _look_up(self, name: str, module: Module, scope: Scope | None, depth: int) -> list[Target]:
        start = scope
        self.limit.check()
        while scope is not None:
            if not (isinstance(scope.node, ast.ClassDef) and scope is not start):
                if name in scope.located:
                    return self.follow(Expression(*scope.located[name]), depth + 1)
                if name in scope.values:
                    return [
                        t
                        for value in scope.values[name]
                        for t in self.follow(Expression(value, module, scope), depth + 1)
                    ]
                if name in scope.definitions:
                    return [Named(scope.definitions[name], module, scope)]
                if name in scope.imports:
                    return self.imported(scope.imports[name], module, depth + 1)
                if name in scope.loops:
                    return self._looped(name, module, scope, depth)
                if scope.parameter(name) is not None:
                    return self._argument(name, module, scope, depth)
            scope = scope.parent
        return []

    def follow(self, expression: Expression, depth: int = 0) -> list[Target]:
        """Follow names, attributes and choices until something that is not a name.

        A call, a literal or anything else stays as it is; what leads nowhere is left out.
        """
        node, module, scope = expression.node, expression.module, expression.scope
        if depth > DEEPEST:
            return []
        match node:
            case ast.Name():
                return self.bound(node.id, module, scope, depth + 1)
            case ast.Attribute():
                if expression not in self._attributes:
                    self._attributes[expression] = []
                    found = self._attribute(node, expression, depth)
                    self._attributes[expression] = list(dict.fromkeys(found))[:MOST_TARGETS]
                return self._attributes[expression]
            case ast.Call(func=ast.Name(id="getattr"), args=[holder, name, *_]):
                return self._named_attribute(holder, name, expression, depth) or [expression]
            case ast.IfExp():
                choices = [node.body, node.orelse]
            case ast.BoolOp():
                choices = list(node.values)
            case ast.Await() | ast.Starred() | ast.NamedExpr():
                choices = [node.value]
            case _:
                return [expression]
        return [t for choice in choices for t in self.follow(Expression(choice, module, scope), depth + 1)]

    def _named_attribute(self, holder: ast.expr, name: ast.expr, where: Expression, depth: int) -> list[Target]:
        """Follow `getattr(holder, name)` where the name is written somewhere."""
        return [
            found
            for target in self.follow(Expression(name, where.module, where.scope), depth + 1)
            if isinstance(target, Expression)
            and isinstance(target.node, ast.Constant)
            and isinstance(target.node.value, str)
            for attribute in [ast.Attribute(value=holder, attr=target.node.value, ctx=ast.Load())]
            for found in self.follow(
                Expression(ast.copy_location(attribute, holder), where.module, where.scope), depth + 1
            )
        ]

    def results(self, target: Target, depth: int = 0) -> list[Target]:
        """Return what calling a function of the project gives, by its return statements."""
        if not isinstance(target, Named) or not isinstance(target.node, Function) or depth > DEEPEST:
            return []
        scope = target.module.scopes[target.node]
        returned = [n.value for n in own_nodes(target.node) if isinstance(n, ast.Return) and n.value is not None]
        yielded = [n.value for n in own_nodes(target.node) if isinstance(n, ast.Yield) and n.value is not None]
        return [
            t for value in returned + yielded for t in self.follow(Expression(value, target.module, scope), depth + 1)
        ]

    def callees(self, site: Site | Expression, depth: int = 0) -> list[Target]:
        """Return what is called, generics stripped."""
        func: ast.expr = site.call.func if isinstance(site, Site) else _callee(site.node)
        while isinstance(func, ast.Subscript):
            func = func.value
        return self.follow(Expression(func, site.module, site.scope), depth + 1)

    def elements(self, expression: Expression, depth: int = 0) -> list[Expression] | None:
        """Return the elements of a collection that is written out, or None when only running it would tell."""
        if depth > DEEPEST:
            return None
        node, module, scope = expression.node, expression.module, expression.scope

        def below(inner: ast.expr) -> list[Expression] | None:
            return self.elements(Expression(inner, module, scope), depth + 1)

        match node:
            case ast.Tuple() | ast.List() | ast.Set():
                gathered: list[Expression] = []
                for element in node.elts:
                    if isinstance(element, ast.Starred):
                        inner = below(element.value)
                        if inner is None:
                            return None
                        gathered.extend(inner)
                    else:
                        gathered.append(Expression(element, module, scope))
                return gathered
            case ast.Dict():
                return [Expression(key, module, scope) for key in node.keys if key is not None]
            case ast.BinOp(op=ast.Add() | ast.BitOr()):
                left, right = below(node.left), below(node.right)
                return None if left is None or right is None else left + right
            case ast.Call(func=ast.Attribute(attr="items", value=mapping), args=[]):
                return self._pairs(Expression(mapping, module, scope), depth)
            case ast.Call(func=ast.Attribute(attr="values", value=mapping), args=[]):
                pairs = self._pairs(Expression(mapping, module, scope), depth)
                return None if pairs is None else [
                    Expression(p.node.elts[1], p.module, p.scope) for p in pairs if isinstance(p.node, ast.Tuple)
                ]  # fmt: skip
            case ast.Call(func=ast.Name(id=name), args=[*_, inner_node]) if name in TRANSPARENT_CALLS:
                return below(inner_node)
            case ast.Call():
                results = [r for callee in self.callees(expression, depth) for r in self.results(callee, depth + 1)]
                return self._joined(results, depth)
            case ast.Name():
                return self._named_elements(expression, depth)
            case ast.Attribute():
                return self._joined(self.follow(expression, depth + 1), depth)
        return None

    def _joined(self, targets: list[Target], depth: int) -> list[Expression] | None:
        gathered: list[Expression] = []
        for target in targets:
            inner = self.elements(target, depth + 1) if isinstance(target, Expression) else None
            if inner is None:
                return None
            gathered.extend(inner)
        return gathered if targets else None

    def _named_elements(self, expression: Expression, depth: int) -> list[Expression] | None:
        assert isinstance(expression.node, ast.Name)
        targets = self.follow(expression, depth + 1)
        written = self._joined(targets, depth)
        holders = {t.module for t in targets if isinstance(t, Expression)}
        names = {expression.node.id} | {
            name
            for t in targets
            if isinstance(t, Expression)
            for name, values in t.scope.values.items()
            if t.node in values
        }
        registered = [e for module in holders for name in sorted(names) for e in self._appended(module, name)]
        if written is None and not registered:
            return None
        return (written or []) + registered

    def _appended(self, module: Module, name: str) -> list[Expression]:
        """Follow a registry: what is appended to it, directly or by a decorator that does."""
        gathered: list[Expression] = []
        adding: list[tuple[ast.expr, Scope, Module]] = []
        for other in self.sources(name):
            for site in other.calls:
                match site.call:
                    case ast.Call(func=ast.Attribute(attr="append" | "add", value=ast.Name(id=owner)), args=[item]) if (
                        owner == name and (other is module or self.bound(name, other, site.scope))
                    ):
                        adding.append((item, site.scope, other))
            if other is module:
                adding.extend((value, scope, other) for value, scope in _stored_items(other, name))
        for item, scope, other in adding:
            holder = next((s for s in outwards(scope) if isinstance(item, ast.Name) and s.parameter(item.id)), None)
            if holder is None:
                gathered.append(Expression(item, other, scope))
                continue
            outer = [s.node for s in outwards(holder) if isinstance(s.node, Function)]
            gathered.extend(
                Expression(ast.copy_location(ast.Name(id=d.node.name, ctx=ast.Load()), d.node), d.module, d.scope)
                for d in self._decorated_with([n.name for n in outer if n is not None])
            )
        return gathered

    def _decorated_with(self, names: list[str]) -> Iterator[Defined]:
        for module in self.sources(*names):
            for defined in module.definitions:
                for decorator in defined.node.decorator_list:
                    if last_name(decorator.func if isinstance(decorator, ast.Call) else decorator) in names:
                        yield defined

    def _pairs(self, mapping: Expression, depth: int) -> list[Expression] | None:
        gathered: list[Expression] = []
        targets = self.follow(mapping, depth + 1)
        for target in targets:
            if not (isinstance(target, Expression) and isinstance(target.node, ast.Dict)):
                return None
            for key, value in zip(target.node.keys, target.node.values, strict=True):
                if key is None:
                    return None
                pair = ast.copy_location(ast.Tuple(elts=[key, value], ctx=ast.Load()), value)
                gathered.append(Expression(pair, target.module, target.scope))
        return gathered if targets else None

    def _looped(self, name: str, module: Module, scope: Scope, depth: int) -> list[Target]:
        target, iterable = scope.loops[name]
        elements = self.elements(Expression(iterable, module, scope), depth + 1) or []
        gathered: list[Target] = []
        for element in elements[:MOST_TARGETS]:
            gathered.extend(
                t for bound, value in unpacked(target, element) if bound == name for t in self.follow(value, depth + 1)
            )
        return gathered

    def _argument(self, name: str, module: Module, scope: Scope, depth: int) -> list[Target]:
        """Follow a parameter to what its callers pass for it, else to its default."""
        function = scope.node
        assert isinstance(function, Function)
        gathered: list[Target] = []
        owner = scope.parent.node if scope.parent is not None else None
        called = owner.name if function.name == "__init__" and isinstance(owner, ast.ClassDef) else function.name
        for site in self._calls_under_any_name(called):
            passed = argument(site.call, function, name)
            if passed is None or not self._may_call(site, function, owner, depth):
                continue
            gathered.extend(self.follow(Expression(passed, site.module, site.scope), depth + 1))
        if not gathered:
            default = default_of(function, name)
            if default is not None:
                gathered.extend(self.follow(Expression(default, module, scope.parent or scope), depth + 1))
        return gathered

    def _may_call(self, site: Site, function: Function, owner: ast.AST | None, depth: int) -> bool:
        callees = self.callees(site, depth)
        named = [c for c in callees if isinstance(c, Named)]
        if not named:
            return isinstance(site.call.func, ast.Attribute) and not any(isinstance(c, Outside) for c in callees)
        return any(c.node is function or c.node is owner for c in named)

    def _attribute(self, node: ast.Attribute, expression: Expression, depth: int) -> list[Target]:
        module, scope = expression.module, expression.scope
        if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
            holder = next((s for s in outwards(scope) if isinstance(s.node, ast.ClassDef)), None)
            if holder is not None and isinstance(holder.node, ast.ClassDef):
                return self._class_member(Named(holder.node, module, holder), node.attr, depth)
        bases = self.follow(Expression(node.value, module, scope), depth + 1)
        gathered: list[Target] = []
        for base in bases:
            match base:
                case Whole(module=inner):
                    gathered.extend(self.member(inner, node.attr, depth + 1))
                case Outside(dotted=dotted):
                    gathered.append(Outside(f"{dotted}.{node.attr}"))
                case Named(node=ast.ClassDef()):
                    gathered.extend(self._class_member(base, node.attr, depth))
                case Expression(node=ast.Call()):
                    for callee in self.callees(base, depth):
                        if isinstance(callee, Named) and isinstance(callee.node, ast.ClassDef):
                            gathered.extend(self._class_member(callee, node.attr, depth))
        return gathered or [expression]

    def _class_member(self, holder: Named, name: str, depth: int) -> list[Target]:
        assert isinstance(holder.node, ast.ClassDef)
        scope = holder.module.scopes.get(holder.node)
        if scope is not None:
            if name in scope.definitions:
                return [Named(scope.definitions[name], holder.module, scope)]
            if name in scope.values:
                return self.bound(name, holder.module, scope, depth + 1)
        assigned = holder.module.attribute_values.get((holder.node.name, name), [])
        found = [t for value, s in assigned for t in self.follow(Expression(value, holder.module, s), depth + 1)]
        if found or depth > DEEPEST:
            return found
        for base in holder.node.bases:
            for target in self.follow(Expression(base, holder.module, holder.scope), depth + 1):
                if isinstance(target, Named) and isinstance(target.node, ast.ClassDef):
                    found.extend(self._class_member(target, name, depth + 1))
        return found


def _callee(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _stored_items(module: Module, name: str) -> Iterator[tuple[ast.expr, Scope]]:
    """Yield what `NAME[…] = item` stores."""
    assert module.tree is not None
    for scope in [module.scope, *module.scopes.values()]:
        body = getattr(scope.node, "body", [])
        for node in body if isinstance(body, list) else []:
            match node:
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=owner))], value=value) if owner == name:
                    yield value, scope


def outwards(scope: Scope | None) -> Iterator[Scope]:
    """Yield a scope and those around it."""
    while scope is not None:
        yield scope
        scope = scope.parent


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function that are not inside another function or class."""
    stack = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop(0)
        yield node
        if not isinstance(node, Definition | ast.Lambda):
            stack[:0] = ast.iter_child_nodes(node)


def last_name(node: ast.expr) -> str:
    """Return the last name of a dotted expression, generics stripped; empty when it has none."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def unpacked(target: ast.expr, element: Expression) -> Iterator[tuple[str, Expression]]:
    """Yield each name of a loop's target with the part of the element that it takes."""
    if isinstance(target, ast.Name):
        yield target.id, element
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(element.node, ast.Tuple | ast.List):
        for place, part in zip(target.elts, element.node.elts, strict=False):
            yield from unpacked(place, Expression(part, element.module, element.scope))


def argument(call: ast.Call, function: Function, name: str) -> ast.expr | None:
    """Return what a call passes for a parameter."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if names and names[0] in {"self", "cls"}:
        names = names[1:]
    if name in names and names.index(name) < len(call.args):
        passed = call.args[names.index(name)]
        return None if isinstance(passed, ast.Starred) else passed
    return None


def default_of(function: Function, name: str) -> ast.expr | None:
    """Return a parameter's default."""
    arguments = function.args
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if name in positional:
        place = positional.index(name) - (len(positional) - len(arguments.defaults))
        return arguments.defaults[place] if place >= 0 else None
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if parameter.arg == name:
            return default
    return None


def shared_head(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Count the leading parts two paths have in common."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def is_test_path(relative: Path) -> bool:
    """Whether a file is part of a test suite, by where it lies and what it is called."""
    folders = {part.lower() for part in relative.parts[:-1]}
    name = relative.name
    return bool(folders & {"test", "tests", "testing"}) or (
        name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
    )
