"""Spans that cannot leak: everything that leaves is built anew from an allow-list.

The tracer provider is private. It is never registered globally, so no other library's spans reach this exporter, and
the host's own tracing stays as it is.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import anyio.to_thread
from opentelemetry.sdk.environment_variables import OTEL_SDK_DISABLED
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import NoOpTracer, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.util.types import AttributeValue

from .calls import CANCELLED, CallRecord
from .errors import Code
from .results import Status as AnswerStatus

SPAN_NAME: Final = "tools/call"
SCOPE_NAME: Final = "mcp.connector"
FLUSH_MILLISECONDS: Final = 3_000
EXPORT_SECONDS: Final = 3.0
"""A collector that is away holds the end of the process up for no longer."""
WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,127}")
CLASS_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

Rule = Callable[[object], bool]


def _word(value: object) -> bool:
    return isinstance(value, str) and WORD.fullmatch(value) is not None


def _class_name(value: object) -> bool:
    return isinstance(value, str) and CLASS_NAME.fullmatch(value) is not None


def _one_of(values: Sequence[str]) -> Rule:
    allowed = frozenset(str(value) for value in values)
    return lambda value: isinstance(value, str) and value in allowed


def _duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


SPAN_ATTRIBUTES: Final[Mapping[str, Rule]] = {
    "mcp.org_id": _word,
    "mcp.user_id": _word,
    "mcp.tool": _word,
    "mcp.status": _one_of(tuple(AnswerStatus)),
    "mcp.duration_ms": _duration,
    "mcp.code": _one_of(tuple(Code)),
    "exception.type": _class_name,
}
RESOURCE_ATTRIBUTES: Final[Mapping[str, Rule]] = {"service.name": _word, "service.version": _word}
LANGFUSE_ATTRIBUTES: Final[Mapping[str, Rule]] = {"langfuse.user.id": _word}
ALLOWED_KEYS: Final = frozenset({*SPAN_ATTRIBUTES, *RESOURCE_ATTRIBUTES})
"""Every key that may leave the process. A test pins this list; a longer one is a decision, not an accident."""


def allowed(
    attributes: Mapping[str, AttributeValue] | None, rules: Mapping[str, Rule] = SPAN_ATTRIBUTES
) -> dict[str, AttributeValue]:
    """Return the attributes that may leave. The one function that every attribute set passes."""
    return {key: value for key, value in (attributes or {}).items() if key in rules and rules[key](value)}


class AllowListExporter(SpanExporter):
    """Hands spans on after building each anew; a span that cannot be built anew is dropped."""

    def __init__(self, exporter: SpanExporter, rules: Mapping[str, Rule] = SPAN_ATTRIBUTES) -> None:
        self._exporter = exporter
        self._rules = rules
        self._resources: tuple[Resource, Resource] | None = None

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export what the allow-list leaves of each span."""
        return self._exporter.export([self._rebuilt(span) for span in spans])

    def shutdown(self) -> None:
        """Close the exporter behind this one."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the exporter behind this one."""
        return self._exporter.force_flush(timeout_millis)

    def _rebuilt(self, span: ReadableSpan) -> ReadableSpan:
        # Events, links, status description and trace state are left out whole: each can carry free text. The resource
        # is never None, which would make the SDK read the environment.
        return ReadableSpan(
            name=SPAN_NAME,
            context=_bare(span.get_span_context()),
            parent=_bare(span.parent),
            resource=self._resource(span.resource),
            attributes=allowed(span.attributes, self._rules),
            events=(),
            links=(),
            kind=SpanKind.SERVER,
            status=Status(span.status.status_code),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=InstrumentationScope(SCOPE_NAME),
        )

    def _resource(self, resource: Resource) -> Resource:
        # Spans of one provider share one resource, which cannot change.
        if self._resources is None or self._resources[0] is not resource:
            self._resources = resource, Resource(allowed(resource.attributes, RESOURCE_ATTRIBUTES))
        return self._resources[1]


def _bare(context: SpanContext | None) -> SpanContext | None:
    if context is None:
        return None
    return SpanContext(context.trace_id, context.span_id, context.is_remote, TraceFlags(context.trace_flags))


@contextmanager
def _own_settings_alone() -> Iterator[None]:
    """Hide the SDK's variables while its parts are made.

    They may hold another collector's credentials, which would be sent to this one, or numbers that stop the start.
    """
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if _is_hidden(name)}
    try:
        yield
    finally:
        os.environ.update(hidden)


def _is_hidden(name: str) -> bool:
    return name.startswith("OTEL_") and name != OTEL_SDK_DISABLED


class Telemetry:
    """One span for each call of a tool, to one exporter, through the allow-list.

    `langfuse` adds `langfuse.user.id`. `processor` batches by default.
    """

    def __init__(
        self,
        exporter: SpanExporter | None,
        *,
        service_name: str,
        service_version: str,
        langfuse: bool = False,
        processor: Callable[[SpanExporter], SpanProcessor] = BatchSpanProcessor,
    ) -> None:
        self._langfuse = langfuse
        with _own_settings_alone():
            self.provider: Final = TracerProvider(
                resource=Resource({"service.name": service_name, "service.version": service_version}),
                shutdown_on_exit=True,
            )
        self._processor: SpanProcessor | None = None
        # The SDK's way to say that OTEL_SDK_DISABLED is set.
        disabled = isinstance(self.provider.get_tracer(SCOPE_NAME), NoOpTracer)
        if exporter is not None and not disabled:
            rules = {**SPAN_ATTRIBUTES, **LANGFUSE_ATTRIBUTES} if langfuse else SPAN_ATTRIBUTES
            with _own_settings_alone():
                self._processor = processor(AllowListExporter(exporter, rules))
            self.provider.add_span_processor(self._processor)

    def record(self, call: CallRecord) -> None:
        """Export one finished call."""
        if self._processor is None:
            return
        # A span has the three states of an answer; the audit line keeps that a call was cancelled.
        status = AnswerStatus.FAILED if call.status == CANCELLED else call.status
        attributes: dict[str, AttributeValue] = {
            "mcp.org_id": call.org_id,
            "mcp.user_id": call.user_id,
            "mcp.tool": call.tool,
            "mcp.status": str(status),
            "mcp.duration_ms": call.duration_ms,
        }
        if call.code is not None:
            attributes["mcp.code"] = call.code
        if call.exception_type is not None:
            attributes["exception.type"] = call.exception_type
        if self._langfuse:
            attributes["langfuse.user.id"] = call.user_id
        identifiers = self.provider.id_generator
        context = SpanContext(
            identifiers.generate_trace_id(), identifiers.generate_span_id(), False, TraceFlags(TraceFlags.SAMPLED)
        )
        # A call is over when it is recorded, so its span is made whole and never current: neither a client's
        # traceparent nor a global provider's span becomes its parent, and nothing propagates outward.
        self._processor.on_end(
            ReadableSpan(
                SPAN_NAME,
                context,
                parent=None,
                resource=self.provider.resource,
                attributes=attributes,
                kind=SpanKind.SERVER,
                status=Status(StatusCode.ERROR if status == AnswerStatus.FAILED else StatusCode.OK),
                start_time=call.started_ns,
                end_time=call.ended_ns,
            )
        )

    async def flush(self) -> None:
        """Send what is left. A server that starts again goes on with the same exporter; the process's end closes it."""
        await anyio.to_thread.run_sync(self.provider.force_flush, FLUSH_MILLISECONDS)


def otlp_exporter(endpoint: str, headers: Mapping[str, str]) -> SpanExporter:
    """Return an OTLP/HTTP exporter for the full address of a collector."""
    # Only where there is a collector: it brings a second HTTP client along.
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    with _own_settings_alone():
        return OTLPSpanExporter(
            endpoint=endpoint, headers=headers, compression=Compression.NoCompression, timeout=EXPORT_SECONDS
        )
