"""What is the same for every test, done once: the log, the look at each schema, the processes that import slowly."""

import gc
import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest

from .processes import STARTS, Process, is_spent
from .subject import logs

# Tests leave little garbage, and the collector looks through every library and every test for it.
gc.set_threshold(200_000)


@pytest.fixture(scope="session", autouse=True)
def the_log_of_a_running_server() -> None:
    """Set the log up without the framework's own handlers, which draw a picture of every failure."""
    logs.configure("WARNING")


@pytest.fixture(scope="session", autouse=True)
def what_is_loaded_stays() -> None:
    """Keep the collector of garbage from looking through what was imported."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def a_schema_is_checked_once() -> Iterator[None]:
    """Check no schema twice: each client does before a tool's first answer, and it takes longer than the call."""
    kind = jsonschema.Draft202012Validator
    check = kind.check_schema
    sound: set[str] = set()

    def check_once(schema: Any, *arguments: Any, **options: Any) -> None:
        text = json.dumps(schema, sort_keys=True)
        if text not in sound:
            check(schema, *arguments, **options)
            sound.add(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "check_schema", check_once)
        yield


@pytest.fixture(scope="session")
def started() -> Iterator[dict[str, Process]]:
    """Hold the processes that run beside the tests, and leave none behind."""
    processes: dict[str, Process] = {}
    yield processes
    for process in processes.values():
        process.kill()
        process.communicate()


@pytest.fixture(autouse=True)
def process(
    request: pytest.FixtureRequest, started: dict[str, Process], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Process]:
    """Return a process of the tests over stdio. All start with the first test: one core has nothing else to do."""

    def running(name: str) -> Process:
        if name not in started or is_spent(started[name]):
            subject, folder = request.getfixturevalue("subject"), tmp_path_factory.mktemp("process")
            (folder / "file").write_text("not a folder", encoding="utf-8")
            started[name] = STARTS[name](subject, folder)
        return started[name]

    if not started and any(item.path.name == "test_stdio.py" for item in request.session.items):
        for name in STARTS:
            running(name)
    return running
