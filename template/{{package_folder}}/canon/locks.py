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
    from filelock import FileLock

LOCK_SECONDS: Final = 5.0
LOCK_PAUSE_SECONDS: Final = 0.001
OWNER_ONLY: Final = 0o600


def opened(path: Path, flags: int) -> int:
    """Open a file, making it and its folder where they are missing."""
    try:
        return os.open(path, flags | os.O_CREAT, OWNER_ONLY)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags | os.O_CREAT, OWNER_ONLY)


if sys.platform != "win32":

    @contextmanager
    def locked(path: Path) -> Iterator[None]:
        """Keep other processes and threads out. Each use opens the lock anew, so a fork shares none with its parent."""
        descriptor = opened(path, os.O_RDWR)
        try:
            until = time.monotonic() + LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise
                    time.sleep(LOCK_PAUSE_SECONDS)
            yield
        finally:
            os.close(descriptor)

else:

    def locked(path: Path) -> FileLock:
        """Keep other processes and threads out."""
        return FileLock(path, timeout=LOCK_SECONDS, is_singleton=False)
