"""Every rule of the canon that a look can decide, in the order reports show them."""

from connector_canon.reading.connector import Connector
from connector_canon.rules import (
    allow_list,
    annotations,
    audit,
    automation,
    capability,
    clients,
    coverage,
    door,
    drift,
    instructions,
    readme,
    results,
    spans,
)
from connector_canon.rules.rule import Family, Rule

RULES: tuple[Rule[Connector], ...] = (
    *instructions.RULES,
    *drift.RULES,
    *door.RULES,
    *spans.RULES,
    *annotations.RULES,
    *results.RULES,
    *allow_list.RULES,
    *capability.RULES,
    *coverage.RULES,
    *audit.RULES,
    *automation.RULES,
    *readme.RULES,
    *clients.RULES,
)

__all__ = ["RULES", "Family", "Rule"]
