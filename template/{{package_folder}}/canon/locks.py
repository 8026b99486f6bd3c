"""Locks between processes, and files that only their owner can read."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl
else:
    from filelock import FileLock, Timeout

LOCK_SECONDS: Final = 5.0
LOCK_PAUSE_SECONDS: Final = 0.001
OWNER_ONLY: Final = 0o600


class LockHeldError(OSError):
    """Another process or thread held the lock for longer than was waited for."""


def opened(path: Path, flags: int) -> int:
    """Open a file, making it and its folder where they are missing."""
    try:
        return os.open(path, flags | os.O_CREAT, OWNER_ONLY)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags | os.O_CREAT, OWNER_ONLY)


if sys.platform != "win32":

    @contextmanager
    def locked(path: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Keep other processes and threads out. Each use opens the lock anew, so a fork shares none with its parent.

        Raises:
            LockHeldError: they did not leave within `seconds`.
        """
        descriptor = opened(path, os.O_RDWR)
        try:
            until = time.monotonic() + seconds
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= until:
                        raise LockHeldError from None
                    time.sleep(LOCK_PAUSE_SECONDS)
            yield
        finally:
            os.close(descriptor)

else:

    @contextmanager
    def locked(path: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Keep other processes and threads out.

        Raises:
            LockHeldError: they did not leave within `seconds`.
        """
        lock = FileLock(path, is_singleton=False)
        try:
            lock.acquire(timeout=seconds)
        except Timeout:
            raise LockHeldError from None
        try:
            yield
        finally:
            lock.release()
