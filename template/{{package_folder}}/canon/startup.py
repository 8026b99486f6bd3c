"""A provider that may still be on its way while the server already answers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Generic, Protocol, TypeVar

from .errors import Code, ConnectorError, Reason
from .logs import log

GRACE_SECONDS: Final = 2.0
"""How long a start waits for the provider before the server opens without it."""
RETRY_SECONDS: Final = 5.0


class Closable(Protocol):
    """What the server closes when it stops."""

    async def aclose(self) -> None:
        """Release what the provider holds."""


P = TypeVar("P", bound=Closable)
Getter = Callable[[], P | None]


def require_provider(get_provider: Getter[P]) -> P:
    """Return the provider.

    Raises:
        ConnectorError: `upstream_unavailable`, reason `starting`, while there is none.
    """
    provider = get_provider()
    if provider is None:
        raise ConnectorError(
            Code.UPSTREAM_UNAVAILABLE, reason=Reason.STARTING, retryable=True, retry_after_seconds=int(RETRY_SECONDS)
        )
    return provider


class ProviderSlot(Generic[P]):
    """Builds a provider in the background and hands it out once it is there.

    Calling the slot is the getter that `require_provider` takes. A build that fails is tried again.
    """

    def __init__(self, build: Callable[[], Awaitable[P]]) -> None:
        self._build = build
        self._provider: P | None = None

    def __call__(self) -> P | None:
        """Return the provider, or nothing yet."""
        return self._provider

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Build the provider for as long as the server runs, then close it."""
        building = asyncio.create_task(self._keep_building())
        try:
            await asyncio.wait({building}, timeout=GRACE_SECONDS)
            yield
        finally:
            building.cancel()
            await asyncio.wait({building})
            provider, self._provider = self._provider, None
            if provider is not None:
                await provider.aclose()

    async def _keep_building(self) -> None:
        while self._provider is None:
            try:
                self._provider = await self._build()
            except Exception:
                log.warning("The provider could not be made; next try in %s s.", RETRY_SECONDS, exc_info=True)
                await asyncio.sleep(RETRY_SECONDS)
