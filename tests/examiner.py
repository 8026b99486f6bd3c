"""Runs the gates of one copy of a connector after another, each in a process that has the libraries loaded already.

It is started with the connector's interpreter, reads one request a line and answers each with one line.
"""

import importlib
import json
import os
import signal
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

LIBRARIES: Final = (
    "anyio.to_thread",
    "fastmcp",
    "fastmcp.client.transports",
    "fastmcp.server.auth",
    "filelock",
    "httpx2",
    "jsonschema",
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.sdk.trace.export",
    "platformdirs",
    "pydantic_settings",
    "stamina",
    "uvicorn.protocols.http.h11_impl",
    "yaml",
)
LONGEST: Final = 600
"""Seconds that one run may take."""

OPTIONS: Final = (
    "-q",
    "-k",
    "not smoke",
    "-p",
    "no:cacheprovider",
    "--tb=short",
    # Some libraries are pytest plugins too, and are imported before pytest could rewrite them.
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)


class Outcomes:
    """Which tests are green and which are red, and why."""

    def __init__(self) -> None:
        self.green: set[str] = set()
        self.red: dict[str, str] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.red[report.nodeid] = str(report.longrepr)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.red[report.nodeid] = str(report.longrepr)
        elif report.when == "call":
            self.green.add(report.nodeid)


def examine(folder: str, package: str, tests: list[str]) -> dict[str, Any]:
    """Run tests of a copy in a child process and return its answer."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reading)
        signal.alarm(LONGEST)
        with os.fdopen(writing, "w") as answer:
            json.dump(_run(folder, package, tests), answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if status != 0:
        return {"place": "", "green": [], "red": {}, "ended": f"The tests ended with status {status}."}
    answered: dict[str, Any] = json.loads(text)
    return answered


def _run(folder: str, package: str, tests: list[str]) -> dict[str, Any]:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)
    os.chdir(folder)
    # Before the place that the environment's editable install names.
    sys.path.insert(0, f"{folder}/src")
    os.environ["PYTHONPATH"] = f"{folder}/src"
    outcomes = Outcomes()
    ended = ""
    # Its own folder for temporary files: other runs clear away the oldest of the shared ones.
    temporary = f"--basetemp={Path(folder).with_name('gates')}"
    try:
        pytest.main([*OPTIONS, temporary, *tests], plugins=[outcomes])
    except BaseException:
        # What a broken copy leaves behind may fail when pytest tidies up; what its tests said still counts.
        ended = traceback.format_exc()
    place = getattr(sys.modules.get(package), "__file__", "")
    return {"place": place, "green": sorted(outcomes.green), "red": outcomes.red, "ended": ended}


def main() -> None:
    """Answer requests until there are no more."""
    for name in LIBRARIES:
        importlib.import_module(name)
    for line in sys.stdin:
        sys.stdout.write(f"{json.dumps(examine(**json.loads(line)))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
