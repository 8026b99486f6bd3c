"""The six stable codes, and the one exception that carries them."""

import logging
from enum import StrEnum
from typing import Final

from fastmcp.exceptions import ToolError

from .text import one_line


class Code(StrEnum):
    """What an agent branches on. Adding, renaming or removing one breaks every consumer."""

    NOT_FOUND = "not_found"
    INVALID_INPUT = "invalid_input"
    UPSTREAM_UNAVAILABLE = "upstream_unavailable"
    RATE_LIMITED = "rate_limited"
    FORBIDDEN = "forbidden"
    PARTIAL_RESULT = "partial_result"

    @classmethod
    def _missing_(cls, value: object) -> "Code":
        raise ValueError(f"{value!r} is not a code: use one of {', '.join(cls)}.")


class Reason(StrEnum):
    """Why `upstream_unavailable` was answered."""

    STARTING = "starting"
    AUDIT = "audit"
    INTERNAL = "internal"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    UPSTREAM_ERROR = "upstream_error"
    CREDENTIAL = "credential"
    MALFORMED = "malformed"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"


REQUEST_REFUSED: Final = frozenset({Code.INVALID_INPUT, Code.FORBIDDEN, Code.RATE_LIMITED})
CONNECTOR_CANNOT_SERVE: Final = frozenset({Reason.STARTING, Reason.AUDIT, Reason.INTERNAL})


def is_raised(code: Code, reason: Reason | None) -> bool:
    """Whether an answer leaves as an error: asked for something wrong, or nobody could look."""
    return code in REQUEST_REFUSED or (code is Code.UPSTREAM_UNAVAILABLE and reason in CONNECTOR_CANNOT_SERVE)


class ConnectorError(ToolError):
    """A failed answer: `code` for the agent, `message` for people.

    The message reaches the client as it is. Never build it from another exception, a URL or an upstream body. Without
    one, the boundary says the sentence that goes with the reason or the code, in the connector's language.

    Raises:
        ValueError: `code` is not one of the six, or is `partial_result`, which is returned with its data.
    """

    def __init__(
        self,
        code: Code | str,
        message: str = "",
        *,
        reason: Reason | None = None,
        retry_after_seconds: int | None = None,
        retryable: bool | None = None,
    ) -> None:
        self.code: Final = Code(code)
        if self.code is Code.PARTIAL_RESULT:
            raise ValueError("partial_result is never raised: return degraded() with the data and its coverage.")
        self.message: Final = one_line(message)
        self.reason: Final = reason
        self.retry_after_seconds: Final = retry_after_seconds
        self.retryable: Final = retryable
        # FastMCP logs what a tool raises; an ordinary refusal is an answer and no error of the server.
        super().__init__(self.message or self.code, log_level=logging.DEBUG)
