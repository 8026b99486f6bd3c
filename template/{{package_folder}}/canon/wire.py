"""Keeps stdout for JSON-RPC: whatever else writes to it reaches stderr."""

import io
import os
import select
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Final

PIECE: Final = 65_536
"""Bytes that are passed on at once."""


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


def reserve_stdin(wire: BinaryIO) -> Callable[[], None]:
    """Put a pipe before stdin, and return what ends it.

    A server that reads stdin itself cannot be stopped before its client writes once more. This one sees the end of its
    input when it is told to stop, and when nobody reads `wire` any longer.
    """
    if not hasattr(select, "poll"):
        return lambda: None
    real = os.dup(0)
    out, into = os.pipe()
    os.dup2(out, 0)
    os.close(out)

    def end() -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, into)
        os.close(nowhere)

    def pass_on() -> None:
        watched = select.poll()
        watched.register(real, select.POLLIN)
        watched.register(wire.fileno(), 0)
        # A terminal that is gone cannot be read, which is an end like any other.
        with suppress(OSError):
            while all(number == real for number, _ in watched.poll()):
                piece = os.read(real, PIECE)
                if not piece:
                    break
                while piece:
                    piece = piece[os.write(into, piece) :]
        end()

    threading.Thread(target=pass_on, daemon=True).start()
    return end
