"""The audit log: one line for each call of a tool, on this machine, without arguments in clear."""

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from .calls import CallRecord
from .locks import LOCK_SECONDS, LockHeldError, locked, opened

FILE_NAME: Final = "audit.jsonl"


class AuditUnavailable(Exception):
    """The line cannot be written, so the call must be refused."""


class AuditBusy(AuditUnavailable):
    """The line was not written, because others were writing for longer than was waited for."""


def arguments_digest(arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256, in hex, of arguments as JSON with sorted keys."""
    text = json.dumps(arguments, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class AuditLog:
    """Appends whole lines to `audit.jsonl`, safely beside other processes and beside a log rotation."""

    def __init__(self, folder: Path, *, fsync: bool = False) -> None:
        self.path: Final = folder / FILE_NAME
        self._fsync = fsync
        self._lock: Final = folder / f".{FILE_NAME}.lock"

    def prepare(self) -> None:
        """Make the folder, and make sure that lines can be written to it.

        Raises:
            AuditUnavailable: they cannot.
        """
        self.check()
        try:
            with locked(self._lock):
                pass
        except OSError:
            raise AuditUnavailable from None

    def check(self) -> None:
        """Make sure that a line can be written, before the call that it is for does anything.

        Raises:
            AuditUnavailable: it cannot.
        """
        os.close(self._open())

    def append(self, call: CallRecord, *, seconds: float = LOCK_SECONDS) -> None:
        """Write one line.

        Raises:
            AuditUnavailable: it was not written.
            AuditBusy: others were writing for longer than `seconds`.
        """
        line = _line(call)
        try:
            # The file is opened by name under the lock, so that a rotated one is never written to.
            with locked(self._lock, seconds):
                descriptor = self._open()
                try:
                    before = os.fstat(descriptor).st_size
                    if os.write(descriptor, line) != len(line):
                        # A full disk takes a part of a line, and the next line must not continue it.
                        os.ftruncate(descriptor, before)
                        raise AuditUnavailable
                    if self._fsync:
                        os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        except LockHeldError:
            raise AuditBusy from None
        except OSError:
            raise AuditUnavailable from None

    def _open(self) -> int:
        try:
            return opened(self.path, os.O_WRONLY | os.O_APPEND)
        except OSError:
            raise AuditUnavailable from None


def _line(call: CallRecord) -> bytes:
    entry = {
        "at": datetime.fromtimestamp(call.started_ns / 1_000_000_000, UTC).isoformat(timespec="milliseconds"),
        "call_id": call.call_id,
        "tool": call.tool,
        "status": call.status,
        "code": call.code,
        "duration_ms": call.duration_ms,
        "org_id": call.org_id,
        "user_id": call.user_id,
        "arguments_sha256": call.arguments_sha256,
    }
    return json.dumps(entry, ensure_ascii=False).encode() + b"\n"
