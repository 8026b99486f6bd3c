"""What is known of one call of a tool: the source of its audit line and of its span."""

from dataclasses import dataclass
from typing import Final

CANCELLED: Final = "cancelled"
UNKNOWN_TOOL: Final = "unknown"
"""Recorded in place of a name that is not registered, which is whatever the caller wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call. Times are nanoseconds since the epoch; `arguments_sha256` is of the arguments as canonical JSON."""

    call_id: str
    tool: str
    status: str
    code: str | None
    org_id: str
    user_id: str
    arguments_sha256: str
    started_ns: int
    ended_ns: int
    exception_type: str | None = None

    @property
    def duration_ms(self) -> float:
        """How long the call took, in milliseconds."""
        return round((self.ended_ns - self.started_ns) / 1_000_000, 3)
