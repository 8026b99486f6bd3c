"""Elements 4 and 7: who called stands on the span, and nothing that is not on the list leaves the process."""

import ast
import asyncio
import json
import os
from collections.abc import Sequence
from typing import Any

import fastmcp
import pytest
from fastmcp import Client, FastMCP
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Link, SpanContext, Status, StatusCode, TraceFlags, TraceState

from .clients import call, message, served, some_arguments
from .collector import collector, values
from .hostile import FAILURES, SECRET, HostileProvider
from .source import Source
from .subject import CODE, Subject, calls, identity, keys, telemetry

THE_LIST = {
    "mcp.org_id",
    "mcp.user_id",
    "mcp.tool",
    "mcp.status",
    "mcp.duration_ms",
    "mcp.code",
    "exception.type",
    "service.name",
    "service.version",
}
CALL = calls.CallRecord(
    call_id="1",
    tool="t",
    status="failed",
    code="not_found",
    org_id="o",
    user_id="u",
    arguments_sha256="0",
    started_ns=1,
    ended_ns=2,
    exception_type="KeyError",
)
GLOBAL_REGISTRATION = {"set_tracer_provider", "set_logger_provider", "set_meter_provider"}


class Kept(SpanExporter):
    """Keeps spans in memory."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.spans.extend(spans)
        return SpanExportResult.SUCCESS


def test_the_list_is_this_one() -> None:
    assert set(telemetry.ALLOWED_KEYS) == THE_LIST
    assert set(telemetry.LANGFUSE_ATTRIBUTES) == {"langfuse.user.id"}


@pytest.mark.parametrize(
    "key",
    [
        "prompt",
        "exception.message",
        "exception.stacktrace",
        "mcp.request.argument.q",
        "user.id",
        "acme.org_id",
    ],
)
def test_an_attribute_that_is_not_listed_does_not_leave(key: str) -> None:
    assert telemetry.allowed({"mcp.org_id": "7", key: SECRET}) == {"mcp.org_id": "7"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mcp.tool", "a sentence with blanks"),
        ("mcp.user_id", "x" * 10_000),
        ("mcp.status", SECRET),
        ("mcp.code", SECRET),
        ("mcp.duration_ms", SECRET),
        ("mcp.duration_ms", -1),
        ("mcp.org_id", ("a", "b")),
        ("exception.type", "builtins.KeyError"),
        ("exception.type", "KeyError: text"),
    ],
)
def test_a_listed_key_is_no_vehicle_for_free_text(key: str, value: Any) -> None:
    assert telemetry.allowed({key: value}) == {}


def test_whatever_is_set_on_a_span_only_the_list_is_exported() -> None:
    with collector() as received:
        exporter = telemetry.AllowListExporter(telemetry.otlp_exporter(received.address, {}))
        resource = Resource({"service.name": "s", "host.name": SECRET, "process.command": SECRET})
        provider = TracerProvider(resource=resource)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        tracer = provider.get_tracer(SECRET, SECRET, attributes={"scope": SECRET})
        elsewhere = SpanContext(1, 2, True, TraceFlags(1), TraceState([("k", SECRET)]))
        parent = trace.set_span_in_context(trace.NonRecordingSpan(elsewhere))
        span = tracer.start_span(SECRET, context=parent, links=[Link(elsewhere, {"link": SECRET})])
        span.set_attributes({"mcp.org_id": "7", "mcp.tool": "t", "exception.message": SECRET, SECRET: SECRET})
        span.add_event(SECRET, {"event": SECRET})
        span.record_exception(RuntimeError(SECRET))
        span.set_status(Status(StatusCode.ERROR, SECRET))
        span.end()
        provider.shutdown()
    assert len(received.spans) == 1
    assert SECRET.encode() not in received.raw
    assert values(list(received.spans[0].attributes)) == {"mcp.org_id": "7", "mcp.tool": "t"}
    assert received.spans[0].name == telemetry.SPAN_NAME
    assert values(list(received.resources[0].resource.attributes)) == {"service.name": "s"}


@pytest.mark.parametrize("langfuse", [False, True])
def test_a_span_of_a_call_holds_these_attributes_and_no_others(langfuse: bool) -> None:
    kept = Kept()
    recorder = telemetry.Telemetry(
        kept, service_name="s", service_version="1", langfuse=langfuse, processor=SimpleSpanProcessor
    )
    recorder.record(CALL)
    recorder.provider.get_tracer(SECRET).start_span(SECRET, attributes={"mcp.tool": "t", SECRET: SECRET}).end()
    ours, stray = kept.spans
    resource = set(ours.resource.attributes)
    assert set(ours.attributes or ()) | resource == THE_LIST | ({"langfuse.user.id"} if langfuse else set())
    assert resource == {"service.name", "service.version"}
    assert (stray.name, stray.attributes) == (telemetry.SPAN_NAME, {"mcp.tool": "t"})


async def test_every_call_is_exported_with_its_caller(subject: Subject) -> None:
    key = keys.KeyFile(subject.keys_file).mint(subject.command, identity.Caller("org-7", "ann@example.org"))
    with collector() as received:
        mcp = subject.build(otlp_endpoint=received.address, otlp_headers={"authorization": "Basic abc"})
        tools = await mcp.list_tools()
        async with served(mcp) as client:
            for tool in tools:
                content = message("tools/call", name=tool.name, arguments=some_arguments(tool.parameters))
                assert (await client.post("/mcp", json=content, headers={"x-api-key": key})).is_success
    assert len(received.spans) == len(tools)
    assert {headers["authorization"] for headers in received.headers} == {"Basic abc"}
    for span in received.spans:
        attributes = values(list(span.attributes))
        assert set(attributes) <= THE_LIST | set(telemetry.LANGFUSE_ATTRIBUTES)
        assert (attributes["mcp.org_id"], attributes["mcp.user_id"]) == ("org-7", "ann@example.org")
        assert attributes["mcp.status"] in ("ok", "degraded", "failed")
    assert {values(list(span.attributes))["mcp.tool"] for span in received.spans} == {tool.name for tool in tools}
    (resource,) = {tuple(sorted(values(list(part.resource.attributes)))) for part in received.resources}
    assert resource == ("service.name", "service.version")


async def test_a_failure_leaves_its_class_and_its_code(subject: Subject) -> None:
    with collector() as received:
        mcp = subject.build(lambda: HostileProvider(FAILURES["chain"]), otlp_endpoint=received.address)
        tool = next(tool for tool in await mcp.list_tools() if not tool.parameters.get("required"))
        await call(mcp, tool.name)
    attributes = values(list(received.spans[0].attributes))
    assert attributes["exception.type"] == "KeyError"
    assert attributes["mcp.code"] == "upstream_unavailable"
    assert received.spans[0].status.code == 2
    assert not received.spans[0].status.message


async def test_a_cancelled_call_is_a_failed_span(subject: Subject) -> None:
    started = asyncio.Event()

    async def hang() -> None:
        started.set()
        await asyncio.sleep(60)

    with collector() as received:
        mcp = subject.build(lambda: HostileProvider(hang), otlp_endpoint=received.address)
        name = next(tool.name for tool in await mcp.list_tools() if not tool.parameters.get("required"))
        async with Client(mcp):
            running = asyncio.create_task(mcp.call_tool(name, {}))
            await started.wait()
            running.cancel()
            await asyncio.wait({running})
    (span,) = received.spans
    assert values(list(span.attributes))["mcp.status"] == "failed"
    assert span.status.code == 2


async def test_a_host_keeps_its_own_tracing(subject: Subject) -> None:
    assert not isinstance(trace.get_tracer_provider(), TracerProvider), "Something registered a provider globally."
    kept = Kept()
    host = TracerProvider()
    host.add_span_processor(SimpleSpanProcessor(kept))
    with collector() as received:
        mcp = subject.build(otlp_endpoint=received.address)
        async with Client(mcp) as client:
            with host.get_tracer("host.library").start_as_current_span("work") as span:
                span.set_attribute("url", SECRET)
                await client.call_tool((await mcp.list_tools())[-1].name, raise_on_error=False)
        assert not isinstance(trace.get_tracer_provider(), TracerProvider), "The connector's provider became global."
    assert [span.name for span in kept.spans] == ["work"]
    assert len(received.spans) == 1
    assert received.spans[0].parent_span_id == b""
    assert SECRET.encode() not in received.raw


async def test_a_server_that_starts_again_is_still_seen(subject: Subject) -> None:
    with collector() as received:
        mcp = subject.build(otlp_endpoint=received.address)
        name = (await mcp.list_tools())[-1].name
        for starts in (1, 2):
            await call(mcp, name)
            assert len(received.spans) == starts


async def test_without_a_collector_no_span_is_made(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Kept()
    monkeypatch.setattr(telemetry.AllowListExporter, "export", lambda _, spans: made.export(spans))
    mcp = subject.build()
    await call(mcp, (await mcp.list_tools())[-1].name)
    assert not made.spans


async def test_the_variables_of_the_sdk_change_nothing(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization={SECRET}",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": f"x-other={SECRET}",
        "OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere",
        "OTEL_RESOURCE_ATTRIBUTES": f"host.name={SECRET}",
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": SECRET,
        "OTEL_BSP_MAX_QUEUE_SIZE": "0",
    }.items():
        monkeypatch.setenv(name, value)
    with collector() as received:
        mcp = subject.build(otlp_endpoint=received.address, otlp_headers={"x-project": "seven"})
        await call(mcp, (await mcp.list_tools())[-1].name)
    assert os.environ["OTEL_BSP_MAX_QUEUE_SIZE"] == "0"
    assert len(received.spans) == 1
    assert SECRET not in json.dumps(received.headers) + received.raw.decode("latin-1")
    assert received.headers[0]["x-project"] == "seven"


def test_a_disabled_sdk_exports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    kept = Kept()
    telemetry.Telemetry(kept, service_name="s", service_version="1", processor=SimpleSpanProcessor).record(CALL)
    assert not kept.spans


def test_no_provider_is_registered_globally() -> None:
    for path, module in Source.of(CODE).modules.items():
        names = {node.attr for node in ast.walk(module) if isinstance(node, ast.Attribute)}
        names |= {alias.name for node in ast.walk(module) if isinstance(node, ast.ImportFrom) for alias in node.names}
        found = names & GLOBAL_REGISTRATION
        assert not found, f"{path.name} calls {sorted(found)}: other libraries' spans would leave by this exporter."


def test_no_span_attribute_is_named_after_a_tenant() -> None:
    """`<server>.org_id` would route connector traffic to a tenant's own project."""
    for path, module in Source.of(CODE).modules.items():
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(".org_id"):
                assert node.value == "mcp.org_id", f"{path.name} names {node.value}."


def test_the_framework_makes_no_spans_of_its_own(subject: Subject) -> None:
    assert isinstance(subject.build(), FastMCP)
    assert fastmcp.settings.telemetry_mode == "off"
