"""How long a rendering takes: in process, and by the command."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.rendering import render

from benchmarks.figures import Figure, plain_template, template, verdict

ROUNDS: Final = 5


def median(once: Callable[[int], object]) -> float:
    """Return the median of the seconds that something takes."""
    times = []
    for number in range(ROUNDS):
        started = time.perf_counter()
        once(number)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> int:
    """Measure and judge."""
    with template() as source:
        folder = source.parent
        command = [sys.executable, "-m", "copier", "copy", "--defaults", "--quiet", str(source)]
        plain = plain_template(render(source, folder / "warm"), folder / "plain")
        floor = median(lambda number: render(plain, folder / f"f{number}"))
        ours = median(lambda number: render(source, folder / f"p{number}"))
        return verdict(
            [
                Figure(
                    "in process", ours, 0.6, "s", f"Copier alone, for the same files without a question: {floor:.2f} s"
                ),
                Figure(
                    "on the command line",
                    median(lambda number: subprocess.run([*command, str(folder / f"c{number}")], check=True)),
                    2.5,
                    "s",
                ),
            ]
        )


if __name__ == "__main__":
    sys.exit(main())
