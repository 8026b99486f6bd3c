import hashlib

from fastmcp.server.auth import AccessToken

CHANNELS = ("x-api-key", "authorization")


def refuse(status: int) -> dict:
    return {"status": status, "headers": {"WWW-Authenticate": "Bearer"}}


def credential(headers: dict[str, str]) -> str | dict:
    key = headers.get("x-api-key")
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    if key and bearer and key != bearer:
        return refuse(400)
    found = key or bearer
    if not found:
        return refuse(401)
    return hashlib.sha256(found.encode()).hexdigest()


def access(digest: str) -> AccessToken:
    return AccessToken(token=digest, client_id="caller", scopes=[])
