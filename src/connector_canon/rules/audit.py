"""Every call leaves one line."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from connector_canon.findings import Answer, Place, absent, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import Function, Module, Site
from connector_canon.reading.project import Expression, Named, last_name
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import guards, place, share, values_of

FAMILY = Family("audit", "Every call leaves a line", "audit")
AUDITS = re.compile(r"audit", re.IGNORECASE)
INTERCEPTS = frozenset({"on_call_tool", "on_message", "on_request", "call_tool"})
APPENDS = re.compile(r"O_APPEND|['\"]ab?\+?['\"]|RotatingFileHandler|FileHandler")
WRITES = re.compile(r"append|write\w*|record\w*|log\w*|emit|info|audit\w*|add")
CHOOSES = re.compile(r"tool|name|status|code|error|success|ok\b|result", re.IGNORECASE)
COUNTS = re.compile(r"len\(|==|count")
DIGESTS = re.compile(r"sha256|sha512|blake2[bs]|hash_\w+|\w*digest\w*")


def _writers(connector: Connector) -> list[Module]:
    return [m for m in connector.running("audit", "Audit") if APPENDS.search(m.text) and AUDITS.search(m.text)]


def every_call(connector: Connector) -> Answer:
    """Look for an audit line in the one place all calls pass, else in each tool."""
    if not _writers(connector):
        return absent(
            "Append one line to a local file for every call, refused and failed ones too.", connector.server.place
        )
    for module in connector.running("audit", "Audit"):
        passed = [d.node for d in module.definitions if isinstance(d.node, Function) and d.node.name in INTERCEPTS]
        if passed:
            node = next((n for n in passed if _mentions_audit(n)), passed[0])
            left_out = [*_left_out(module), *_ends_without(module, node)]
            if left_out:
                return absent(
                    "Some calls leave no line here; write it whatever was called and however it ended.", *left_out
                )
            return present("The place that all calls pass writes the line.", place(module, node))
    lacking = [
        (t.name or "a tool", t.place)
        for t in connector.tools
        if t.function is None or not _mentions_audit(t.function.node)
    ]
    return share(
        "tools",
        len(connector.tools),
        lacking,
        "Every tool writes an audit line.",
        "{lacking} of {total} tools write no audit line: {names}. Write it where all calls pass.",
        (Place(_writers(connector)[0].shown),),
    )


def _writes(module: Module) -> list[ast.Call]:
    """Return where a module hands a line to its audit log, or to a function of its own that appends one."""
    appending = {
        d.node.name
        for d in module.definitions
        if isinstance(d.node, Function) and APPENDS.search("\n".join(module.lines_of(d.node)))
    }
    found = []
    for call in (site.call for site in module.calls):
        by_log = WRITES.fullmatch(last_name(call.func)) and AUDITS.search(ast.unparse(call.func))
        if by_log or (isinstance(call.func, ast.Name) and call.func.id in appending):
            found.append(call)
    return found


def _left_out(module: Module) -> Iterator[Place]:
    """Yield the conditions on a line: the tool that was called, or how the call ended."""
    lines = _writes(module)
    writing = _writing_functions(module, {id(call) for call in lines})
    lines += [site.call for site in module.calls if last_name(site.call.func) in writing and site.call not in lines]
    for call in lines:
        for guard in guards(module, call):
            if any(_holds(guard.orelse, other) for other in lines):
                continue
            tests = [n for n in ast.walk(guard.test) if isinstance(n, ast.Compare)]
            if any(
                CHOOSES.search(ast.unparse(test.left)) and not isinstance(test.ops[0], ast.Is | ast.IsNot)
                for test in tests
            ):
                yield place(module, guard)


def _ends_without(module: Module, interceptor: Function) -> Iterator[Place]:
    """Yield the ways out of the place that all calls pass on which nothing writes the line.

    They are a handler that raises on, and the call itself where the line comes after it and nothing is caught.
    """
    lines = {id(call) for call in _writes(module)}
    writing = _writing_functions(module, lines)

    def audits(nodes: Iterable[ast.AST]) -> bool:
        return any(
            isinstance(n, ast.Call)
            and (id(n) in lines or last_name(n.func) in writing or AUDITS.search(ast.unparse(n.func)))
            for node in nodes
            for n in ast.walk(node)
        )

    passing = [n for n in ast.walk(interceptor) if isinstance(n, ast.Call) and last_name(n.func) == "call_next"]
    if not passing or not audits(interceptor.body):
        return
    trying = [t for t in ast.walk(interceptor) if isinstance(t, ast.Try) and any(_holds(t.body, p) for p in passing)]
    around = [
        w for w in ast.walk(interceptor) if isinstance(w, ast.With | ast.AsyncWith) and _holds(w.body, passing[0])
    ]
    if any(audits(i.context_expr for i in w.items) for w in around):
        return
    if any(audits(t.finalbody) for t in trying) or _writes_before(interceptor, passing[0], audits):
        return
    for attempt in trying:
        for handler in attempt.handlers:
            if any(not audits(passed) for passed in _ways_to_raise(handler)):
                yield place(module, handler)
    if not any(t.handlers for t in trying):
        yield place(module, passing[0])


def _ways_to_raise(handler: ast.ExceptHandler) -> Iterator[list[ast.stmt]]:
    """Yield what is done on each way through a handler that ends by raising."""
    for number, statement in enumerate(handler.body):
        blocks: list[list[ast.stmt]] = [[statement]] if isinstance(statement, ast.Raise) else []
        for node in ast.walk(statement):
            if isinstance(node, ast.If):
                blocks += [block for block in (node.body, node.orelse) if block and isinstance(block[-1], ast.Raise)]
        for block in blocks:
            yield [*handler.body[:number], *block]


def _writes_before(function: Function, passing: ast.Call, audits: Callable[[Iterable[ast.AST]], bool]) -> bool:
    return audits(
        s for s in function.body if (s.end_lineno or s.lineno) < passing.lineno and not isinstance(s, ast.Try)
    )


def _holds(body: list[ast.stmt], wanted: ast.AST) -> bool:
    return any(node is wanted for statement in body for node in ast.walk(statement))


def _writing_functions(module: Module, lines: set[int]) -> set[str]:
    """Return the functions of a module that write a line, themselves or by another one."""
    functions = [d.node for d in module.definitions if isinstance(d.node, Function) and d.node.name not in INTERCEPTS]
    found = {f.name for f in functions if any(id(n) in lines for n in ast.walk(f))}
    while more := {
        f.name
        for f in functions
        if f.name not in found and any(isinstance(n, ast.Call) and last_name(n.func) in found for n in ast.walk(f))
    }:
        found |= more
    return found


def _mentions_audit(node: ast.AST) -> bool:
    return any(
        AUDITS.search(n.id if isinstance(n, ast.Name) else n.attr if isinstance(n, ast.Attribute) else "")
        for n in ast.walk(node)
    )


def no_arguments(connector: Connector) -> Answer:
    """Look for a digest in the code that writes audit lines."""
    writers = _writers(connector)
    if not writers:
        return not_applicable("No audit line is written.")
    for module in connector.running("audit", "Audit"):
        for site in module.calls:
            if DIGESTS.fullmatch(last_name(site.call.func)) and _digests(connector, module, site):
                return present("Arguments are written as a digest.", place(module, site.call))
    return absent("Write a digest of the arguments, never the arguments.", Place(writers[0].shown))


def _digests(connector: Connector, module: Module, site: Site, depth: int = 0) -> bool:
    """Whether a function that is called after a digest makes one, where its source is here to read."""
    callees = connector.project.callees(Expression(site.call, module, site.scope))
    known = [c for c in callees if isinstance(c, Named) and isinstance(c.node, Function)]
    if not known or depth > 3:
        return True
    for callee in known:
        inside = {id(n) for n in ast.walk(callee.node)}
        made = [s for s in callee.module.calls if id(s.call) in inside and DIGESTS.fullmatch(last_name(s.call.func))]
        if any(_digests(connector, callee.module, s, depth + 1) for s in made):
            return True
    return False


def counted_on_disk(connector: Connector) -> Answer:
    """Look for a test that calls tools and counts lines on disk."""
    if not _writers(connector):
        return not_applicable("No audit line is written.")
    for module in connector.project.tests("audit"):
        for defined in module.definitions:
            node = defined.node
            if isinstance(node, Function) and node.name.startswith("test"):
                asserted = [ast.unparse(n.test) for n in ast.walk(node) if isinstance(n, ast.Assert)]
                if AUDITS.search(ast.unparse(node)) and any(COUNTS.search(text) for text in asserted):
                    return present("A test counts the lines.", place(module, node))
    return absent(
        "Redirect the folder in a test, call every tool and count the lines on disk.",
        Place(_writers(connector)[0].shown),
    )


def owner_only(connector: Connector) -> Answer:
    """Look for the mode the log is made with."""
    writers = _writers(connector)
    if not writers:
        return not_applicable("No audit line is written.")
    openers = [*writers, *_asked_to_open(connector, writers)]
    modes = [
        (mode, place(module, argument))
        for module in openers
        for site in module.calls
        if last_name(site.call.func) in {"open", "chmod", "fchmod", "umask", "opener"}
        for argument in (*site.call.args[1:], *(k.value for k in site.call.keywords if k.arg == "mode"))
        for mode in _numbers(argument, module)
    ]
    written = every_call(connector)
    if written.coverage is not None and not written.coverage.usable:
        return not_applicable("No tool writes an audit line.")
    masks = any(last_name(s.call.func) == "umask" for m in openers for s in m.calls)
    wide = [where for mode, where in modes if mode & 0o077]
    if modes and (masks or not wide):
        return present("Only its owner reads the log.", modes[0][1])
    return absent(
        "Make the log with mode 0o600: it says who asked what, and when.", *(wide or [Place(writers[0].shown)])
    )


def _asked_to_open(connector: Connector, writers: list[Module]) -> list[Module]:
    """Return the modules of the project whose function a writer of lines calls to open its file."""
    found = []
    for writer in writers:
        called = {last_name(site.call.func) for site in writer.calls}
        for name, dotted in writer.scope.imports.items():
            module = connector.project.module_named(dotted.rpartition(".")[0] or ".", writer)
            opens = module and any(last_name(site.call.func) in {"open", "fdopen"} for site in module.calls)
            if module and opens and name in called and module not in writers:
                found.append(module)
    return found


def _numbers(node: ast.expr, module: Module) -> list[int]:
    values = values_of(module, node.id) if isinstance(node, ast.Name) else [node]
    return [v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, int) and v.value > 0o77]


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN1001", FAMILY, "Every call appends an audit line",
        "A tool that was forgotten makes the promise of an audit untrue for the whole connector.",
        "Write the line in the middleware that all calls pass.",
        every_call, essential=True,
    ),
    Rule(
        "CN1002", FAMILY, "Audit lines hold a digest of the arguments",
        "What people ask a legal database is confidential.",
        "Write sha256 of the canonical arguments.",
        no_arguments,
    ),
    Rule(
        "CN1003", FAMILY, "A test counts audit lines on disk",
        "A call to the logger in the source is not a line in the file.",
        "Point the folder at tmp_path, call each registered tool, count.",
        counted_on_disk, essential=True,
    ),
    Rule(
        "CN1004", FAMILY, "Only its owner reads the audit log",
        "A log that everybody on the machine can read tells them who asked, for what, and how often.",
        "Open it with os.open(…, 0o600), or chmod it before the first line.",
        owner_only,
    ),
)  # fmt: skip
