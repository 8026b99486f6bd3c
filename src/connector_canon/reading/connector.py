"""Everything the rules look at, read from a folder once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from connector_canon.findings import CannotLook, Place
from connector_canon.reading.automation import Workflow, workflows
from connector_canon.reading.files import Folders, TimeLimit, text_of_file
from connector_canon.reading.modules import Module
from connector_canon.reading.packaging import requires, resolved_major
from connector_canon.reading.project import Expression, Project
from connector_canon.reading.registrations import Registrar, Tool
from connector_canon.reading.servers import Server, Servers
from connector_canon.reading.suites import TestFunction, drift_tests
from connector_canon.reading.texts import Text, text_of

HTTP_WORDS = (
    "http_app",
    "streamable_http_app",
    "sse_app",
    "run_http_async",
    "run_sse_async",
    "run_streamable_http_async",
    "StreamableHTTPSessionManager",
    "SseServerTransport",
)


@dataclass(slots=True)
class Instructions:
    """What the server is given as instructions."""

    text: Text | None
    given: bool
    place: Place


@dataclass
class Connector:
    """A server, its tools and what surrounds them."""

    project: Project
    servers: Servers
    registrar: Registrar
    server: Server

    @classmethod
    def read(cls, path: Path, seconds: float) -> Connector:
        """Read a folder without importing anything.

        Raises CannotLook when there is no Python, nothing that parses or no MCP server, or when time runs out.
        """
        folders = Folders.around(path)
        project = Project.read(folders, TimeLimit(seconds))
        if not project.modules:
            raise CannotLook(
                f"No Python file that can be read lies below {folders.project}; review reads Python. "
                "A server in another language can be examined while it runs: canon probe."
            )
        servers = Servers(project)
        registrar = Registrar(project, servers)
        counts = {server: len(registrar.of_server(server, False)) for server in servers.found.values()}
        server = servers.main(counts)
        if server is None:
            raise CannotLook(_no_server(project))
        return cls(project, servers, registrar, server)

    @cached_property
    def tools(self) -> list[Tool]:
        """The server's tools, mounted ones included."""
        tools = self.registrar.of_server(self.server, len(self.servers.found) == 1)
        # Two branches that register the same name are one tool to a client.
        unique = {t.name: t for t in reversed(tools) if t.name is not None}
        return [t for t in tools if t.name is None or unique[t.name] is t]

    @cached_property
    def undecided(self) -> list[tuple[Place, str]]:
        """Why the set of tools is not fully known from the source."""
        unnamed = [(t.place, "a tool's name is made at run time") for t in self.tools if t.name is None]
        reasons = self.registrar.unknown_of(self.server) + unnamed
        if not reasons and not self.tools:
            return [(self.server.place, "no registration of a tool is written in the source")]
        return reasons

    @cached_property
    def tool_names(self) -> list[str]:
        """The known names, in order of registration."""
        return [t.name for t in self.tools if t.name is not None]

    @cached_property
    def instructions(self) -> Instructions:
        """The server's instructions, wherever they are handed over."""
        server = self.server
        handed = server.keyword("instructions")
        if handed is None and server.kind == "FastMCP" and len(server.call.args) > 1:
            handed = Expression(server.call.args[1], server.module, server.scope)
        if handed is None:
            handed = self._instructions_elsewhere()
        if handed is None:
            return Instructions(None, server.spreads_keywords, server.place)
        if isinstance(handed.node, ast.Constant) and handed.node.value is None:
            return Instructions(None, False, server.place)
        text = text_of(self.project, handed)
        place = text.place if text is not None and text.place is not None else server.place
        return Instructions(text, True, place)

    def _instructions_elsewhere(self) -> Expression | None:
        """Look for `server.instructions = …`, a subclass's constructor and low-level initialization options."""
        for module in self.project.sources("instructions"):
            for (owner, attribute), values in module.attribute_values.items():
                if attribute == "instructions":
                    for value, scope in values:
                        receiver = ast.copy_location(ast.Name(id=owner, ctx=ast.Load()), value)
                        if self.server in self.servers.of(Expression(receiver, module, scope)):
                            return Expression(value, module, scope)
            for site in module.calls:
                name = site.call.func.attr if isinstance(site.call.func, ast.Attribute) else ""
                of_subclass = name == "__init__" and self._is_in_server_class(module, site.call)
                options = isinstance(site.call.func, ast.Name | ast.Attribute) and (
                    ast.unparse(site.call.func).endswith("InitializationOptions")
                )
                if of_subclass or (options and self.server.is_low_level):
                    for keyword in site.call.keywords:
                        if keyword.arg == "instructions":
                            return Expression(keyword.value, module, site.scope)
        return None

    def _is_in_server_class(self, module: Module, call: ast.Call) -> bool:
        """Whether a `super().__init__` call stands in the class of this server."""
        for callee in self.project.callees(Expression(self.server.call, self.server.module, self.server.scope)):
            node = getattr(callee, "node", None)
            if isinstance(node, ast.ClassDef) and getattr(callee, "module", None) is module:
                return any(inner is call for inner in ast.walk(node))
        return False

    @cached_property
    def reachable(self) -> set[Module]:
        """The modules that importing the server or the entry point brings in; code nobody imports is not among them."""
        seen: set[Module] = set()
        waiting = [self.server.module.parsed()]
        importing = [m for m in self.own(self.server.module.parts[-1]) if self._imports(m, self.server.module)]
        waiting += importing + [m for m in self.own() if m.path.name in ENTRY_NAMES]
        while waiting:
            module = waiting.pop()
            if module in seen or module.is_test:
                continue
            seen.add(module)
            waiting += self._packages_of(module)
            for scope in [module.scope, *module.scopes.values()]:
                for dotted in [*scope.imports.values(), *scope.star_imports]:
                    for name in (dotted, dotted.rpartition(".")[0]):
                        found = self.project.module_named(name, module) if name.strip(".") else None
                        if found is not None:
                            waiting.append(found)
        return seen

    def _packages_of(self, module: Module) -> list[Module]:
        """Return the packages that importing a module runs first."""
        heads = (module.parts[:count] for count in range(1, len(module.parts)))
        found = (self.project.module_named("." + ".".join(head), module) for head in heads)
        return [package for package in found if package is not None and package.path.name == "__init__.py"]

    def _imports(self, module: Module, wanted: Module) -> bool:
        for scope in [module.scope, *module.scopes.values()]:
            for dotted in scope.imports.values():
                for name in (dotted, dotted.rpartition(".")[0]):
                    if name.strip(".") and self.project.module_named(name, module) is wanted:
                        return True
        return False

    def own(self, *words: str) -> Iterator[Module]:
        """Yield the parsed modules that belong to this connector, not to a larger product around it."""
        target = self.project.folders.target
        whole = not target.is_dir() or target == self.project.folders.project
        for module in self.project.sources(*words):
            if whole or module.path.is_relative_to(target):
                yield module

    def running(self, *words: str) -> list[Module]:
        """Return the reachable modules that mention one of the words, nearest to the server first."""
        return [m for m in self.project.modules if m in self.reachable and m.mentions(*words)]

    @cached_property
    def http(self) -> Place | None:
        """Where the server is offered over HTTP; None when it speaks over stdio alone."""
        for name in HTTP_WORDS:
            for site in self.project.calls_named(name):
                return Place(site.module.shown, site.call.lineno)
        for name in ("run", "run_async"):
            for site in self.project.calls_named(name):
                for keyword in site.call.keywords:
                    if keyword.arg == "transport" and not (
                        isinstance(keyword.value, ast.Constant) and keyword.value.value == "stdio"
                    ):
                        return Place(site.module.shown, site.call.lineno)
                for argument in site.call.args[:1]:
                    if isinstance(argument, ast.Constant) and argument.value in {"http", "streamable-http", "sse"}:
                        return Place(site.module.shown, site.call.lineno)
        return None

    @cached_property
    def tests(self) -> list[TestFunction]:
        """The tests that compare texts with tools."""
        return drift_tests(self.project)

    @cached_property
    def workflows(self) -> list[Workflow]:
        """What runs by itself."""
        return workflows(self.project.folders)

    @cached_property
    def framework(self) -> tuple[str, int | None]:
        """The framework's distribution and the major version an installation brings; None is the newest."""
        origin = "fastmcp" if self._imports_fastmcp() else "mcp"
        return origin, resolved_major(self.project, origin)

    def _imports_fastmcp(self) -> bool:
        modules = [self.server.module, *self.project.sources("fastmcp")]
        return requires(self.project, "fastmcp") or any(
            dotted.split(".")[0] == "fastmcp"
            for m in modules
            for s in [m.scope, *m.scopes.values()]
            for dotted in s.imports.values()
        )

    def file(self, *names: str) -> tuple[Place, str] | None:
        """Return the first of these files that the project or the repository has, names compared without case."""
        for folder in dict.fromkeys((self.project.folders.project, self.project.folders.repository)):
            for name in names:
                parent = (folder / name).parent
                wanted = Path(name).name.lower()
                if not parent.is_dir():
                    continue
                for path in sorted(parent.iterdir()):
                    if path.name.lower() == wanted and path.is_file():
                        text = text_of_file(path)
                        if text is not None:
                            return Place(self.project.folders.shown(path)), text
        return None


ENTRY_NAMES = frozenset({"__main__.py", "main.py", "app.py", "asgi_app.py", "cli.py"})


def _no_server(project: Project) -> str:
    broken = [f"{m.shown} ({m.error})" for m in project.modules if m.parsed().error]
    counted = f"{len(project.modules)} Python files were looked at"
    if broken:
        return f"No MCP server was found: {counted}, {len(broken)} do not parse, first {broken[0]}."
    return (
        f"No MCP server was found: {counted} and none makes a FastMCP, MCPServer or low-level Server. "
        "Name the folder or file that holds it."
    )
