"""How fast the review is, in one run: a cold start, growth with the number of lines, a fleet in processes.

python benchmarks/review.py            prints the figures and ends with 1 when one misses its limit
python benchmarks/review.py PATHS…     times real repositories instead, one cold start each

With CANON_CORPUS, the folder that tests/command/test_corpus.py describes, its servers are timed too, as one fleet. A
figure about time is one of a machine that has nothing else to do; how busy it was is printed with the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LIMITS = {
    "cold start, 20,000 lines, s": 2.0,
    "10x the lines, times the time": 12.0,
    "fleet of 1,000, one process over two": 1.6,
    "fleet of 1,000, memory over fleet of 100": 1.3,
    "servers of CANON_CORPUS, s": 10.0,
}
LEAST = frozenset({"fleet of 1,000, one process over two"})
TOOL = '''

@mcp.tool(annotations=READ_ONLY)
async def tool_{number}(query: str, limit: int = 20) -> dict[str, object]:
    """Find records of kind {number}. Can answer not_found."""
    if limit < 1:
        raise ToolError("invalid_input", "limit must be at least 1")
    found = [record for record in RECORDS if query in record["title"]]
    total = len(found)
    if total > limit:
        return {{"status": "degraded", "code": "partial_result", "data": found[:limit]}}
    answer = {{"status": "ok", "data": found}}
    for record in found:
        record.setdefault("seen", 0)
        record["seen"] += 1
    return answer
'''
HEAD = """from fastmcp import FastMCP

mcp = FastMCP("measured", instructions="First call tool_0, then tool_1.")
READ_ONLY = {"readOnlyHint": True}
RECORDS = []
"""
MODULE = '''"""Work on records, {number}."""

import json
from dataclasses import dataclass


@dataclass
class Record{number}:
    """A record."""

    title: str
    total: int = 0


def read_{number}(text: str) -> list[Record{number}]:
    """Read records."""
    loaded = json.loads(text)
    return [Record{number}(item["title"], item.get("total", 0)) for item in loaded]


def write_{number}(records: list[Record{number}]) -> str:
    """Write records."""
    return json.dumps([{{"title": record.title, "total": record.total}} for record in records])
'''


@dataclass(frozen=True)
class Figure:
    """One measured number."""

    name: str
    value: float

    @property
    def holds(self) -> bool:
        """Whether it keeps its limit."""
        limit = LIMITS[self.name]
        return self.value >= limit if self.name in LEAST else self.value <= limit


def repository(folder: Path, lines: int) -> Path:
    """Write a connector of about that many lines."""
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "measured"\ndependencies = ["fastmcp>=4,<5"]\n', "utf-8")
    tools = max(2, min(60, lines // 200))
    server = HEAD + "".join(TOOL.format(number=number) for number in range(tools))
    (folder / "server.py").write_text(server, "utf-8")
    written, number = server.count("\n"), 0
    while written < lines:
        text = "\n".join(MODULE.format(number=number + part) for part in range(10))
        (folder / f"records_{number}.py").write_text(text, "utf-8")
        written, number = written + text.count("\n"), number + 10
    return folder


def review_seconds(path: Path, repeats: int) -> float:
    """Return the best of some cold starts."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        command = [sys.executable, "-m", "connector_canon", "review", str(path), "--format", "json"]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode == 2:
            raise SystemExit(done.stderr.decode())
        taken.append(time.perf_counter() - started)
    return min(taken)


@dataclass(frozen=True)
class Run:
    """What one run of `canon fleet` took: seconds by the clock and of all its processes, and the largest one's memory."""

    seconds: float
    work: float
    memory: int


def run_fleet(paths: list[Path], processes: int) -> Run:
    """Review a fleet."""
    with made() as folder:
        listed = folder / "fleet.txt"
        listed.write_text("\n".join(str(path.resolve()) for path in paths), "utf-8")
        command = [sys.executable, "-m", "connector_canon", "fleet", "--file", str(listed), "--format", "json"]
        started = time.perf_counter()
        running = subprocess.Popen(
            [*command, "--no-drift", "--processes", str(processes)], stdout=subprocess.DEVNULL, cwd=folder
        )
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        return Run(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss)


def run_corpus() -> Run:
    """Review the servers of the corpus."""
    folder = Path(os.environ["CANON_CORPUS"])
    entries = json.loads((folder / "corpus.json").read_text("utf-8"))
    return run_fleet([Path(folder, e["clone"], e["repo"].partition("#")[2]) for e in entries], 2)


@contextmanager
def made() -> Iterator[Path]:
    """Yield a folder that is removed in the end."""
    with tempfile.TemporaryDirectory(prefix="canon-benchmark-") as name:
        yield Path(name)


def measure() -> list[Figure]:
    """Measure everything the limits name."""
    with made() as folder:
        small, large = repository(folder / "small", 20_000), repository(folder / "large", 200_000)
        one, ten = review_seconds(small, 3), review_seconds(large, 2)
        fleet = [repository(folder / "fleet" / f"c{number}", 150) for number in range(1_000)]
        start, hundred = run_fleet(fleet[:1], 1), run_fleet(fleet[:100], 2)
        alone, together = run_fleet(fleet, 1), run_fleet(fleet, 2)
    shared = alone.work / (start.work + (together.work - start.work) / 2)
    print(
        f"fleet of 1,000: {alone.seconds:.1f} s and {together.seconds:.1f} s by the clock; by the work they did, x{shared:.2f}"
    )
    figures = [
        Figure("cold start, 20,000 lines, s", one),
        Figure("10x the lines, times the time", ten / one),
        Figure("fleet of 1,000, one process over two", alone.seconds / together.seconds),
        Figure("fleet of 1,000, memory over fleet of 100", together.memory / hundred.memory),
    ]
    if "CANON_CORPUS" in os.environ:
        corpus = run_corpus()
        print(f"the corpus: {corpus.work:.1f} s of work in two processes")
        figures.append(Figure("servers of CANON_CORPUS, s", corpus.seconds))
    return figures


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("paths", nargs="*", type=Path, help="repositories to time instead")
    paths: list[Path] = options.parse_args().paths
    if paths:
        seconds = {path: review_seconds(path, 1) for path in paths}
        for path, taken in seconds.items():
            print(f"{taken:7.2f} s  {path}")
        print(f"{sum(seconds.values()):7.2f} s  together")
        return
    print(f"load average of the last minute: {os.getloadavg()[0]:.1f}")
    figures = measure()
    for figure in figures:
        relation = "at least" if figure.name in LEAST else "at most"
        verdict = "holds" if figure.holds else "MISSED"
        print(f"{figure.name:42} {figure.value:7.2f}   {relation} {LIMITS[figure.name]:g}   {verdict}")
    sys.exit(0 if all(figure.holds for figure in figures) else 1)


if __name__ == "__main__":
    main()
