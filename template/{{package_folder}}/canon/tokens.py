"""Tokens of an identity provider, accepted beside keys."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import httpx2
from fastmcp.server.auth import AccessToken, TokenVerifier
from fastmcp.server.auth.auth import TokenVerificationError
from fastmcp.server.auth.providers.jwt import JWTVerifier

from .configuration import ConfigurationError

KEYS_SECONDS: Final = 10.0


class _ProviderKeys(httpx2.AsyncHTTPTransport):
    """Fetches the provider's keys, and remembers whether the last answer held any."""

    away = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.away = True
        response = await super().handle_async_request(request)
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            self.away = not response.is_success or not json.loads(await response.aread())["keys"]
        return response


class _Verifier(JWTVerifier):
    """Tells a token that is wrong from one that nobody can check, because the provider's keys are not to be had."""

    def __init__(self, jwks_url: str, issuer: str, audience: str, setting: str) -> None:
        self._setting = setting
        self._provider_keys = _ProviderKeys(limits=httpx2.Limits(max_keepalive_connections=0))
        client = httpx2.AsyncClient(transport=self._provider_keys, timeout=KEYS_SECONDS, trust_env=False)
        super().__init__(jwks_uri=jwks_url, issuer=issuer, audience=audience, http_client=client)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access that a token gives, or nothing.

        Raises:
            TokenVerificationError: the provider's keys are not to be had.
        """
        verified = await super().verify_token(token)
        if verified is None and self._provider_keys.away:
            raise TokenVerificationError(f"The identity provider's keys are not to be had: {self._setting} says where.")
        return verified


def token_verifier(
    jwks_url: str | None, issuer: str | None, audience: str | None, variable: Callable[[str], str]
) -> TokenVerifier | None:
    """Return what checks tokens, or nothing where no identity provider is set. `variable` names that of a setting.

    Raises:
        ConfigurationError: only a part is set. A token without a fixed issuer and audience may be meant for another.
    """
    given = (jwks_url, issuer, audience)
    if not any(given):
        return None
    if jwks_url is None or issuer is None or audience is None:
        url, *others = map(variable, ("jwt_jwks_url", "jwt_issuer", "jwt_audience"))
        raise ConfigurationError(f"{url}, {' and '.join(others)} go together: set all three or none.")
    return _Verifier(jwks_url, issuer, audience, variable("jwt_jwks_url"))
