"""A real PostgreSQL server of this machine, for as long as tests need one."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

PACKAGED: Final = Path("/usr/lib/postgresql")
UNPRIVILEGED: Final = ("postgres", "nobody")
"""Whom the server runs as when the tests run as root, which it refuses to serve."""
START_SECONDS: Final = 60


def programs() -> Path | None:
    """Return the folder with the programs of the newest server on this machine."""
    packaged = [path.parent for path in PACKAGED.glob("*/bin/initdb")]
    if packaged:
        return max(packaged, key=lambda path: float(path.parent.name))
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def somebody() -> dict[str, Any]:
    """Return who runs the server, as `subprocess` wants it said: ourselves, unless that is root."""
    if os.geteuid() != 0:
        return {}
    entry = next(entry for name in UNPRIVILEGED for entry in pwd.getpwall() if entry.pw_name == name)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
    return port


@contextmanager
def serving() -> Iterator[str]:
    """Run a server with a folder of its own and yield its address."""
    found = programs()
    if found is None:
        sentence = "There is no PostgreSQL server on this machine, so the provider that needs one goes untested."
        if os.environ.get("CI"):
            pytest.fail(sentence)
        pytest.skip(sentence)
    owner, port = somebody(), free_port()
    # The folders of pytest are closed to everybody but their owner.
    with tempfile.TemporaryDirectory() as folder:
        if owner:
            os.chown(folder, owner["user"], owner["group"])
        data = str(Path(folder) / "data")
        initdb = [str(found / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
        done = subprocess.run(initdb, cwd=folder, capture_output=True, text=True, check=False, **owner)
        assert done.returncode == 0, done.stderr
        listening = ["-h", "127.0.0.1", "-p", str(port)]
        postgres = [
            str(found / "postgres"),
            "-D",
            data,
            *listening,
            "-c",
            "fsync=off",
            "-c",
            "unix_socket_directories=",
        ]
        with (
            tempfile.TemporaryFile() as log,
            subprocess.Popen(postgres, cwd=folder, stdout=log, stderr=log, **owner) as server,
        ):
            try:
                end = time.monotonic() + START_SECONDS
                while subprocess.run([str(found / "pg_isready"), "-q", *listening], cwd=folder, check=False).returncode:
                    if server.poll() is not None or time.monotonic() > end:
                        log.seek(0)
                        pytest.fail(f"PostgreSQL does not start: {log.read().decode()}")
                    time.sleep(0.1)
                yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
            finally:
                server.send_signal(signal.SIGINT)
