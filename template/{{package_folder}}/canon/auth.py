"""The door: one resolver in front of every HTTP surface, two channels, real status codes.

It stands before MCP because nothing raised inside MCP becomes an HTTP 401. Attached with `FastMCP(auth=Door(…))`, it
holds under `http_app()`, `run()` and any mount.
"""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from fastmcp.server.auth import AccessToken, TokenVerifier
from fastmcp.server.auth.auth import TokenVerificationError
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp_types import INVALID_PARAMS, PARSE_ERROR
from starlette.authentication import AuthCredentials
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .configuration import ConfigurationError
from .identity import IDENTITY, Caller
from .keys import KEY, KeyFile, digest
from .logs import log
from .sentences import ENGLISH, Sentences

OPEN_PATHS: Final = frozenset({"/health"})
OAUTH_PATHS: Final = frozenset({"/register", "/authorize", "/token"})
WELL_KNOWN: Final = "/.well-known/"
"""What clients probe for an identity provider. A plain 404 tells them that there is none."""

QUERY_CREDENTIALS: Final = frozenset(
    {"access-token", "apikey", "api-key", "auth", "authorization", "key", "token", "x-api-key"}
)
CREDENTIAL_HEADERS: Final = frozenset({b"authorization", b"cookie", b"proxy-authorization", b"x-api-key"})
BLANKS: Final = " \t"
"""What may surround the value of a header (RFC 9110, section 5.5)."""
JSON_WEB_TOKEN: Final = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
UNREADABLE: Final = 400
UNAUTHORIZED: Final = -32001
"""JSON-RPC error code of a refusal; clients show its message only when `id` is null."""


@dataclass(eq=False)
class Refusal(Exception):
    """An HTTP answer of the door. `challenge` is the error of RFC 6750, section 3.1."""

    status: int
    message: str
    challenge: str = ""


def refuse_credential_in_address(scope: Scope, sentences: Sentences = ENGLISH) -> None:
    """Look through the query string, which proxies write into their logs.

    Raises:
        Refusal: 400 a credential stands there, under whatever name.
    """
    query = parse_qsl(scope.get("query_string", b"").decode("latin-1").replace(";", "&"), keep_blank_values=True)
    if any(name.lower().replace("_", "-") in QUERY_CREDENTIALS or KEY.search(name + value) for name, value in query):
        raise Refusal(400, f"{sentences.key_in_address} {sentences.how_to_send}", "invalid_request")


def credential(scope: Scope, sentences: Sentences = ENGLISH) -> str:
    """Return the one credential of a request.

    Raises:
        Refusal: 401 there is none, 400 there are two that disagree.
    """
    keys = _header(scope, b"x-api-key")
    bearers = [_bearer(value) for value in _header(scope, b"authorization")]
    found = {value for value in (*keys, *bearers) if value}
    if len(found) > 1:
        raise Refusal(400, f"{sentences.keys_disagree} {sentences.how_to_send}", "invalid_request")
    if not found:
        raise Refusal(401, f"{sentences.key_missing} {sentences.how_to_send}")
    return found.pop()


def _header(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1").strip(BLANKS) for key, value in scope["headers"] if key.lower() == name]


def _bearer(value: str) -> str:
    scheme, _, token = value.partition(" ")
    return token.strip(BLANKS) if scheme.lower() == "bearer" else ""


class Door(TokenVerifier):
    """Admits a request by its key, or by a token of an identity provider.

    `admits` is one more question about a known caller: an owner-only server asks whether it is the owner.
    """

    def __init__(
        self,
        keys: KeyFile,
        *,
        realm: str,
        tokens: TokenVerifier | None = None,
        admits: Callable[[Caller], bool] = lambda _: True,
        open_paths: frozenset[str] = OPEN_PATHS,
        sentences: Sentences = ENGLISH,
    ) -> None:
        super().__init__()
        self.realm: Final = realm
        self.open_paths: Final = open_paths
        self._keys = keys
        self._tokens = tokens
        self._admits = admits
        self.sentences: Final = sentences
        self._said = ""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access that a key or a token gives, or nothing."""
        key = self._keys.find(token)
        if key is not None:
            return _access(key.sha256, key.caller)
        if self._tokens is None or not JSON_WEB_TOKEN.fullmatch(token):
            return None
        verified = await self._tokens.verify_token(token)
        # A token without an end would be good for as long as its provider's key.
        if verified is None or verified.expires_at is None or verified.expires_at < time.time():
            return None
        org, user = str(verified.claims.get("org_id", "")), str(verified.claims.get("sub", ""))
        if not IDENTITY.fullmatch(org) or not IDENTITY.fullmatch(user):
            raise Refusal(403, self.sentences.identity_missing)
        return _access(digest(token), Caller(org, user))

    async def admit(self, scope: Scope) -> AccessToken:
        """Return who makes a request.

        Raises:
            Refusal: 400, 401, 403, or 503 when nobody can tell.
        """
        try:
            access = await self.verify_token(credential(scope, self.sentences))
        except (TokenVerificationError, ConfigurationError) as error:
            self._say(str(error))
            raise Refusal(503, self.sentences.keys_unreadable) from None
        self._said = ""
        if access is None:
            raise Refusal(401, f"{self.sentences.key_unknown} {self.sentences.how_to_send}", "invalid_token")
        if not self._admits(Caller(access.claims["org_id"], access.claims["user_id"])):
            raise Refusal(403, self.sentences.caller_refused, "insufficient_scope")
        return access

    def _say(self, sentence: str) -> None:
        """Log what keeps everybody out, once and not for each request."""
        if sentence != self._said:
            log.error("Nobody is let in. %s", sentence)
            self._said = sentence

    def get_middleware(self) -> list[Middleware]:
        """Return the ASGI layers that FastMCP puts around everything it serves."""
        return [Middleware(_Doorway, door=self), Middleware(AuthContextMiddleware)]


def _access(fingerprint: str, caller: Caller) -> AccessToken:
    # The response cache partitions on `token`, so it differs for each caller; it is never the credential.
    return AccessToken(
        token=f"sha256:{fingerprint}",
        client_id=caller.org_id,
        subject=caller.user_id,
        scopes=[],
        claims={"org_id": caller.org_id, "user_id": caller.user_id},
    )


class _Doorway:
    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app = app
        self.door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        try:
            refuse_credential_in_address(scope, self.door.sentences)
            if path in self.door.open_paths:
                _take_credentials(scope)
                return await self.app(scope, receive, send)
            if path in OAUTH_PATHS or path.startswith(WELL_KNOWN):
                return await _respond(send, 404, b"", [])
            access = await self.door.admit(scope)
        except Refusal as refusal:
            return await self._refuse(send, refusal)
        _take_credentials(scope)
        # FastMCP's own check behind this one looks for a bearer header; nothing reads its value.
        scope["headers"].append((b"authorization", b"Bearer admitted"))
        scope["user"] = AuthenticatedUser(access)
        scope["auth"] = AuthCredentials([])
        return await self.app(scope, receive, _Plainly(send))

    async def _refuse(self, send: Send, refusal: Refusal) -> None:
        error = {"code": UNAUTHORIZED, "message": refusal.message}
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}, ensure_ascii=False).encode()
        headers = []
        if refusal.status in (401, 403):
            challenge = f'Bearer realm="{self.door.realm}"'
            if refusal.challenge:
                challenge += f', error="{refusal.challenge}"'
            headers.append((b"www-authenticate", challenge.encode()))
        await _respond(send, refusal.status, body, headers)


class _Plainly:
    """Sends a response on, and of a message that could not be read says that much: its text quotes the message."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == UNREADABLE:
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._finish(self._start, message)

    async def _finish(self, start: Message, message: Message) -> None:
        body = _plain(self._body)
        kept = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        self._start = None
        await self._send({**start, "headers": [*kept, (b"content-length", str(len(body)).encode())]})
        await self._send({**message, "body": body})


def _plain(body: bytes) -> bytes:
    try:
        answer = json.loads(body)
        if answer["id"] is None and answer["error"]["code"] in (PARSE_ERROR, INVALID_PARAMS):
            answer["error"]["message"] = answer["error"]["message"].partition(":")[0]
            return json.dumps(answer).encode()
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    return body


def _take_credentials(scope: Scope) -> None:
    # In place: FastMCP has already made a request object of this scope, which tools can ask for.
    scope["headers"] = [(name, value) for name, value in scope["headers"] if name.lower() not in CREDENTIAL_HEADERS]


async def _respond(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    headers = [
        *headers,
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
