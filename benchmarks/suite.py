"""How long the generated deterministic suite takes, as its owner runs it the second time."""

import sys
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import Figure, connector, verdict

ROUNDS: Final = 3


def main() -> int:
    """Measure and judge."""
    times = []
    with connector() as environment:
        cache = str(environment.python.parents[1] / "bytecode")
        for _ in range(ROUNDS):
            started = time.perf_counter()
            done = environment.gates(PYTHONPYCACHEPREFIX=cache, PYTHONDONTWRITEBYTECODE="")
            times.append(time.perf_counter() - started)
            if done.returncode:
                raise SystemExit(done.stdout)
    # The first round compiles every library, as an installation by pip would have done.
    return verdict([Figure("the generated suite", min(times[1:]), 10, "s", done.stdout.strip().splitlines()[-1])])


if __name__ == "__main__":
    sys.exit(main())
