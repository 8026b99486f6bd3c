"""Gaps that are accepted for now, each with a reason; an entry that no longer applies fails."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from connector_canon.findings import CannotLook, Report, Verdict
from connector_canon.reading.files import Folders


@dataclass(frozen=True, slots=True)
class Accepted:
    """One accepted gap."""

    rule: str
    reason: str


def accepted_in(path: Path, baseline: Path | None) -> tuple[Accepted, ...]:
    """Read `[tool.canon] accepted` of the project's pyproject.toml, or of the file named as baseline.

    An entry with `gate` in place of `rule` belongs to the gates of an adopted server, which hold it themselves.

    Raises CannotLook when the file cannot be read or an entry is not {rule, reason}.
    """
    source = baseline or Folders.around(path).project / "pyproject.toml"
    if not source.is_file():
        if baseline is not None:
            raise CannotLook(
                f"There is no baseline at {baseline}; name a TOML file with accepted = [{{rule, reason}}]."
            )
        return ()
    try:
        table = tomllib.loads(source.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        if baseline is None:
            return ()
        raise CannotLook(f"{source} is not TOML: {fault}.") from None
    tool = table.get("tool", {})
    entries = tool.get("canon", {}).get("accepted", table.get("accepted", [])) if isinstance(tool, dict) else []
    return tuple(_entry(entry, source) for entry in entries if not _is_for_the_gates(entry))


def _is_for_the_gates(entry: Any) -> bool:
    return isinstance(entry, dict) and "gate" in entry and "rule" not in entry


def _entry(entry: Any, source: Path) -> Accepted:
    known: set[str] = set()
    if isinstance(entry, dict):
        known = {key for key in ("rule", "reason") if isinstance(entry.get(key), str) and entry[key].strip()}
    if known != {"rule", "reason"}:
        raise CannotLook(f'{source.name}: an accepted gap is {{rule = "CN…", reason = "…"}}, not {entry!r}.')
    return Accepted(entry["rule"], entry["reason"])


def accept(report: Report, entries: tuple[Accepted, ...]) -> Report:
    """Mark accepted gaps and name the entries that no longer belong to a gap."""
    reasons = {entry.rule: entry.reason for entry in entries}
    findings = tuple(
        replace(f, accepted=reasons[f.code]) if f.code in reasons and f.answer.verdict is Verdict.ABSENT else f
        for f in report.findings
    )
    used = {f.code for f in findings if f.accepted is not None}
    return report.with_findings(findings, tuple(sorted(reasons.keys() - used)))
