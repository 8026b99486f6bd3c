"""A tool call through everything, against the same tool on bare FastMCP: over HTTP, and in memory."""

import json
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import Figure, connector, measured, verdict

BOUNDS: Final = {"http": 1.15, "memory": 1.35}
NAMES: Final = {"http": "over HTTP", "memory": "in memory", "auto": "2026-07-28", "legacy": "handshake era"}


def main() -> int:
    """Measure and judge."""
    with connector() as environment:
        found = json.loads(measured(environment, "call.py"))
    if found["lines"] != found["calls"]:
        raise SystemExit(f"{found['calls']} calls left {found['lines']} audit lines.")
    return verdict(
        [
            Figure(
                f"{NAMES[way]}, {NAMES[era]}", whole / plain, bound, "x", f"bare {plain:.2f} ms, whole {whole:.2f} ms"
            )
            for way, bound in BOUNDS.items()
            for era, (plain, whole) in found[way].items()
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
