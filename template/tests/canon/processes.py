"""The server's command in processes of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .subject import SOURCES, Subject, canon

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
    """Start Python with arguments and this server's settings."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env=environment(subject, folder, **settings),
    )


def command(subject: Subject, folder: Path, *arguments: str, stderr: int = subprocess.PIPE, **settings: str) -> Process:
    """Start the server's command."""
    return start(subject, folder, "-m", subject.program, *arguments, stderr=stderr, **settings)


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


PRINTING: Final = """
import os, sys
from importlib import import_module
def settings():
    print("noise", flush=True)
    os.system("echo noise")
    raise BrokenPipeError
import_module(sys.argv[1]).run("connector", settings, settings, ["keys", "list"])
"""
"""A connector whose imports write to stdout, by themselves and through a child."""

KEYS: Final = """
import json, subprocess, sys
def keys(*arguments):
    command = [sys.executable, "-m", sys.argv[1], "keys", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
minted, listed = keys("mint", "--org", "acme", "--user", "ann"), keys("list")
keys("revoke", listed.split()[0])
print(json.dumps([minted, listed, keys("list")]))
"""
"""The life of a key on the command line: what `mint` printed, and what `list` printed before and after `revoke`."""


STARTS: Final[dict[str, Callable[[Subject, Path], Process]]] = {
    "server": lambda subject, folder: command(subject, folder, stderr=subprocess.DEVNULL, LOG_LEVEL="DEBUG"),
    "wrong setting": lambda subject, folder: command(subject, folder, AUDIT_FSYNC="CANARY-7f3a"),
    "no key": lambda subject, folder: command(subject, folder, "serve", "--http", "--port", "0"),
    "no audit folder": lambda subject, folder: command(subject, folder, AUDIT_DIR=str(folder / "file")),
    "imports that print": lambda subject, folder: start(subject, folder, "-c", PRINTING, f"{canon.__name__}.cli"),
    "keys": lambda subject, folder: start(subject, folder, "-c", KEYS, subject.program),
}
"""Processes that a test waits for, each in an empty folder but for a file called `file`."""
