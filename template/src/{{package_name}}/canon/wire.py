"""Keeps stdout for JSON-RPC: whatever else writes to it reaches stderr."""

import io
import os
import sys
from typing import BinaryIO


class WireOutput(io.TextIOBase):
    """Stands in for `sys.stdout` while a server speaks over stdio.

    Text that is printed goes to stderr. The transport takes `buffer`, which is the real stdout.
    """

    def __init__(self, wire: BinaryIO) -> None:
        self.buffer = wire

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the wire."""
        return "utf-8"

    def writable(self) -> bool:
        """Say that text can be written."""
        return True

    def write(self, text: str, /) -> int:
        """Write to stderr."""
        return sys.stderr.write(text)

    def flush(self) -> None:
        """Flush both. The interpreter does so once more when the wire is closed already."""
        if not self.buffer.closed:
            self.buffer.flush()
        sys.stderr.flush()


def reserve_stdout() -> BinaryIO:
    """Move stdout aside and return it; from here on, prints and child processes write to stderr.

    Must run before anything else is imported, since an import can print.
    """
    sys.stdout.flush()
    wire = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = WireOutput(wire)
    return wire
