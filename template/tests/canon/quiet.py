"""The log as a running server has it: without the framework's own handlers, which draw a picture of every failure."""

import pytest

from .subject import logs


@pytest.fixture(scope="session", autouse=True)
def the_log_of_a_running_server() -> None:
    """Set the log up once for all tests."""
    logs.configure("WARNING")
