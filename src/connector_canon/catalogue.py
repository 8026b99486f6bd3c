"""Every rule of every look, once, in the order of their codes."""

from __future__ import annotations

from connector_canon.live import RULE as LIVE_RULE
from connector_canon.probe.rules import ONLY_OUTSIDE
from connector_canon.rules import RULES
from connector_canon.rules.rule import AnyRule

EVERY_RULE: tuple[AnyRule, ...] = tuple(sorted([*RULES, *ONLY_OUTSIDE, LIVE_RULE], key=lambda rule: int(rule.code[2:])))
