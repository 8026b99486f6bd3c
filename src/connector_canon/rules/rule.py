"""A rule: its code, its words and the look that decides it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from connector_canon.findings import Answer

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Family:
    """Rules about one element of the canon."""

    name: str
    title: str
    page: str


@dataclass(frozen=True, slots=True)
class Rule(Generic[Subject]):
    """One thing the canon asks for. Codes are stable and never used again for another rule.

    An essential rule decides whether its element counts as there; the others are gaps of their own.
    """

    code: str
    family: Family
    title: str
    why: str
    mend: str
    look: Callable[[Subject], Answer]
    essential: bool = False

    @property
    def page(self) -> str:
        """Where the rule is explained, below the documentation's folder."""
        return f"rules/{self.family.page}.md#{self.code.lower()}"


AnyRule = Rule[Any]
