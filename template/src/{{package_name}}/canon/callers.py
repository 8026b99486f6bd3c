"""Who calls: the key's owner over HTTP, the owner of the process over stdio."""

import getpass
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from fastmcp.server.dependencies import get_access_token, get_http_request

from .errors import Code, ConnectorError

IDENTITY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
"""What an organisation or a user may be called, so that an identity is never free text."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An organisation and a user in it.

    Raises:
        ValueError: one of them is not an identity.
    """

    org_id: str
    user_id: str

    def __post_init__(self) -> None:
        for name in ("org_id", "user_id"):
            if not IDENTITY.fullmatch(getattr(self, name)):
                raise ValueError(f"{name} must be 1 to 64 letters, digits or ._@+- and start with a letter or a digit.")


@cache
def process_owner() -> Caller:
    """Return the caller of a server that runs over stdio."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "unknown"
    return Caller("local", user if IDENTITY.fullmatch(user) else "unknown")


def current_caller() -> Caller:
    """Return who makes the current call.

    Raises:
        ConnectorError: `forbidden`, an HTTP request that came past no door.
    """
    token = get_access_token()
    if token is not None:
        return Caller(str(token.claims["org_id"]), str(token.claims["user_id"]))
    try:
        get_http_request()
    except RuntimeError:
        return process_owner()
    raise ConnectorError(Code.FORBIDDEN, "This request carries no identity, so nothing is answered.")
