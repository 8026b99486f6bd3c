"""Which tools a server has, by every way people register them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from connector_canon.findings import Place
from connector_canon.reading.modules import Defined, Function, Module, Scope, Site
from connector_canon.reading.project import (
    MOST_TARGETS,
    Expression,
    Named,
    Outside,
    Project,
    Target,
    last_name,
    outwards,
    own_nodes,
    unpacked,
)
from connector_canon.reading.servers import MADE_AT_RUN_TIME, Server, Servers, server_class
from connector_canon.reading.texts import Text, text_of

TOOL_MAKERS = frozenset({"from_function", "Tool", "FunctionTool"})
PROVIDERS_AT_RUN_TIME = ("FileSystemProvider", "OpenAPIProvider", "ProxyProvider")
NO_SERVER: tuple[Server | None, ...] = (None,)
CONTEXT_TYPES = ("Context", "Ctx", "RequestContext")


@dataclass(frozen=True, slots=True)
class Tool:
    """One registered tool, as far as the source tells."""

    name: str | None
    place: Place
    function: Named | None
    conditional: bool
    description: Text | None
    annotations: Expression | None
    title: Text | None = None
    options: tuple[ast.keyword, ...] = ()
    input_properties: int | None = None

    @property
    def arguments(self) -> int | None:
        """How many arguments a caller can send; None when the source does not tell."""
        if self.function is None or not isinstance(self.function.node, Function):
            return self.input_properties
        return len([a for a in parameters(self.function.node) if not is_injected(a, self.function.node)])


@dataclass(slots=True)
class Registrations:
    """The tools of every server, and what only running it would tell."""

    tools: dict[Server | None, list[Tool]] = field(default_factory=dict)
    at_run_time: dict[Server | None, list[tuple[Place, str]]] = field(default_factory=dict)

    def add(self, servers: list[Server], tool: Tool) -> None:
        """Give a tool to the servers it is registered with; to none when that is unknown."""
        for server in servers or NO_SERVER:
            known = self.tools.setdefault(server, [])
            if not any(other.name == tool.name and other.place == tool.place for other in known):
                known.append(tool)

    def unknown(self, servers: list[Server], place: Place, reason: str) -> None:
        """Note that tools are decided at run time."""
        for server in servers or NO_SERVER:
            known = self.at_run_time.setdefault(server, [])
            if (place, reason) not in known:
                known.append((place, reason))


def parameters(function: Function) -> list[ast.arg]:
    """Return a function's parameters without `self`."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a for a in named if a.arg not in {"self", "cls"}]


def is_injected(parameter: ast.arg, function: Function) -> bool:
    """Whether the framework fills a parameter, so that no caller sees it."""
    names = {last_name(n) for n in ast.walk(parameter.annotation) if isinstance(n, ast.Name | ast.Attribute)} if (
        parameter.annotation is not None
    ) else set()  # fmt: skip
    if isinstance(parameter.annotation, ast.Constant):
        names = {str(parameter.annotation.value).split("[")[0].split("|")[0].strip().rsplit(".", 1)[-1]}
    if names & {*CONTEXT_TYPES, "Depends", "CurrentContext"}:
        return True
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(function.args.defaults))
    pairs = zip(
        [*positional, *function.args.kwonlyargs],
        [*defaults, *function.args.defaults, *function.args.kw_defaults],
        strict=True,
    )
    default = next((d for a, d in pairs if a is parameter), None)
    return isinstance(default, ast.Call) and last_name(default.func) in {"Depends", "CurrentContext"}


class Registrar:
    """Walks a project once and gathers what is registered with which server."""

    def __init__(self, project: Project, servers: Servers) -> None:
        self.project = project
        self.servers = servers
        self.found = Registrations()
        self._decorators()
        self._calls()
        self._listed_by_handlers()
        self._mounts()

    def _receivers(self, receiver: Expression) -> list[Server] | None:
        """Return the servers of a receiver, an empty list when unknown, None when it is no server at all."""
        if isinstance(receiver.node, ast.Call) and last_name(receiver.node.func) == "super":
            return None
        servers = self.servers.of(receiver)
        if servers:
            return servers
        if self.servers.is_foreign(receiver):
            return None
        name = last_name(receiver.node)
        for scope in outwards(receiver.scope):
            parameter = scope.parameter(name) if isinstance(receiver.node, ast.Name) else None
            if parameter is not None:
                annotation = parameter.annotation
                if annotation is None or isinstance(annotation, ast.Constant):
                    return []
                while isinstance(annotation, ast.Subscript):
                    annotation = annotation.value
                kinds = self.project.follow(Expression(annotation, receiver.module, scope.parent or scope))
                if any(isinstance(k, Outside) and server_class(self.project, k) is None for k in kinds):
                    return None
                return []
        return [] if self._module_knows_servers(receiver.module) else None

    def _module_knows_servers(self, module: Module) -> bool:
        return module.mentions("FastMCP", "MCPServer", "fastmcp", "mcp")

    def _decorators(self) -> None:
        for module in self.project.sources(".tool", "tool("):
            for defined in module.definitions:
                for decorator in defined.node.decorator_list:
                    self._decorator(decorator, defined)

    def _decorator(self, decorator: ast.expr, defined: Defined) -> None:
        call = decorator if isinstance(decorator, ast.Call) else None
        func = call.func if call is not None else decorator
        if not (isinstance(func, ast.Attribute) and func.attr == "tool"):
            return
        servers = self._receivers(Expression(func.value, defined.module, defined.scope))
        if servers is None:
            return
        function = Named(defined.node, defined.module, defined.scope)
        where = Expression(call or func, defined.module, defined.scope)
        name = next(iter(call.args), None) if call is not None else None
        self.found.add(servers, self._tool(function, where, call, name, defined.conditional, defined.node.lineno))

    def _calls(self) -> None:
        for attribute in ("tool", "add_tool"):
            for site in self.project.calls_named(attribute):
                if isinstance(site.call.func, ast.Attribute) and site.call.args:
                    self._direct(site, attribute)
        for module in self.project.sources(").tool", ".tool("):
            for site in module.calls:
                inner = site.call.func
                if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "tool":
                    servers = self._receivers(Expression(inner.func.value, module, site.scope))
                    if servers is not None and site.call.args:
                        self._each(site, servers, site.call.args[0], inner, next(iter(inner.args), None))
        for name in PROVIDERS_AT_RUN_TIME:
            for site in self.project.calls_named(name):
                self.found.unknown([], Place(site.module.shown, site.call.lineno), f"{name} decides the tools")

    def _direct(self, site: Site, attribute: str) -> None:
        assert isinstance(site.call.func, ast.Attribute)
        first = site.call.args[0]
        if attribute == "tool" and isinstance(first, ast.Constant | ast.JoinedStr):
            return
        is_name = attribute == "tool" and any(
            isinstance(t, Expression) and isinstance(t.node, ast.Constant)
            for t in self.project.follow(Expression(first, site.module, site.scope))
        )
        if is_name:
            return
        servers = self._receivers(Expression(site.call.func.value, site.module, site.scope))
        if servers is not None:
            second = site.call.args[1] if len(site.call.args) > 1 else None
            self._each(site, servers, first, site.call, second)

    def _each(
        self, site: Site, servers: list[Server], function: ast.expr, options: ast.Call, name: ast.expr | None
    ) -> None:
        """Register what a call registers, once for each turn of the loops around it."""
        place = Place(site.module.shown, site.call.lineno)
        for scope in self._turns(site):
            if scope is None:
                self.found.unknown(servers, place, "a loop over something that only exists at run time")
                continue
            targets = self.project.follow(Expression(function, site.module, scope))
            where = Expression(options, site.module, scope)
            known = False
            for target in targets[:MOST_TARGETS]:
                tool = self._of_target(target, where, options, name, site)
                if tool is not None:
                    known = True
                    self.found.add(servers, tool)
            if not known:
                if self._passes_through(function, site):
                    continue
                self.found.unknown(servers, place, "what is registered is computed at run time")

    def _passes_through(self, function: ast.expr, site: Site) -> bool:
        """Whether this only hands on what a caller registers: a wrapper, which is no registration itself."""
        if not isinstance(function, ast.Name):
            return False
        return any(s.parameter(function.id) is not None for s in outwards(site.scope)) and any(
            isinstance(s.node, Function) and s.node.name in {"tool", "add_tool", "decorator", "wrapper"}
            for s in outwards(site.scope)
        )

    def _turns(self, site: Site) -> Iterator[Scope | None]:
        if not site.loops:
            yield site.scope
            return
        scopes = [site.scope]
        for loop in site.loops:
            following: list[Scope] = []
            for scope in scopes:
                elements = self.project.elements(Expression(loop.iter, site.module, scope))
                if elements is None:
                    yield None
                    return
                for element in elements[:MOST_TARGETS]:
                    turn = Scope(None, scope)
                    for bound, value in unpacked(loop.target, element):
                        turn.located[bound] = (value.node, value.module, value.scope)
                    following.append(turn)
            scopes = following
        yield from scopes

    def _of_target(
        self, target: Target, where: Expression, options: ast.Call, name: ast.expr | None, site: Site
    ) -> Tool | None:
        place_line = site.call.lineno
        if isinstance(target, Named):
            line = target.node.lineno if target.module is site.module else place_line
            return self._tool(target, where, options, name, site.conditional, line)
        if isinstance(target, Expression) and isinstance(target.node, ast.Call):
            made = target.node
            if last_name(made.func) in TOOL_MAKERS or any(k.arg in {"name", "fn"} for k in made.keywords):
                inner = next((k.value for k in made.keywords if k.arg == "fn"), None) or next(iter(made.args), None)
                functions = (
                    self.project.follow(Expression(inner, target.module, target.scope)) if inner is not None else []
                )
                function = next((f for f in functions if isinstance(f, Named)), None)
                tool = self._tool(function, target, made, None, site.conditional, made.lineno)
                return replace(tool, place=Place(target.module.shown, made.lineno))
            wrapped = [
                f
                for a in made.args
                for f in self.project.follow(Expression(a, target.module, target.scope))
                if isinstance(f, Named)
            ]
            if wrapped:
                return self._tool(wrapped[0], where, options, name, site.conditional, place_line)
        return None

    def _tool(
        self,
        function: Named | None,
        where: Expression,
        options: ast.Call | None,
        name: ast.expr | None,
        conditional: bool,
        line: int,
    ) -> Tool:
        keywords = {k.arg: k.value for k in options.keywords if k.arg} if options is not None else {}

        def text(node: ast.expr | None) -> Text | None:
            return None if node is None else text_of(self.project, Expression(node, where.module, where.scope))

        given = keywords.get("name", name)
        named = text(given) if given is not None and not self._is_function(given, where) else None
        known: str | None = named.value if named is not None and named.complete else None
        if given is None or self._is_function(given, where):
            known = function.node.name if function is not None else None
        described = text(keywords.get("description"))
        if described is None and function is not None:
            docstring = ast.get_docstring(function.node)
            described = None if docstring is None else Text(docstring, True, Place(function.module.shown, line))
        annotations = keywords.get("annotations")
        schema = keywords.get("inputSchema", keywords.get("input_schema"))
        return Tool(
            known,
            Place(where.module.shown, line),
            function,
            conditional,
            described,
            None if annotations is None else Expression(annotations, where.module, where.scope),
            text(keywords.get("title")),
            tuple(options.keywords) if options is not None else (),
            None if schema is None else self._properties(Expression(schema, where.module, where.scope)),
        )

    def _is_function(self, node: ast.expr, where: Expression) -> bool:
        if isinstance(node, ast.Constant | ast.JoinedStr):
            return False
        return any(isinstance(t, Named) for t in self.project.follow(Expression(node, where.module, where.scope)))

    def _properties(self, schema: Expression) -> int | None:
        for target in self.project.follow(schema):
            if isinstance(target, Expression) and isinstance(target.node, ast.Dict):
                for key, value in zip(target.node.keys, target.node.values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "properties" and isinstance(value, ast.Dict):
                        return len(value.keys)
                return 0
        return None

    def _listed_by_handlers(self) -> None:
        """Read low-level servers: the handler that lists tools, given as a decorator or as an argument."""
        for module in self.project.sources("list_tools"):
            for defined in module.definitions:
                for decorator in defined.node.decorator_list:
                    func = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if isinstance(func, ast.Attribute) and func.attr == "list_tools":
                        receiver = Expression(func.value, module, defined.scope)
                        servers = self._receivers(receiver)
                        if servers is not None:
                            self._handler(Named(defined.node, module, defined.scope), servers)
        for server in self.servers.found.values():
            handler = server.keyword("on_list_tools")
            for target in self.project.follow(handler) if handler is not None else []:
                if isinstance(target, Named):
                    self._handler(target, [server])

    def _handler(self, handler: Named, servers: list[Server]) -> None:
        scope = handler.module.scopes[handler.node]
        place = Place(handler.module.shown, handler.node.lineno)
        before = sum(map(len, self.found.tools.values()))
        for node in own_nodes(handler.node):
            returned = node.value if isinstance(node, ast.Return) else None
            for listed in self._lists_in(returned) if returned is not None else ():
                elements = self.project.elements(Expression(listed, handler.module, scope))
                for element in elements or []:
                    for target in self.project.follow(element):
                        tool = self._protocol_tool(target)
                        if tool is not None:
                            self.found.add(servers, tool)
            match node:
                case ast.Call(func=ast.Attribute(attr="append"), args=[item]):
                    for target in self.project.follow(Expression(item, handler.module, scope)):
                        tool = self._protocol_tool(target)
                        if tool is not None:
                            self.found.add(servers, tool)
        if sum(map(len, self.found.tools.values())) == before:
            self.found.unknown(servers, place, "the handler that lists tools computes them")

    def _lists_in(self, returned: ast.expr) -> list[ast.expr]:
        if isinstance(returned, ast.Call) and last_name(returned.func) == "ListToolsResult":
            return [k.value for k in returned.keywords if k.arg == "tools"]
        return [returned]

    def _protocol_tool(self, target: Target) -> Tool | None:
        if not (isinstance(target, Expression) and isinstance(target.node, ast.Call)):
            return None
        if last_name(target.node.func) != "Tool":
            return None
        return self._tool(None, target, target.node, None, False, target.node.lineno)

    def _mounts(self) -> None:
        for name in ("mount", "import_server"):
            for site in self.project.calls_named(name):
                self._mount(site)

    def _mount(self, site: Site) -> None:
        if not isinstance(site.call.func, ast.Attribute):
            return
        parents = self.servers.of(Expression(site.call.func.value, site.module, site.scope))
        if not parents:
            return
        handed = [*site.call.args, *(k.value for k in site.call.keywords if k.arg == "server")]
        children = [c for a in handed for c in self.servers.of(Expression(a, site.module, site.scope))]
        prefixes = [
            *(k.value for k in site.call.keywords if k.arg in {"namespace", "prefix"}),
            *site.call.args,
        ]
        texts = [text_of(self.project, Expression(p, site.module, site.scope)) for p in prefixes]
        prefix = next((t.value for t in texts if t is not None), "")
        for parent in parents:
            for child in children:
                if child is not parent and (child, prefix) not in parent.mounts:
                    parent.mounts.append((child, prefix))
            if not children:
                self.found.unknown(
                    [parent], Place(site.module.shown, site.call.lineno), "a mounted server is made at run time"
                )

    def of_server(self, server: Server, alone: bool, seen: frozenset[Server] = frozenset()) -> list[Tool]:
        """Return a server's tools with those it mounts, and those of no known server when it is the only one."""
        tools = list(self.found.tools.get(server, ()))
        if alone:
            tools += [t for t in self.found.tools.get(None, ()) if t not in tools]
        for child, prefix in server.mounts:
            if child in seen:
                continue
            for tool in self.of_server(child, False, seen | {server}):
                name = f"{prefix}_{tool.name}" if prefix and tool.name else tool.name
                tools.append(replace(tool, name=name))
        return tools

    def unknown_of(self, server: Server) -> list[tuple[Place, str]]:
        """Return why a server's set of tools is not fully known from its source."""
        family = [server, *(child for child, _ in server.mounts)]
        reasons = [reason for member in [*family, None] for reason in self.found.at_run_time.get(member, ())]
        made = [s for s in family if s.made_at_run_time in MADE_AT_RUN_TIME]
        return reasons + [(s.place, f"{s.made_at_run_time} makes the tools") for s in made]
