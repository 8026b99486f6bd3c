"""No test reaches beyond this machine unless it is a smoke test, and none reads the developer's own settings."""

import ipaddress
import os
import sys
from collections.abc import Iterator
from typing import Any, Final

import pytest

LOCAL_NAMES: Final = frozenset({"localhost", "", None})
_open_to_the_world = False


class OutsideReachedError(RuntimeError):
    """A test that is not a smoke test asked for an address beyond this machine."""


def _is_local(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _open_to_the_world:
        return
    if event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not _is_local(host):
        raise OutsideReachedError("A test asked for an address beyond this machine: mark it smoke.")


# An audit hook sees every connection that Python code makes, whatever library it uses.
sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def only_this_machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Open the way out for a smoke test alone; clear the settings of the shell for every other one."""
    global _open_to_the_world  # noqa: PLW0603 - the hook cannot be taken out again
    smoke = request.node.get_closest_marker("smoke") is not None
    if not smoke:
        prefix = str(request.getfixturevalue("subject").settings.model_config.get("env_prefix", ""))
        for name in [name for name in os.environ if name.startswith((prefix, "OTEL_"))]:
            monkeypatch.delenv(name)
    _open_to_the_world = smoke
    yield
    _open_to_the_world = False
