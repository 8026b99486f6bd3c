"""Audit: every call of a tool is a line on disk, and a call without a line is refused."""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from .clients import call, message, served, some_arguments
from .hostile import FAILURES, SECRET, HostileProvider
from .subject import SOURCES, Subject, audit, boundary, calls, canon, errors, identity, keys, locks

FIELDS = ["at", "call_id", "tool", "status", "code", "duration_ms", "org_id", "user_id", "arguments_sha256"]


async def test_every_registered_tool_writes_a_line(subject: Subject) -> None:
    mcp = subject.build()
    tools = await mcp.list_tools()
    assert tools, "The server lists no tool: nothing was examined."
    for count, tool in enumerate(tools, start=1):
        await call(mcp, tool.name, some_arguments(tool.parameters))
        assert len(subject.audit_lines) == count, f"{tool.name} left no line."
        assert subject.audit_lines[-1]["tool"] == tool.name


async def test_refused_failed_and_unknown_calls_write_a_line_too(subject: Subject) -> None:
    mcp = subject.build(lambda: HostileProvider(FAILURES["exception"]))
    name = next(tool.name for tool in await mcp.list_tools() if not tool.parameters.get("required"))
    for tool, arguments in ((name, {}), (name, {"no_such_argument": 1}), (f"unknown {SECRET}", {})):
        await call(mcp, tool, arguments)
    found = [(line["tool"], line["status"], line["code"]) for line in subject.audit_lines]
    assert found == [
        (name, "failed", "upstream_unavailable"),
        (name, "failed", "invalid_input"),
        (calls.UNKNOWN_TOOL, "failed", "invalid_input"),
    ]


async def test_a_call_before_the_provider_is_there_writes_a_line(subject: Subject) -> None:
    mcp = subject.build(lambda: None)
    for tool in await mcp.list_tools():
        result = await call(mcp, tool.name, some_arguments(tool.parameters))
        assert result.is_error
        assert result.structured_content is not None
        assert result.structured_content["detail"]["reason"] == "starting"
    assert len(subject.audit_lines) == len(await mcp.list_tools())


async def test_a_cancelled_call_writes_a_line(subject: Subject) -> None:
    started = asyncio.Event()

    async def hang() -> None:
        started.set()
        await asyncio.sleep(60)

    mcp = subject.build(lambda: HostileProvider(hang))
    name = next(tool.name for tool in await mcp.list_tools() if not tool.parameters.get("required"))
    async with Client(mcp):
        running = asyncio.create_task(mcp.call_tool(name, {}))
        await started.wait()
        running.cancel()
        await asyncio.wait({running})
    assert [line["status"] for line in subject.audit_lines] == [calls.CANCELLED]


async def test_who_holds_the_log_up_holds_nothing_else_up(subject: Subject) -> None:
    mcp = subject.build()
    name = (await mcp.list_tools())[-1].name
    await call(mcp, name)
    async with served(mcp) as client:
        with locks.locked(subject.audit_dir / f".{audit.FILE_NAME}.lock"):
            waiting, since = asyncio.create_task(call(mcp, name)), time.monotonic()
            await asyncio.sleep(0.1)
            assert (await client.get("/health")).status_code == 200
            assert time.monotonic() - since < locks.LOCK_SECONDS / 2, "Everything waited for one line."
            assert not waiting.done()
        assert not (await waiting).is_error
    assert len(subject.audit_lines) == 2


async def test_a_call_that_cannot_be_read_writes_a_line(subject: Subject) -> None:
    key = keys.KeyFile(subject.keys_file).mint(subject.command, identity.Caller("org-7", "ann"))
    async with served(subject.build()) as client:
        content = message("tools/call", name={"wrong": SECRET}, arguments=SECRET)
        await client.post("/mcp", json=content, headers={"x-api-key": key})
    (line,) = subject.audit_lines
    assert (line["tool"], line["status"], line["code"]) == (calls.UNKNOWN_TOOL, "failed", "invalid_input")
    assert line["user_id"] == "ann"


async def test_a_line_says_who_and_what_but_not_with_which_words(subject: Subject) -> None:
    key = keys.KeyFile(subject.keys_file).mint(subject.command, identity.Caller("org-7", "ann"))
    mcp = subject.build()
    name = (await mcp.list_tools())[0].name
    async with served(mcp) as client:
        content = message("tools/call", name=name, arguments={"query": SECRET, "id": SECRET})
        await client.post("/mcp", json=content, headers={"authorization": f"Bearer {key}"})
    (line,) = subject.audit_lines
    assert list(line) == FIELDS
    assert (line["org_id"], line["user_id"]) == ("org-7", "ann")
    assert len(line["arguments_sha256"]) == 64
    assert SECRET not in json.dumps(line)
    assert (subject.audit_dir / audit.FILE_NAME).stat().st_mode & 0o777 == 0o600


async def test_a_log_that_was_moved_away_is_not_written_to(subject: Subject) -> None:
    mcp = subject.build()
    name = next(tool.name for tool in await mcp.list_tools() if not tool.parameters.get("required"))
    path = subject.audit_dir / audit.FILE_NAME
    async with Client(mcp) as client:
        for _ in range(2):
            await client.call_tool(name, raise_on_error=False)
            assert len(subject.audit_lines) == 1
            path.replace(path.with_suffix(".1"))


async def test_a_caller_without_identity_leaves_no_words(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> None:
        raise errors.ConnectorError(errors.Code.FORBIDDEN)

    monkeypatch.setattr(boundary, "current_caller", nobody)
    result = await call(subject.build(), SECRET)
    assert result.is_error
    (line,) = subject.audit_lines
    assert (line["tool"], line["code"], line["org_id"]) == (calls.UNKNOWN_TOOL, errors.Code.FORBIDDEN, "unknown")


async def test_a_failure_refers_to_its_line(subject: Subject) -> None:
    mcp = subject.build(lambda: HostileProvider(FAILURES["exception"]))
    name = next(tool.name for tool in await mcp.list_tools() if not tool.parameters.get("required"))
    result = await call(mcp, name)
    assert result.structured_content is not None
    assert result.structured_content["detail"]["reference"] == subject.audit_lines[0]["call_id"]


async def test_a_call_whose_line_cannot_be_written_is_refused(subject: Subject) -> None:
    mcp = subject.build()
    name = next(tool.name for tool in await mcp.list_tools() if not tool.parameters.get("required"))
    async with Client(mcp) as client:
        assert not (await client.call_tool(name, raise_on_error=False)).is_error
        path = subject.audit_dir / audit.FILE_NAME
        path.rename(path.with_suffix(".1"))
        path.mkdir()
        result = await client.call_tool(name, raise_on_error=False)
    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["detail"]["reason"] == "audit"
    assert result.structured_content["data"] is None


def test_a_folder_that_cannot_be_written_to_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    with pytest.raises(audit.AuditUnavailable):
        audit.AuditLog(tmp_path / "file").prepare()


def record(call_id: str) -> calls.CallRecord:
    return calls.CallRecord(
        call_id=call_id,
        tool="t",
        status="ok",
        code=None,
        org_id="o",
        user_id="u",
        arguments_sha256="0",
        started_ns=0,
        ended_ns=0,
    )


def test_a_full_disk_refuses_the_call_and_leaves_whole_lines(tmp_path: Path) -> None:
    log = audit.AuditLog(tmp_path)
    log.prepare()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A file that may not grow further takes a part of a line, as a full disk does.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        while log.path.stat().st_size < 900:
            log.append(record("before"))
        with pytest.raises(audit.AuditUnavailable):
            log.append(record("too much"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    log.append(record("later"))
    lines = [json.loads(line)["call_id"] for line in log.path.read_bytes().splitlines()]
    assert set(lines[:-1]) == {"before"}
    assert lines[-1] == "later"


def test_a_folder_that_is_taken_away_is_made_anew(tmp_path: Path) -> None:
    log = audit.AuditLog(tmp_path / "audit")
    log.prepare()
    for path in (tmp_path / "audit").iterdir():
        path.unlink()
    (tmp_path / "audit").rmdir()
    log.append(record("first"))
    assert json.loads(log.path.read_bytes())["call_id"] == "first"


WRITER = """
import sys
import time
from pathlib import Path
from {canon}.audit import AuditLog
from {canon}.calls import CallRecord
folder = Path(sys.argv[1])
log = AuditLog(folder)
(folder / f"ready-{{sys.argv[3]}}").touch()
while not (folder / "go").exists():
    time.sleep(0.001)
for number in range(int(sys.argv[2])):
    call_id = f"{{sys.argv[3]}}-{{number}}"
    log.append(CallRecord(call_id=call_id, tool="t", status="ok", code=None, org_id="o", user_id="u",
                          arguments_sha256="0", started_ns=number, ended_ns=number))
"""


def test_processes_and_a_rotation_lose_no_line(tmp_path: Path) -> None:
    folder, count = tmp_path / "shared", 600
    folder.mkdir()
    program = WRITER.format(canon=canon.__name__)
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    with ExitStack() as ended:
        writers = []
        for name in range(2):
            command = [sys.executable, "-c", program, str(folder), str(count), str(name)]
            writers.append(ended.enter_context(subprocess.Popen(command, env=environment)))
            ended.callback(writers[-1].kill)
        # They begin together, or on a busy machine one would be done before the other starts.
        while len(list(folder.glob("ready-*"))) < len(writers):
            assert all(writer.poll() is None for writer in writers)
            time.sleep(0.005)
        (folder / "go").touch()
        current, rotated = folder / audit.FILE_NAME, folder / "audit.1"
        while not rotated.exists():
            if current.exists() and current.stat().st_size > 1_000:
                current.rename(rotated)
            assert any(writer.poll() is None for writer in writers)
            time.sleep(0.0005)
        assert [writer.wait(30) for writer in writers] == [0, 0]
    lines: list[Any] = [
        json.loads(line) for path in (rotated, current) if path.exists() for line in path.read_bytes().splitlines()
    ]
    assert len({line["call_id"] for line in lines}) == len(lines) == 2 * count
