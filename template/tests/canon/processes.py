"""The server's command in processes of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .subject import SOURCES, Subject

SECONDS: Final = 30
Process = subprocess.Popen[str]


def environment(subject: Subject, folder: Path, **settings: str) -> dict[str, str]:
    """Return the variables of a process: settings for this server alone, and none of the developer's own."""
    prefix = str(subject.settings.model_config.get("env_prefix", ""))
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(prefix)},
        "PYTHONPATH": str(SOURCES),
        "PYTHONWARNINGS": "always",
        f"{prefix}AUDIT_DIR": str(folder / "audit"),
        f"{prefix}API_KEYS_FILE": str(folder / "keys.json"),
        **{f"{prefix}{name}": value for name, value in settings.items()},
    }


def start(subject: Subject, folder: Path, *arguments: str, stderr: int = subprocess.PIPE, **settings: str) -> Process:
    """Start the server's command."""
    return subprocess.Popen(
        [sys.executable, "-m", subject.program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env=environment(subject, folder, **settings),
    )


def end(process: Process) -> tuple[int, str, str]:
    """End a process's input and wait for it; return its exit code, stdout and stderr."""
    try:
        out, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    return process.returncode, out, err


def is_spent(process: Process) -> bool:
    """Return whether a process has been read to its end, so that it serves no second time."""
    return process.stdout is None or process.stdout.closed


STARTS: Final[dict[str, Callable[[Subject, Path], Process]]] = {
    "server": lambda subject, folder: start(subject, folder, stderr=subprocess.DEVNULL, LOG_LEVEL="DEBUG"),
    "wrong setting": lambda subject, folder: start(subject, folder, AUDIT_FSYNC="CANARY-7f3a"),
    "no key": lambda subject, folder: start(subject, folder, "serve", "--http", "--port", "0"),
    "no audit folder": lambda subject, folder: start(subject, folder, AUDIT_DIR=str(folder / "file")),
}
"""Processes that a test waits for, each in an empty folder but for a file called `file`."""
