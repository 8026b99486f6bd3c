"""Nothing secret or free-form leaves: not in results, spans, audit lines, logs or HTTP bodies."""

import ast
import io
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
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


@contextmanager
def local_log() -> Iterator[Callable[[], str]]:
    """Write the log as a running server does, without pytest's handlers, which read the source of every frame."""
    handlers, levels, written = logging.root.handlers[:], (logging.root.level, logs.log.level), io.StringIO()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "stderr", written)
        logs.configure("DEBUG")
    try:
        yield written.getvalue
    finally:
        logging.root.handlers[:] = handlers
        for logger, level in zip((logging.root, logs.log), levels, strict=True):
            logger.setLevel(level)


@pytest.mark.parametrize("era", ERAS)
async def test_no_failure_takes_its_text_along(subject: Subject, era: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOYMENT_TOKEN", SECRET)
    answering: list[Any] = [None]
    with collector() as received, local_log() as log:
        mcp = subject.build(lambda: answering[0], otlp_endpoint=received.address, otlp_headers={"authorization": "x"})
        tools, resources = await mcp.list_tools(), await mcp.list_resources()
        async with Client(mcp, mode=era) as client:
            for failure, fail in FAILURES.items():
                answering[0] = HostileProvider(fail)
                seen = [
                    everything(await client.call_tool(tool.name, some_arguments(tool.parameters), raise_on_error=False))
                    for tool in tools
                ]
                for resource in resources:
                    content = await client.read_resource(resource.uri)
                    seen.append(json.dumps([getattr(part, "text", "") for part in content]))
                assert seen, "The server offers nothing: nothing was examined."
                found = {"a result": "\n".join(seen), "the audit log": str(subject.audit_lines), "the log": log()}
                for place, text in found.items():
                    assert SECRET not in text, f"{failure}: {place} holds the planted secret."
            for name, known in [(SECRET, {}), *((tool.name, some_arguments(tool.parameters)) for tool in tools)]:
                for given in ({**known, SECRET: SECRET}, dict.fromkeys(known, SECRET)):
                    result = everything(await client.call_tool(name, given, raise_on_error=False))
                    assert SECRET not in result, f"{name} repeats an argument."
        assert SECRET not in str(subject.audit_lines) + log()
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


async def test_no_component_beside_the_tools_takes_a_text_along(subject: Subject) -> None:
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

    with local_log() as log:
        async with Client(mcp) as client:
            for ask, name in ((client.read_resource, f"nowhere://{SECRET}"), (client.get_prompt, SECRET)):
                assert SECRET not in await said(ask(name))
            asked = ((client.read_resource, "secret://x"), (client.get_prompt, "prompt"))
            for failure, fail in failures.items():
                failing.append(fail)
                for ask, name in asked:
                    assert SECRET not in await said(ask(name)), f"{failure}: the client reads the planted secret."
        assert SECRET not in log()


@pytest.mark.parametrize("era", ERAS)
async def test_what_fails_outside_of_a_tool_takes_no_text_along(subject: Subject, era: Any) -> None:
    mcp = subject.build()
    mcp.add_middleware(Failing())
    with local_log() as log:
        async with Client(mcp, mode=era) as client:
            with pytest.raises(MCPError) as failed:
                await client.list_tools()
        assert SECRET not in str(failed.value)
        assert "RuntimeError" in log()
        assert SECRET not in log()


async def test_no_http_body_says_more_than_it_must(subject: Subject) -> None:
    key = keys.KeyFile(subject.keys_file).mint(subject.command, identity.Caller("org", "user"))
    provider = HostileProvider(FAILURES["exception"])
    mcp = subject.build(lambda: provider)
    name = (await mcp.list_tools())[0].name
    with local_log() as log:
        async with served(mcp) as client:
            bodies = []
            for headers in ({"x-api-key": SECRET}, {"authorization": f"Bearer {SECRET}"}, {"x-api-key": key}):
                for content in (
                    message("tools/call", name=name, arguments={"query": SECRET}),
                    message("tools/call", name={"wrong": SECRET}, arguments=SECRET),
                    message(SECRET, value=SECRET),
                ):
                    response = await client.post(
                        "/mcp", json=content, headers={**headers, "cookie": f"session={SECRET}"}
                    )
                    bodies.append(response.text + str(response.headers))
            bodies.append((await client.get(f"/{SECRET}?token={SECRET}")).text)
    assert len(bodies) == 10
    assert SECRET not in "\n".join(bodies)
    assert SECRET not in log()
    assert key not in log() + str(subject.audit_lines)


def test_the_log_names_the_place_and_not_the_text() -> None:
    with local_log() as log:
        try:
            FAILURES["chain"]()
        except RuntimeError:
            logs.log.error("A call failed.", exc_info=True)
            logging.getLogger("some.library").error("%s", SECRET, exc_info=True)
        text = log()
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
