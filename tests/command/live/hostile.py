"""Commands that are no good servers; the argument says in which way."""

from __future__ import annotations

import os
import subprocess
import sys
import time


def leaves_a_child() -> None:
    """Start a child in a session of its own, note its number, then hang."""
    child = subprocess.Popen(["sleep", "300"], start_new_session=True)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(f"{os.getpid()} {child.pid}")
    time.sleep(300)


def floods() -> None:
    while True:
        sys.stdout.write("x" * 100_000)


def writes_lines() -> None:
    while True:
        sys.stdout.write("<html>\n")


def answers_wrong() -> None:
    sys.stdout.write('{"jsonrpc": "2.0", "id": 1, "result": "yes"}\n')
    sys.stdout.flush()
    time.sleep(300)


WAYS = {
    "hangs": lambda: time.sleep(300),
    "dies": lambda: sys.exit(7),
    "floods": floods,
    "lines": writes_lines,
    "child": leaves_a_child,
    "wrong": answers_wrong,
}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
