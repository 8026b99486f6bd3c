"""What a visit to a running server saw."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import mcp_types

ERAS = {"auto": "2026-07-28", "legacy": "the handshake era"}


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """One raw HTTP answer; None as status says that there was none in time."""

    status: int | None
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:
        """The body as JSON, None when it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


@dataclass(slots=True)
class Door:
    """How a server over HTTP answers with and without credentials."""

    without: HttpAnswer
    wrong_key: HttpAnswer
    wrong_bearer: HttpAnswer
    by_key: HttpAnswer | None = None
    by_bearer: HttpAnswer | None = None
    conflicting: HttpAnswer | None = None
    in_query: HttpAnswer | None = None
    with_slash: HttpAnswer | None = None
    discovery: dict[str, HttpAnswer] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether anybody may come in."""
        return self.without.status == 200

    @property
    def opened(self) -> list[str]:
        """The channels in which the given credential is accepted."""
        tried = {"X-API-Key": self.by_key, "Authorization: Bearer": self.by_bearer}
        return [name for name, answer in tried.items() if answer is not None and answer.status == 200]

    @property
    def refuses_what_was_given(self) -> bool:
        """Whether a credential was given and opens neither channel, so that it says nothing about the server."""
        return self.by_key is not None and not self.is_open and not self.opened


@dataclass(slots=True)
class Talk:
    """What one protocol era gave."""

    version: str
    name: str
    instructions: str | None
    tools: list[mcp_types.Tool]
    resources: dict[str, tuple[str | None, str | None]]
    answers: dict[str, mcp_types.CallToolResult]


@dataclass(slots=True)
class Visit:
    """Everything one probe saw."""

    target: str
    door: Door | None = None
    talks: dict[str, Talk] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    polluting_lines: list[str] = field(default_factory=list)
    over_stdio: bool = False
    with_headers: bool = False

    @property
    def let_in(self) -> bool:
        """Whether anybody came in, by talking or by the given credential at the door."""
        if self.door is None:
            return self.talk is not None
        return not self.door.refuses_what_was_given and (self.talk is not None or bool(self.door.opened))

    @property
    def talk(self) -> Talk | None:
        """The newest era that could be talked in."""
        return self.talks.get("auto") or self.talks.get("legacy")
