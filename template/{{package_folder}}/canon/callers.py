"""Who calls: the key's owner over HTTP, the owner of the process over stdio."""

import getpass
from functools import cache

from fastmcp.server.dependencies import get_access_token, get_http_request

from .errors import Code, ConnectorError
from .identity import IDENTITY, Caller


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
