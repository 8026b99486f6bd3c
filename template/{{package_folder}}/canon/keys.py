"""API keys: minted once, shown once, stored as digests."""

import hashlib
import json
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from .configuration import ConfigurationError
from .identity import Caller
from .locks import locked

SECRET_BYTES: Final = 32
KEY: Final = re.compile(r"_pat_[A-Za-z0-9_-]{43}")
"""What every key holds: the mark and `SECRET_BYTES` as URL-safe base64."""


def digest(key: str) -> str:
    """Return the SHA-256 of a key, in hex. Keys are random, so no salt or stretching is needed."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Key:
    """A stored key. `id` names it to people; it is no part of the secret."""

    id: str
    org_id: str
    user_id: str
    minted_at: str
    sha256: str

    @property
    def caller(self) -> Caller:
        """Whom this key stands for."""
        return Caller(self.org_id, self.user_id)


class KeyFile:
    """The keys of one server, in one JSON file that only its owner can read.

    Changes count at once: the file is read again whenever it has changed.
    """

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self._stamp: tuple[int, int, int] | None = None
        self._by_digest: dict[str, Key] = {}

    def mint(self, slug: str, caller: Caller) -> str:
        """Store a new key and return it. It cannot be shown again.

        Raises:
            ConfigurationError: the file cannot be read or written.
        """
        secret = f"{slug}_pat_{secrets.token_urlsafe(SECRET_BYTES)}"
        key = Key(
            id=secrets.token_hex(4),
            org_id=caller.org_id,
            user_id=caller.user_id,
            minted_at=datetime.now(UTC).isoformat(timespec="seconds"),
            sha256=digest(secret),
        )
        with self._locked():
            self._write([*self._read(), key])
        return secret

    def revoke(self, key_id: str) -> bool:
        """Remove a key and return whether there was one of that id.

        Raises:
            ConfigurationError: the file cannot be read or written.
        """
        with self._locked():
            keys = self._read()
            kept = [key for key in keys if key.id != key_id]
            if len(kept) == len(keys):
                return False
            self._write(kept)
        return True

    def all(self) -> tuple[Key, ...]:
        """Return every usable key.

        Raises:
            ConfigurationError: the file cannot be read, or is not a key file.
        """
        self._refresh()
        return tuple(self._by_digest.values())

    def find(self, secret: str) -> Key | None:
        """Return the key that `secret` is, or nothing.

        The look-up is by digest, so its timing tells nothing about a key.
        """
        self._refresh()
        return self._by_digest.get(digest(secret))

    def _refresh(self) -> None:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._by_digest = None, {}
            return
        except OSError as error:
            raise ConfigurationError(f"The key file cannot be read ({type(error).__name__}).") from None
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if stamp != self._stamp:
            self._by_digest = {key.sha256: key for key in self._read()}
            self._stamp = stamp

    def _read(self) -> list[Key]:
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))["keys"]
            keys = [Key(**entry) for entry in entries]
            for key in keys:
                _ = key.caller
                if len(key.sha256) != len(digest("")):
                    raise ValueError
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ConfigurationError(f"The key file cannot be read ({type(error).__name__}).") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ConfigurationError(
                "The key file is not one that `keys mint` wrote: restore it, or move it away and mint new keys."
            ) from None
        return keys

    def _write(self, keys: list[Key]) -> None:
        try:
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=self.path.parent, prefix=".keys-", delete=False
            ) as file:
                json.dump({"keys": [asdict(key) for key in keys]}, file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            # NamedTemporaryFile makes the file readable to its owner alone; replace keeps that.
            Path(file.name).replace(self.path)
        except OSError as error:
            raise ConfigurationError(f"The key file cannot be written ({type(error).__name__}).") from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with locked(self.path.with_name(f"{self.path.name}.lock")):
                yield
        except OSError as error:
            raise ConfigurationError(f"The key file cannot be locked ({type(error).__name__}).") from None
