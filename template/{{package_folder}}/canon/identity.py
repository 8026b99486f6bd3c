"""Who may call: an organisation and a user in it."""

import re
from dataclasses import dataclass
from typing import Final

IDENTITY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
"""What an organisation or a user may be called, so that an identity is never free text."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An organisation and a user in it.

    Raises:
        ValueError: one of them is not an identity.
    """

    org_id: str
    user_id: str

    def __post_init__(self) -> None:
        for name in ("org_id", "user_id"):
            if not IDENTITY.fullmatch(getattr(self, name)):
                raise ValueError(f"{name} must be 1 to 64 letters, digits or ._@+- and start with a letter or a digit.")
