"""Limits of what a client reads before the first call."""

from typing import Final

from .configuration import ConfigurationError

BYTE_LIMIT: Final = 2_048
"""Bytes of the instructions and of each tool's description; a major client cuts there without a word."""
OPENING: Final = 512
"""The first characters, which must stand alone."""


def checked_text(what: str, text: str) -> str:
    """Return `text` when it is within the limit.

    Raises:
        ConfigurationError: it is longer. Cutting it would lose its end without a word.
    """
    size = len(text.encode())
    if size > BYTE_LIMIT:
        raise ConfigurationError(f"{what} has {size} bytes and clients read {BYTE_LIMIT}: shorten it.")
    return text
