"""Tokens of an identity provider, accepted beside keys."""

from fastmcp.server.auth import TokenVerifier
from fastmcp.server.auth.providers.jwt import JWTVerifier

from .configuration import ConfigurationError


def token_verifier(jwks_url: str | None, issuer: str | None, audience: str | None) -> TokenVerifier | None:
    """Return what checks tokens, or nothing where no identity provider is set.

    Raises:
        ConfigurationError: only a part is set. A token without a fixed issuer and audience may be meant for another.
    """
    given = (jwks_url, issuer, audience)
    if not any(given):
        return None
    if jwks_url is None or issuer is None or audience is None:
        raise ConfigurationError("JWT_JWKS_URL, JWT_ISSUER and JWT_AUDIENCE go together: set all three or none.")
    return JWTVerifier(jwks_uri=jwks_url, issuer=issuer, audience=audience)
