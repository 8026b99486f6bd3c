"""The first words of a server over stdio, read with bounds before anything else trusts the stream."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress

from connector_canon.findings import CannotLook

MOST_BYTES = 4_000_000
MOST_NOISE = 20
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "canon", "version": "1"},
    },
}


def first_words(command: Sequence[str], environment: dict[str, str], seconds: float) -> list[str]:
    """Say hello and return the lines on stdout that are no JSON-RPC, until the answer comes.

    Raises CannotLook when the command cannot be started, ends, floods, or does not answer in time.
    """
    shown = " ".join(command)
    try:
        process = subprocess.Popen(  # noqa: S603
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
    except OSError as fault:
        raise CannotLook(f"`{shown}` cannot be started: {fault.strerror}.") from None
    try:
        with suppress(BrokenPipeError):
            assert process.stdin is not None
            process.stdin.write(json.dumps(HELLO).encode() + b"\n")
            process.stdin.flush()
        return _until_answer(process, shown, time.monotonic() + seconds, seconds)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _until_answer(process: subprocess.Popen[bytes], shown: str, deadline: float, seconds: float) -> list[str]:
    assert process.stdout is not None
    noise: list[str] = []
    pending, taken = b"", 0
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not waiting.select(remaining):
                raise CannotLook(f"`{shown}` did not answer initialize within {seconds:g} s.")
            chunk = os.read(process.stdout.fileno(), 65536)
            if not chunk:
                code = process.wait()
                raise CannotLook(f"`{shown}` ended with exit code {code} before it answered initialize.")
            taken += len(chunk)
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                if not line.strip():
                    continue
                message = _message(line)
                if message is None:
                    noise.append(line[:200].decode("utf-8", "replace"))
                elif message.get("id") == 1:
                    return noise
            if taken > MOST_BYTES or len(noise) > MOST_NOISE:
                raise CannotLook(
                    f"`{shown}` writes to stdout what is no JSON-RPC ({taken:,} bytes so far); "
                    "stdout belongs to the protocol, everything else to stderr."
                )


def _message(line: bytes) -> dict[str, object] | None:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else None
