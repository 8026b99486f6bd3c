"""`canon review`: examine a connector's source without importing or running it."""

from __future__ import annotations

from pathlib import Path

from connector_canon.findings import Finding, Report, SeenTool
from connector_canon.reading.connector import Connector
from connector_canon.rules import RULES


def review(path: Path, seconds: float = 60.0) -> Report:
    """Examine the connector in a folder or file.

    Raises CannotLook when nothing could be examined.
    """
    connector = Connector.read(path, seconds)
    findings = tuple(Finding(rule.code, rule.look(connector)) for rule in RULES)
    return Report(
        look="review",
        target=str(path),
        server=str(connector.server.place),
        findings=findings,
        tools=tuple(SeenTool(t.name or "(named at run time)", t.place, t.conditional) for t in connector.tools),
        notes=tuple(_notes(connector)),
    )


def _notes(connector: Connector) -> list[str]:
    notes = [f"{place}: {reason}, so the set of tools is not fully known." for place, reason in connector.undecided]
    others = [s for s in connector.servers.found.values() if s is not connector.server]
    mounted = {child for server in connector.servers.found.values() for child, _ in server.mounts}
    notes += [f"{s.place}: another server is made here and was not examined." for s in others if s not in mounted]
    broken = [m for m in connector.project.modules if m.error]
    notes += [f"{m.shown} was not examined: {m.error}." for m in broken]
    notes += [
        f"{name} was not examined: too large or in no readable encoding." for name in connector.project.unreadable
    ]
    return notes
