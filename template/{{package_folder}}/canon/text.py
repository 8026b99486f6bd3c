"""Text that people read on one line."""

from typing import Final

MESSAGE_LIMIT: Final = 300
"""Characters of a message; a longer one is cut, so that no document travels inside an error."""


def one_line(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Return `text` as one printable line of at most `limit` characters."""
    # Most text is printable, and a look at the whole of it is quick.
    if not text.isprintable():
        text = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
