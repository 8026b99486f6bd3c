"""The suite is network-free, and that is enforced."""

import socket

import httpx2
import pytest

from .network import OutsideReachedError


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "example.org"])
def test_no_way_out(host: str) -> None:
    with pytest.raises(OutsideReachedError):
        socket.create_connection((host, 80), timeout=1)


async def test_no_way_out_for_a_library_either() -> None:
    async with httpx2.AsyncClient(trust_env=False) as client:
        with pytest.raises(ExceptionGroup) as refused:
            await client.get("http://192.0.2.1/")
    assert refused.group_contains(OutsideReachedError)


def test_this_machine_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=1).close()
