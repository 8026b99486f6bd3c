"""Nothing secret or free-form leaves: not in results, spans, audit lines, logs or HTTP bodies."""

import ast
import io
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.server.middleware import Middleware
from mcp import MCPError

from .clients import ERAS, everything, message, served, some_arguments
from .collector import collector
from .hostile import FAILURES, SECRET, HostileProvider, awaited
from .source import Source
from .subject import CODE, Subject, identity, keys, logs


@pytest.fixture
def local_log(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """The log as a running server writes it."""
    level, written = logging.root.level, io.StringIO()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", written)
        logs.configure("DEBUG")
    (ours,) = logging.root.handlers
    yield written.getvalue
    logging.root.removeHandler(ours)
    logging.root.setLevel(level)


@pytest.mark.parametrize("era", ERAS)
async def test_no_failure_takes_its_text_along(
    subject: Subject, era: Any, local_log: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOYMENT_TOKEN", SECRET)
    answering: list[Any] = [None]
    with collector() as received:
        mcp = subject.build(lambda: answering[0], otlp_endpoint=received.address, otlp_headers={"authorization": "x"})
        tools, resources = await mcp.list_tools(), await mcp.list_resources()
        async with Client(mcp, mode=era) as client:
            for failure, fail in FAILURES.items():
                answering[0], seen = HostileProvider(fail), []
                for tool in tools:
                    arguments = {**some_arguments(tool.parameters), SECRET: SECRET}
                    for given in (arguments, some_arguments(tool.parameters)):
                        result = await client.call_tool(tool.name, given, raise_on_error=False)
                        seen.append(everything(result))
                seen.append(everything(await client.call_tool(SECRET, {SECRET: SECRET}, raise_on_error=False)))
                for resource in resources:
                    content = await client.read_resource(resource.uri)
                    seen.append(json.dumps([getattr(part, "text", "") for part in content]))
                assert len(seen) > 3
                for place, text in {
                    "a result": "\n".join(seen),
                    "the audit log": json.dumps(subject.audit_lines),
                    "the log": local_log(),
                }.items():
                    assert SECRET not in text, f"{failure}: {place} holds the planted secret."
    assert len(received.spans) >= len(FAILURES), "Some failure exported no span, so it was not examined."
    assert SECRET not in received.raw.decode("latin-1"), "A span holds the planted secret."


class Failing(Middleware):
    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        raise RuntimeError(SECRET)


async def said(answer: Awaitable[Any]) -> str:
    try:
        return str(await answer)
    except MCPError as error:
        return f"{error} {error.error.data}"


async def test_no_component_beside_the_tools_takes_a_text_along(subject: Subject, local_log: Callable[[], str]) -> None:
    mcp = subject.build()
    # What these two hand over is a result, which may hold what it likes.
    failures = {name: fail for name, fail in FAILURES.items() if name not in ("wrong type", "nothing")}
    failing: list[Callable[[], Any]] = []

    @mcp.resource("secret://{name}")
    async def resource(name: str) -> Any:
        return await awaited(failing[-1]())

    @mcp.prompt
    async def prompt() -> Any:
        return await awaited(failing[-1]())

    async with Client(mcp) as client:
        for asked in (client.read_resource(f"nowhere://{SECRET}"), client.get_prompt(SECRET)):
            assert SECRET not in await said(asked)
        for name, fail in failures.items():
            failing.append(fail)
            for asked in (client.read_resource("secret://x"), client.get_prompt("prompt")):
                assert SECRET not in await said(asked), f"{name}: the client reads the planted secret."
    assert SECRET not in local_log()


@pytest.mark.parametrize("era", ERAS)
async def test_what_fails_outside_of_a_tool_takes_no_text_along(
    subject: Subject, era: Any, local_log: Callable[[], str]
) -> None:
    mcp = subject.build()
    mcp.add_middleware(Failing())
    async with Client(mcp, mode=era) as client:
        with pytest.raises(MCPError) as failed:
            await client.list_tools()
    assert SECRET not in str(failed.value)
    assert "RuntimeError" in local_log()
    assert SECRET not in local_log()


async def test_no_http_body_says_more_than_it_must(subject: Subject, local_log: Callable[[], str]) -> None:
    key = keys.KeyFile(subject.keys_file).mint(subject.command, identity.Caller("org", "user"))
    provider = HostileProvider(FAILURES["exception"])
    async with served(subject.build(lambda: provider)) as client:
        name = (await subject.build().list_tools())[0].name
        bodies = []
        for headers in ({"x-api-key": SECRET}, {"authorization": f"Bearer {SECRET}"}, {"x-api-key": key}):
            for content in (
                message("tools/call", name=name, arguments={"query": SECRET}),
                message("tools/call", name={"wrong": SECRET}, arguments=SECRET),
                message(SECRET, value=SECRET),
            ):
                response = await client.post("/mcp", json=content, headers={**headers, "cookie": f"session={SECRET}"})
                bodies.append(response.text + str(response.headers))
        bodies.append((await client.get(f"/{SECRET}?token={SECRET}")).text)
    assert len(bodies) == 10
    assert SECRET not in "\n".join(bodies)
    assert SECRET not in local_log()
    assert key not in local_log() + json.dumps(subject.audit_lines)


def test_the_log_names_the_place_and_not_the_text(local_log: Callable[[], str]) -> None:
    try:
        FAILURES["chain"]()
    except RuntimeError:
        logs.log.error("A call failed.", exc_info=True)
        logging.getLogger("some.library").error("%s", SECRET, exc_info=True)
    text = local_log()
    assert "RuntimeError: " in text
    assert "KeyError: " in text
    assert "hostile.py" in text
    assert SECRET not in text


def test_no_answer_is_built_from_an_exception() -> None:
    """A message that holds `str(error)` would carry the text out with our own hands."""
    source = Source.of(CODE)
    for path, module in source.modules.items():
        for handler in (node for node in ast.walk(module) if isinstance(node, ast.ExceptHandler) and node.name):
            for call in (node for node in ast.walk(handler) if isinstance(node, ast.Call)):
                target = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
                if target in ("ConnectorError", "ok", "degraded", "Answer", "Envelope", "print"):
                    quoted = [node for node in ast.walk(call) if _quotes(node, handler.name or "")]
                    assert not quoted, f"{path.name}, line {call.lineno}: an answer quotes an exception."


def _quotes(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.FormattedValue):
        return isinstance(node.value, ast.Name) and node.value.id == name
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr", "format"):
        return any(isinstance(argument, ast.Name) and argument.id == name for argument in node.args)
    return False
