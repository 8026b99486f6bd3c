"""A drift for a terminal and as JSON."""

from __future__ import annotations

import json

from connector_canon.drift.comparison import Drift

SCHEMA_VERSION = 1


def as_text(drift: Drift) -> str:
    """Return one line a file, then one line that says how things stand."""
    lines = [f"edited here   {name}" for name in drift.edited]
    lines += [f"added here    {name}" for name in drift.added]
    lines += [f"missing here  {name}" for name in drift.missing]
    if drift.behind:
        lines.append(f"behind        {drift.version} is recorded, {drift.newest} is released; run copier update")
    if drift.unknown is not None:
        lines.append(f"cannot tell   whether a newer release exists: {drift.unknown}")
    standing = f"drift: {', '.join(drift.kinds)}" if drift.kinds else "in step"
    return "\n".join([*lines, f"{drift.target} against {drift.source} at {drift.version}: {standing}."])


def as_json(drift: Drift, exit_code: int) -> str:
    """Return the same as JSON."""
    table = {
        "schema": SCHEMA_VERSION,
        "target": drift.target,
        "source": drift.source,
        "version": drift.version,
        "newest": drift.newest,
        "edited": drift.edited,
        "added": drift.added,
        "missing": drift.missing,
        "behind": drift.behind,
        "exit_code": exit_code,
    }
    return json.dumps(table, ensure_ascii=False, indent=2)
