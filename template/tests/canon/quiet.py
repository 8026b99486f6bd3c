"""What is the same for every test, done once: the log of a running server, and the look at each schema."""

import gc
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from .subject import logs


@pytest.fixture(scope="session", autouse=True)
def the_log_of_a_running_server() -> None:
    """Set the log up without the framework's own handlers, which draw a picture of every failure."""
    logs.configure("WARNING")


@pytest.fixture(scope="session", autouse=True)
def what_is_loaded_stays() -> None:
    """Keep the collector of garbage from looking through every library again and again."""
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
