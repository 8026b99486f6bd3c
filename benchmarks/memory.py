"""Memory of a served connector over that of a bare FastMCP server, after the same calls. Needs Linux."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import Figure, connector, measured, verdict


def main() -> int:
    """Measure and judge."""
    with connector() as environment:
        found = json.loads(measured(environment, "memory.py"))
    note = f"bare {found['bare']:.0f} MiB, connector {found['connector']:.0f} MiB"
    return verdict([Figure("more than bare FastMCP", found["connector"] - found["bare"], 25, "MiB", note)])


if __name__ == "__main__":
    sys.exit(main())
