"""HTTP to the source of the records: read-only, bounded, and silent about everything but the outcome."""

import asyncio
import email.utils
import json
import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

import httpx2
import stamina

from .configuration import ConfigurationError
from .credential import header_value
from .errors import Code, ConnectorError, Reason

BUDGET_SECONDS: Final = 20.0
"""For one answer, retries and waits included; clients give up after 60."""
ATTEMPTS: Final = 3
CONCURRENT: Final = 8
"""Requests to the source at once. One more is refused, so that a busy assistant cannot overrun the source."""
BODY_LIMIT: Final = 8 * 1024 * 1024
"""Bytes of an upstream answer that are read."""
LONGEST_WAIT_SECONDS: Final = 24 * 60 * 60.0
"""What a caller is told at most; who asks for more gets no better answer by counting further."""

BY_STATUS: Final[Mapping[int, tuple[Code, Reason | None]]] = {
    400: (Code.UPSTREAM_UNAVAILABLE, Reason.UPSTREAM_ERROR),
    401: (Code.UPSTREAM_UNAVAILABLE, Reason.CREDENTIAL),
    403: (Code.UPSTREAM_UNAVAILABLE, Reason.CREDENTIAL),
    404: (Code.NOT_FOUND, None),
    410: (Code.NOT_FOUND, None),
    429: (Code.RATE_LIMITED, None),
}
RETRIED: Final = frozenset({429, 500, 502, 503, 504})


class Upstream:
    """A JSON source over HTTP. Only GET is there to be used, so a read-only tool cannot change anything.

    Nothing of an inbound request is known here, so no caller's credential or cookie can be forwarded.

    Raises:
        ConfigurationError: no header can carry the token.
    """

    def __init__(self, base_url: str, *, token: str | None = None, budget_seconds: float = BUDGET_SECONDS) -> None:
        headers = {"accept": "application/json"}
        try:
            credential = header_value(token or "")
        except ValueError as error:
            raise ConfigurationError(f"The token for the source: {error}.") from None
        if credential is not None:
            headers["authorization"] = f"Bearer {credential}"
        self._base = httpx2.URL(base_url)
        self._budget = budget_seconds
        self._free = CONCURRENT
        self._client = httpx2.AsyncClient(
            headers=headers,
            timeout=httpx2.Timeout(budget_seconds),
            follow_redirects=False,
            trust_env=False,
            # Without TLS there is no certificate to check, and loading the authorities is slow.
            verify=self._base.scheme != "http",
        )

    async def get(self, *path: str, **parameters: str | int) -> Any:
        """Return the JSON at a path below the base address.

        Raises:
            ConnectorError: `not_found`, `rate_limited` or `upstream_unavailable`.
        """
        url = self._base.copy_with(
            path="/".join((self._base.path.rstrip("/"), *(quote(part, safe="") for part in path)))
        )
        url = url.copy_merge_params({name: str(value) for name, value in parameters.items()})
        deadline = time.monotonic() + self._budget
        async with self._slot():
            try:
                async with asyncio.timeout(self._budget):
                    return await self._attempts(url, deadline)
            except (TimeoutError, httpx2.TimeoutException):
                raise _unavailable(Reason.TIMEOUT) from None
            except _Unusable as answer:
                raise answer.error from None
            except httpx2.DecodingError:
                raise _unavailable(Reason.MALFORMED) from None
            except httpx2.HTTPError:
                raise _unavailable(Reason.UNREACHABLE) from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _attempts(self, url: httpx2.URL, deadline: float) -> Any:
        def worth_another(error: Exception) -> bool | float:
            if isinstance(error, _Unusable):
                wait = error.retry_after
                return error.retried if wait is None else wait if time.monotonic() + wait < deadline else False
            return isinstance(error, httpx2.TransportError) and not isinstance(error, httpx2.TimeoutException)

        async for attempt in stamina.retry_context(
            on=worth_another, attempts=ATTEMPTS, timeout=self._budget, wait_initial=0.1, wait_max=2.0, wait_jitter=0.2
        ):
            with attempt:
                return await self._once(url)
        raise AssertionError("stamina either returns or raises")

    async def _once(self, url: httpx2.URL) -> Any:
        async with self._client.stream("GET", url) as response:
            if response.status_code != httpx2.codes.OK:
                raise _Unusable(response)
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > BODY_LIMIT:
                    raise _unavailable(Reason.TOO_LARGE)
        try:
            return cleaned(json.loads(body, parse_float=_number, parse_constant=_number))
        except (ValueError, RecursionError):
            raise _unavailable(Reason.MALFORMED) from None

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        if self._free == 0:
            raise ConnectorError(Code.RATE_LIMITED, retry_after_seconds=1, retryable=True)
        self._free -= 1
        try:
            yield
        finally:
            self._free += 1


class _Unusable(Exception):
    """An answer with a status other than 200."""

    def __init__(self, response: httpx2.Response) -> None:
        status = response.status_code
        default = (Code.UPSTREAM_UNAVAILABLE, Reason.UPSTREAM_ERROR)
        code, reason = BY_STATUS.get(status, default)
        self.retried: Final = status in RETRIED
        self.retry_after: Final = retry_after(response.headers.get("retry-after")) if self.retried else None
        self.error: Final = ConnectorError(
            code,
            reason=reason,
            retry_after_seconds=None if self.retry_after is None else round(self.retry_after),
            retryable=self.retried or None,
        )


def retry_after(value: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or a date (RFC 9110, section 10.2.3).

    Never more than a day. Nothing is returned for a value that is neither.
    """
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return min(float(value), LONGEST_WAIT_SECONDS)
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    wait = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(max(0.0, wait), LONGEST_WAIT_SECONDS)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("JSON has no such number.")
    return number


def cleaned(value: Any) -> Any:
    """Return JSON data whose text can be encoded: lone surrogates become the replacement character."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [cleaned(item) for item in value]
        case dict():
            return {cleaned(name): cleaned(item) for name, item in value.items()}
        case _:
            return value


def _unavailable(reason: Reason) -> ConnectorError:
    return ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason=reason, retryable=reason is not Reason.TOO_LARGE)
