"""Where MCP servers are made, and which one the repository is about."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from connector_canon.findings import Place
from connector_canon.reading.modules import Module, Scope
from connector_canon.reading.packaging import entry_modules
from connector_canon.reading.project import DEEPEST, Expression, Named, Outside, Project, Target, last_name

FRAMEWORKS = ("fastmcp", "mcp")
SERVER_CLASSES = frozenset({"FastMCP", "MCPServer", "Server"})
MADE_AT_RUN_TIME = frozenset({"from_openapi", "from_fastapi", "from_client", "as_proxy", "create_proxy"})
WORDS = ("FastMCP", "MCPServer", "Server", "fastmcp", "create_proxy")
ASIDE = frozenset(
    {"example", "examples", "sample", "samples", "demo", "demos", "docs", "scripts", "benchmarks", "evals"}
)
SERVING = ("run", "run_async", "run_http_async", "http_app", "streamable_http_app", "sse_app", "run_stdio_async")


@dataclass(eq=False, slots=True)
class Server:
    """One place that makes a server."""

    call: ast.Call
    module: Module
    scope: Scope
    kind: str
    place: Place
    made_at_run_time: str | None = None
    mounts: list[tuple[Server, str]] = field(default_factory=list)

    @property
    def is_low_level(self) -> bool:
        """Whether tools are listed by a handler of its own."""
        return self.kind == "Server"

    def keyword(self, name: str) -> Expression | None:
        """Return what the constructor is given under a name."""
        for keyword in self.call.keywords:
            if keyword.arg == name:
                return Expression(keyword.value, self.module, self.scope)
        return None

    @property
    def spreads_keywords(self) -> bool:
        """Whether the constructor also takes `**options`."""
        return any(keyword.arg is None for keyword in self.call.keywords)


def server_class(project: Project, callee: Target, depth: int = 0) -> str | None:
    """Return the framework class a callee is or derives from, None when it is no server."""
    match callee:
        case Outside(dotted=dotted):
            head, _, name = dotted.rpartition(".")
            return name if name in SERVER_CLASSES and head.split(".")[0] in FRAMEWORKS else None
        case Named(node=ast.ClassDef(bases=bases)) if depth < DEEPEST:
            for base in bases:
                while isinstance(base, ast.Subscript):
                    base = base.value
                for target in project.follow(Expression(base, callee.module, callee.scope), depth + 1):
                    kind = server_class(project, target, depth + 1)
                    if kind is not None:
                        return kind
    return None


class Servers:
    """Every server of a project, found once, and which of them an expression stands for."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.found: dict[ast.Call, Server] = {}
        for module in project.sources(*WORDS):
            for site in module.calls:
                server = self._made_by(Expression(site.call, module, site.scope))
                if server is not None:
                    self.found[site.call] = server

    def _made_by(self, expression: Expression) -> Server | None:
        call = expression.node
        assert isinstance(call, ast.Call)
        place = Place(expression.module.shown, call.lineno)
        name = last_name(call.func)
        if name in MADE_AT_RUN_TIME:
            owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            for target in self.project.follow(Expression(owner, expression.module, expression.scope)):
                kind = server_class(self.project, target)
                outside = isinstance(target, Outside) and target.dotted.split(".")[0] in FRAMEWORKS
                if kind is not None or outside:
                    return Server(call, expression.module, expression.scope, kind or "FastMCP", place, name)
            return None
        if not name or name[0].islower():
            return None
        for target in self.project.callees(expression):
            kind = server_class(self.project, target)
            if kind is not None:
                return Server(call, expression.module, expression.scope, kind, place)
        return None

    def of(self, expression: Expression, depth: int = 0) -> list[Server]:
        """Return the servers an expression stands for."""
        if depth > DEEPEST:
            return []
        servers: list[Server] = []
        for target in self.project.follow(expression, depth):
            if isinstance(target, Expression) and isinstance(target.node, ast.Call):
                if target.node in self.found:
                    servers.append(self.found[target.node])
                    continue
                for callee in self.project.callees(target, depth):
                    for result in self.project.results(callee, depth + 1):
                        if isinstance(result, Expression):
                            servers.extend(self.of(result, depth + 2))
        return list(dict.fromkeys(servers))

    def is_foreign(self, expression: Expression) -> bool:
        """Whether the expression certainly stands for something that is no server."""
        for target in self.project.follow(expression):
            if isinstance(target, Outside):
                return True
            if isinstance(target, Expression) and isinstance(target.node, ast.Call):
                callees = self.project.callees(target)
                if callees and all(isinstance(c, Outside) and server_class(self.project, c) is None for c in callees):
                    return True
        return False

    def main(self, tool_counts: dict[Server, int]) -> Server | None:
        """Choose the server the folder is about: the one its entry point serves, else the one with most tools."""
        below = self.project.folders.target
        candidates = [
            s for s in self.found.values() if s.module.path == below or s.module.path.is_relative_to(below)
        ] or list(self.found.values())
        if not candidates:
            return None
        mounted = {child for s in candidates for child, _ in s.mounts}
        started = entry_modules(self.project)
        served = self._served()

        def weight(server: Server) -> tuple[bool, bool, bool, int, bool, int]:
            folders = {part.lower() for part in server.module.path.relative_to(self.project.folders.project).parts[:-1]}
            return (
                not folders & ASIDE,
                server not in mounted,
                tool_counts.get(server, 0) > 0 or server.made_at_run_time is not None,
                tool_counts.get(server, 0),
                server.module.shown in started or server in served,
                -server.place.line,
            )

        return max(candidates, key=weight)

    def _served(self) -> set[Server]:
        served: set[Server] = set()
        for name in SERVING:
            for site in self.project.calls_named(name):
                if isinstance(site.call.func, ast.Attribute):
                    served.update(self.of(Expression(site.call.func.value, site.module, site.scope)))
        return served
