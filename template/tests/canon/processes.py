"""The server's command in processes of its own."""

import os
import subprocess
import sys
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
