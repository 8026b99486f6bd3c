"""The one way in: every call of every tool passes here, whatever tool it is for.

Caller, call, code, envelope, audit line, span: no tool remembers to do any of it, so none can forget.
"""

import asyncio
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import anyio.to_thread
import fastmcp
import httpx2
from fastmcp import FastMCP
from fastmcp.exceptions import AuthorizationError, DisabledError, NotFoundError, ValidationError
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult
from fastmcp.tools.base import InputRequiredToolResult
from mcp import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    ReadResourceRequestParams,
    TextContent,
)
from pydantic import ValidationError as PydanticValidationError
from pydantic_core import to_json

from .audit import AuditBusy, AuditLog, AuditUnavailable, arguments_digest
from .callers import current_caller
from .calls import CANCELLED, UNKNOWN_TOOL, CallRecord
from .errors import Code, ConnectorError, Reason
from .identity import Caller
from .logs import log
from .paging import RESULT_LIMIT
from .results import Answer, Status, failure
from .sentences import ENGLISH, Sentences
from .telemetry import Telemetry

LONGEST_CHAIN: Final = 20
NOBODY: Final = Caller("unknown", "unknown")
"""The caller of a request that came past no door."""

REASONS: Final[tuple[tuple[type[BaseException], Code, Reason | None], ...]] = (
    (AuditUnavailable, Code.UPSTREAM_UNAVAILABLE, Reason.AUDIT),
    (AuthorizationError, Code.FORBIDDEN, None),
    (httpx2.TimeoutException, Code.UPSTREAM_UNAVAILABLE, Reason.TIMEOUT),
    (httpx2.TransportError, Code.UPSTREAM_UNAVAILABLE, Reason.UNREACHABLE),
    (httpx2.HTTPError, Code.UPSTREAM_UNAVAILABLE, Reason.UPSTREAM_ERROR),
    (TimeoutError, Code.UPSTREAM_UNAVAILABLE, Reason.TIMEOUT),
    (ConnectionError, Code.UPSTREAM_UNAVAILABLE, Reason.UNREACHABLE),
)
"""What an exception that is none of ours leaves as. Anything else is `internal`."""


def install(
    mcp: FastMCP,
    *,
    audit: AuditLog,
    telemetry: Telemetry,
    sentences: Sentences = ENGLISH,
    envelopes_only: bool = False,
) -> None:
    """Put the boundary around everything that a server answers. This is all that a hand-written server needs.

    With `envelopes_only`, a tool that returns anything but an `Answer` fails; without it, such a result passes as is.
    """
    # FastMCP's own spans go to the global provider and carry arguments and messages.
    fastmcp.settings.telemetry_mode = "off"
    mcp.middleware.insert(0, Boundary(audit, telemetry, sentences, envelopes_only=envelopes_only))


class Boundary(Middleware):
    """Turns whatever happens behind it into an envelope, an audit line and a span."""

    def __init__(
        self, audit: AuditLog, telemetry: Telemetry, sentences: Sentences, *, envelopes_only: bool = False
    ) -> None:
        self._audit = audit
        self._telemetry = telemetry
        self._sentences = sentences
        self._envelopes_only = envelopes_only

    async def on_message(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Let no exception's text out, whatever the message was."""
        try:
            return await call_next(context)
        except BaseException as error:
            if _ends(error):
                raise
            if context.method == "tools/call":
                await self._unreadable_call()
            raise self._protocol_error(error) from None

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Answer with JSON also when a resource fails."""
        try:
            return await super().on_read_resource(context, call_next)
        except (NotFoundError, DisabledError):
            raise
        except BaseException as error:
            if _ends(error):
                raise
            envelope = failure(self._connector_error(error), self._sentences)
            content = ResourceContent(envelope.model_dump_json(), mime_type="application/json")
            return ResourceResult(contents=[content])

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Answer one call of a tool."""
        call = _Call(context.message)
        try:
            call.caller = current_caller()
            self._audit.check()
            call.tool = context.message.name
            result = self._accepted(await call_next(await _decoded(context)))
            call.answered(result)
        except BaseException as error:
            if _ends(error):
                call.status = CANCELLED
                await self._finish(call)
                raise
            result = self._refused(call, error)
        if not await self._finish(call):
            result = self._refused(call, AuditUnavailable())
        return result

    def _protocol_error(self, error: BaseException) -> MCPError:
        """Return what a client reads of a failure that is no tool's: a code and never the text of an exception."""
        known = {METHOD_NOT_FOUND: "Method not found", INVALID_PARAMS: self._sentences.codes[Code.INVALID_INPUT]}
        match error:
            case NotFoundError() | DisabledError():
                return MCPError(code=INVALID_PARAMS, message=self._sentences.codes[Code.NOT_FOUND])
            case PydanticValidationError():
                return MCPError(code=INVALID_PARAMS, message=known[INVALID_PARAMS])
            case MCPError(error=reported) if reported.code in known:
                return MCPError(code=reported.code, message=known[reported.code])
        log.error("A request failed outside of a tool.", exc_info=error)
        code = error.error.code if isinstance(error, MCPError) else INTERNAL_ERROR
        return MCPError(code=code, message=self._sentences.reasons[Reason.INTERNAL])

    async def _unreadable_call(self) -> None:
        """Write the line of a call that is so malformed that it never became one."""
        call = _Call(CallToolRequestParams(name=UNKNOWN_TOOL, arguments={}))
        call.code = Code.INVALID_INPUT
        with suppress(ConnectorError):
            call.caller = current_caller()
        await self._finish(call)

    async def _finish(self, call: "_Call") -> bool:
        """Write the audit line and the span, and return whether the line was written."""
        record = call.record()
        try:
            await self._append(record)
            written = True
        except AuditUnavailable:
            log.error("The audit line of call %s could not be written; the call is refused.", call.call_id)
            record = replace(record, status=str(Status.FAILED), code=Code.UPSTREAM_UNAVAILABLE)
            written = False
        with suppress(Exception):
            self._telemetry.record(record)
        return written

    async def _append(self, record: CallRecord) -> None:
        """Write the audit line; wait for others who are writing beside the loop, so that all else goes on."""
        try:
            self._audit.append(record, seconds=0)
        except AuditBusy:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._audit.append, record)

    def _accepted(self, result: ToolResult) -> ToolResult:
        if self._envelopes_only and not isinstance(result, Answer | InputRequiredToolResult):
            log.error("A tool returned something other than an Answer.")
            raise ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason=Reason.INTERNAL)
        if isinstance(result, Answer) and _size(result) > RESULT_LIMIT:
            raise ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason=Reason.TOO_LARGE, retryable=False)
        return result

    def _refused(self, call: "_Call", error: BaseException) -> ToolResult:
        if isinstance(error, NotFoundError | DisabledError):
            call.tool = UNKNOWN_TOOL
        refusal = self._connector_error(error)
        call.failed(refusal, error)
        return Answer(failure(refusal, self._sentences, reference=call.call_id))

    def _connector_error(self, error: BaseException) -> ConnectorError:
        if isinstance(error, NotFoundError | DisabledError):
            return ConnectorError(Code.INVALID_INPUT, self._sentences.unknown_tool)
        if isinstance(error, ValidationError):
            fields = _wrong_fields(error.__cause__, self._sentences)
            return ConnectorError(Code.INVALID_INPUT, self._sentences.wrong_arguments.format(fields=fields))
        causes = _causes(error)
        for cause in causes:
            if isinstance(cause, ConnectorError):
                return cause
        for cause in causes:
            for kind, code, reason in REASONS:
                if isinstance(cause, kind):
                    log.warning("A call left as %s.", reason or code, exc_info=cause)
                    return ConnectorError(code, reason=reason)
        log.error("A call failed inside the connector.", exc_info=error)
        return ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason=Reason.INTERNAL)


class _Call:
    """A call under way."""

    def __init__(self, message: CallToolRequestParams) -> None:
        self.call_id: Final = uuid.uuid4().hex
        self.tool = UNKNOWN_TOOL
        self.caller = NOBODY
        self.status = str(Status.FAILED)
        self.code: Code | None = None
        self.exception_type: str | None = None
        self._arguments = message.arguments or {}
        self._started_ns = time.time_ns()
        self._started = time.perf_counter_ns()

    def answered(self, result: ToolResult) -> None:
        if isinstance(result, Answer):
            self.status, self.code = str(result.envelope.status), result.envelope.code
        else:
            self.status = str(Status.FAILED if result.is_error else Status.OK)

    def failed(self, refusal: ConnectorError, error: BaseException) -> None:
        self.status, self.code = str(Status.FAILED), refusal.code
        if refusal is not error:
            self.exception_type = type(_causes(error)[-1]).__name__

    def record(self) -> CallRecord:
        return CallRecord(
            call_id=self.call_id,
            tool=self.tool,
            status=self.status,
            code=self.code,
            org_id=self.caller.org_id,
            user_id=self.caller.user_id,
            arguments_sha256=arguments_digest(self._arguments),
            started_ns=self._started_ns,
            ended_ns=self._started_ns + time.perf_counter_ns() - self._started,
            exception_type=self.exception_type,
        )


def _ends(error: BaseException) -> bool:
    """Return whether the request is over: cancelled itself, and not something that a tool waited for; or interrupted."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return not isinstance(error, Exception | SystemExit)


def _causes(error: BaseException) -> list[BaseException]:
    """Return an exception, what it was raised from, and what a group holds."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting and len(found) < LONGEST_CHAIN:
        current = waiting.pop(0)
        if current is None or current in found:
            continue
        found.append(current)
        waiting.append(current.__cause__)
        if isinstance(current, BaseExceptionGroup):
            waiting.extend(current.exceptions)
    return found


def _wrong_fields(error: BaseException | None, sentences: Sentences) -> str:
    """Return the names of the arguments at fault. A name that no tool declares is the caller's own text."""
    if not isinstance(error, PydanticValidationError):
        return sentences.codes[Code.INVALID_INPUT].rstrip(".")
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    unknown = {"unexpected_keyword_argument", "extra_forbidden"}
    names = {str(problem["loc"][0]) for problem in problems if problem["loc"] and problem["type"] not in unknown}
    if any(problem["type"] in unknown for problem in problems):
        names.add(sentences.unknown_arguments)
    return ", ".join(sorted(names))


def _size(result: Answer) -> int:
    text = sum(len(to_json(block.text).decode()) for block in result.content if isinstance(block, TextContent))
    return text + len(result.envelope.model_dump_json())


async def _decoded(context: MiddlewareContext[CallToolRequestParams]) -> MiddlewareContext[CallToolRequestParams]:
    """Read lists and objects that a client sent as JSON text. An argument that may be text is left alone."""
    message = context.message
    arguments = message.arguments or {}
    texts = [name for name, value in arguments.items() if isinstance(value, str) and value.lstrip()[:1] in ("[", "{")]
    if not texts or context.fastmcp_context is None:
        return context
    tool = await context.fastmcp_context.fastmcp.get_tool(message.name)
    if tool is None:
        return context
    decoded = {name: _json(arguments[name]) for name in texts if not _takes_text(tool, name)}
    return context.copy(message=message.model_copy(update={"arguments": {**arguments, **decoded}}))


def _takes_text(tool: Tool, name: str) -> bool:
    schema = tool.parameters.get("properties", {}).get(name, {})
    variants: Sequence[Mapping[str, Any]] = schema.get("anyOf", [schema])
    return not any(variant.get("type") in ("array", "object") for variant in variants) or any(
        variant.get("type") == "string" for variant in variants
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
