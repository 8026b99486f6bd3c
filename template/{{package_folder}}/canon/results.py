"""The envelope of every answer, and three states that cannot lie."""

import json
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cache
from typing import Any, Generic, Self, TypeAlias, TypeVar, cast

from fastmcp.tools import ToolResult
from mcp_types import TextContent
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PrivateAttr, model_validator

from .errors import Code, ConnectorError, Reason, is_raised
from .sentences import Sentences


class Status(StrEnum):
    """The three states of an answer."""

    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"


class Sealed(BaseModel):
    """A model that no back door builds: every way to an instance goes through validation."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, json_schema_serialization_defaults_required=True
    )

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:
        """Validate like any other construction."""
        return cls(**values)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Validate the copy like any other construction."""
        return type(self).model_validate({**dict(self), **(update or {})})


class Detail(Sealed):
    """What a client may know about a failure beside its code."""

    reason: Reason | None = None
    retry_after_seconds: NonNegativeInt | None = None
    retryable: bool | None = None
    reference: str | None = Field(default=None, description="The `call_id` of the audit line.")


class Coverage(Sealed):
    """The denominator: how many units this answer ought to hold, and how many of them it holds."""

    unit: str
    total: NonNegativeInt
    usable: NonNegativeInt

    @model_validator(mode="after")
    def _usable_is_a_part_of_total(self) -> Self:
        if self.usable > self.total:
            raise ValueError(
                f"usable {self.usable} is more than total {self.total}: count both over the same {self.unit}."
            )
        return self


Data = TypeVar("Data")


class Envelope(Sealed, Generic[Data]):
    """The structured content of an answer.

    Raises:
        ValueError: the state contradicts the code, the coverage or the data.
    """

    status: Status
    code: Code | None = None
    message: str
    detail: Detail | None = None
    coverage: Coverage | None = None
    data: Data | None = None
    source: str | None = Field(default=None, description="The provider that answered.")

    @model_validator(mode="after")
    def _state_tells_the_truth(self) -> Self:
        part = self.coverage is not None and self.coverage.usable < self.coverage.total
        match self.status:
            case Status.OK if self.code is not None:
                raise ValueError(f"status ok carries no code, but {self.code} was given.")
            case Status.OK if part:
                raise ValueError("status ok refuses a part of the data: say degraded, with the coverage.")
            case Status.DEGRADED if self.code is not Code.PARTIAL_RESULT:
                raise ValueError("status degraded goes with the code partial_result.")
            case Status.DEGRADED if not part:
                raise ValueError("status degraded needs a coverage with usable below total.")
            case Status.FAILED if self.code in (None, Code.PARTIAL_RESULT):
                raise ValueError("status failed needs one of the codes, other than partial_result.")
            case Status.FAILED if self.data is not None:
                raise ValueError("status failed carries no data.")
        return self


AnyEnvelope: TypeAlias = Envelope[Any]
"""An envelope whatever it holds. Named once, because to parametrise a model is not free at each call."""


def output_schema(envelope: type[Envelope[Any]]) -> dict[str, Any]:
    """Return the JSON schema that a tool publishes for its structured content.

    Every answer of the tool fits it, also a failed one, which holds the envelope and nothing more.
    """
    return cast(dict[str, Any], json.loads(_output_schema(envelope)))


@cache
def _output_schema(envelope: type[Envelope[Any]]) -> str:
    # An answer names its fields as the code does, whatever a source calls them.
    schema = envelope.model_json_schema(mode="serialization", by_alias=False)
    schema["required"] = list(Envelope.model_fields)
    for model in (schema, *schema.get("$defs", {}).values()):
        # Docstrings and generated titles speak to whoever edits the code, and every client would pay for them.
        model.pop("description", None)
        model.pop("title", None)
        for field in model.get("properties", {}).values():
            field.pop("title", None)
            # Every field is always there, so a default says nothing.
            field.pop("default", None)
    # A model that holds itself keeps its references.
    with suppress(RecursionError):
        schema = _inlined(schema, schema.get("$defs", {}))
    return json.dumps(schema)


def _inlined(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Put definitions where they are referred to, as the framework does at every listing and with another library."""
    match part:
        case {"$ref": str(reference), **beside}:
            return {**_inlined(definitions[reference.rpartition("/")[2]], definitions), **beside}
        case dict():
            return _or_null({name: _inlined(value, definitions) for name, value in part.items() if name != "$defs"})
        case list():
            return [_inlined(value, definitions) for value in part]
        case _:
            return part


def _or_null(part: dict[str, Any]) -> dict[str, Any]:
    """Say beside a value's type that it may be null, and not as a choice, which takes a client three times as long."""
    match part.get("anyOf"):
        case [{"type": str(kind)} as value, {"type": "null"}] if "const" not in value:
            beside = {name: kept for name, kept in part.items() if name != "anyOf"}
            choices = {"enum": [*value["enum"], None]} if "enum" in value else {}
            return {**value, **choices, **beside, "type": [kind, "null"]}
        case _:
            return part


class Answer(ToolResult):
    """A tool's result: prose for a person, the envelope for the agent.

    `listing` is what a person reads below the message, such as one record a line.
    """

    _envelope: AnyEnvelope = PrivateAttr()

    def __init__(self, envelope: AnyEnvelope, listing: str = "") -> None:
        reason = envelope.detail.reason if envelope.detail else None
        # Past the framework's constructor, which would serialise what is JSON already.
        BaseModel.__init__(
            self,
            content=[TextContent(type="text", text=prose(envelope, listing))],
            structured_content=envelope.model_dump(mode="json"),
            is_error=envelope.code is not None and is_raised(envelope.code, reason),
        )
        self._envelope = envelope

    @property
    def envelope(self) -> AnyEnvelope:
        """The typed envelope behind the structured content."""
        return self._envelope


def prose(envelope: AnyEnvelope, listing: str = "") -> str:
    """Return the text content, such as `failed [not_found]: no act 32099R0001.` and the listing below it."""
    head = envelope.message if envelope.code is None else f"{envelope.status} [{envelope.code}]: {envelope.message}"
    return f"{head}\n{listing}" if listing else head


def ok(data: Data, message: str, *, source: str, coverage: Coverage | None = None, listing: str = "") -> Answer:
    """Answer with the whole of what was asked for."""
    envelope = AnyEnvelope(status=Status.OK, message=message, coverage=coverage, data=data, source=source)
    return Answer(envelope, listing)


def degraded(data: Data, message: str, *, source: str, coverage: Coverage, listing: str = "") -> Answer:
    """Answer with a part of the data and the count of what is missing."""
    envelope = AnyEnvelope(
        status=Status.DEGRADED,
        code=Code.PARTIAL_RESULT,
        message=message,
        coverage=coverage,
        data=data,
        source=source,
    )
    return Answer(envelope, listing)


def failure(error: ConnectorError, sentences: Sentences, *, reference: str | None = None) -> AnyEnvelope:
    """Return the envelope that `error` leaves with. `reference` is the `call_id` of the audit line."""
    detail = Detail(
        reason=error.reason,
        retry_after_seconds=error.retry_after_seconds,
        retryable=error.retryable,
        reference=reference,
    )
    message = error.message or sentences.of(error.code, error.reason)
    return AnyEnvelope(status=Status.FAILED, code=error.code, message=message, detail=detail)
