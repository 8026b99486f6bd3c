"""Text that people read on one line."""

from typing import Final

MESSAGE_LIMIT: Final = 300
"""Characters of a message; a longer one is cut, so that no document travels inside an error."""


def one_line(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Return `text` as one printable line of at most `limit` characters."""
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
