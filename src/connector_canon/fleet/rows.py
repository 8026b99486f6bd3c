"""One row for each repository, examined in processes of their own."""

from __future__ import annotations

import gc
import multiprocessing
import multiprocessing.context
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

from connector_canon import acceptance
from connector_canon.elements import element_states
from connector_canon.findings import CannotLook
from connector_canon.review import review
from connector_canon.rules import RULES

ANSWERS = ".copier-answers.yml"
WAITING_PER_PROCESS = 4
MOST_AT_ONCE = 16
Numbered = tuple[int, Path]


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one repository; a reason when it could not be examined."""

    path: str
    states: dict[str, str] = field(default_factory=dict)
    tools: int = 0
    gaps: int = 0
    accepted: int = 0
    stale: int = 0
    template: str | None = None
    drift: tuple[str, ...] | None = None
    drift_reason: str | None = None
    reason: str | None = None

    @property
    def is_clean(self) -> bool:
        """Whether it was examined and nothing is left to do."""
        return self.reason is None and not (self.gaps or self.stale or self.drift)


Look = Callable[[Path, float, bool], Row]


def paths_in(file: Path) -> list[Path]:
    """Read a list of folders, one a line, relative to the file; blank lines and `#` remarks are left out.

    Raises CannotLook when the file cannot be read.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise CannotLook(f"{file} cannot be read; it holds one folder a line.") from None
    return [file.parent / line for text in lines if (line := text.split("#", 1)[0].strip())]


def examine(path: Path, seconds: float, with_drift: bool) -> Row:
    """Examine one repository; whatever goes wrong becomes its reason, so that the others go on."""
    shown = str(path)
    # The trees of one look live until its end and then go together: collecting between is work for nothing.
    gc.disable()
    try:
        report = acceptance.accept(review(path, seconds), acceptance.accepted_in(path, None))
        template, kinds, drift_reason = _drift(path, seconds, with_drift)
    except CannotLook as reason:
        return Row(shown, reason=str(reason))
    except Exception as fault:
        return Row(shown, reason=f"The look itself failed: {type(fault).__name__}: {fault}")
    finally:
        gc.collect()
        gc.enable()
    return Row(
        shown,
        states={name: str(state) for name, state in element_states(report, RULES).items()},
        tools=len(report.tools),
        gaps=len(report.gaps),
        accepted=sum(finding.accepted is not None for finding in report.findings),
        stale=len(report.stale),
        template=template,
        drift=kinds,
        drift_reason=drift_reason,
    )


def _drift(path: Path, seconds: float, with_drift: bool) -> tuple[str | None, tuple[str, ...] | None, str | None]:
    if not (path / ANSWERS).is_file():
        return None, None, None
    # Copier takes most of a second to import: only for connectors that were rendered.
    from connector_canon.drift import drift
    from connector_canon.drift.template import Recorded

    try:
        version = Recorded.of(path).version
        return version, drift(path, seconds).kinds if with_drift else None, None
    except CannotLook as reason:
        return None, None, str(reason)


def examine_all(paths: Sequence[Path], processes: int | None, seconds: float, with_drift: bool) -> list[Row]:
    """Examine every repository, in the given order of rows.

    A process that dies takes nobody with it: what it had not finished is examined again, each in a process of its own.
    """
    rows: dict[int, Row] = {}
    count = processes or os.cpu_count() or 1
    if count == 1 or len(paths) == 1:
        gc.freeze()
        return [examine(path, seconds, with_drift) for path in paths]
    gc.freeze()
    try:
        with ProcessPoolExecutor(min(count, len(paths)), mp_context=_sharing()) as pool:
            rows.update(_windowed(pool, _batches(list(enumerate(paths)), count), count, seconds, with_drift))
    except BrokenProcessPool:
        for number, path in enumerate(paths):
            if number not in rows:
                rows[number] = _alone(path, seconds, with_drift)
    return [rows[number] for number in range(len(paths))]


def _sharing() -> multiprocessing.context.BaseContext:
    """Return how processes begin: with what this one has imported, where a process of a single thread can be forked."""
    # The system's own count: threads that Python did not start are no less in the way.
    threads = Path("/proc/self/task")
    can_fork = threads.is_dir() and len(list(threads.iterdir())) == 1
    return multiprocessing.get_context("fork" if can_fork else "spawn")


def _batches(numbered: Sequence[Numbered], count: int) -> Iterator[Sequence[Numbered]]:
    """Yield a few repositories at a time: handing over each one alone costs, and a large share keeps others waiting."""
    size = max(1, min(MOST_AT_ONCE, len(numbered) // (count * WAITING_PER_PROCESS)))
    yield from (numbered[start : start + size] for start in range(0, len(numbered), size))


def _examine_some(look: Look, some: Sequence[Numbered], seconds: float, with_drift: bool) -> list[tuple[int, Row]]:
    return [(number, look(path, seconds, with_drift)) for number, path in some]


def _windowed(
    pool: ProcessPoolExecutor, coming: Iterator[Sequence[Numbered]], count: int, seconds: float, with_drift: bool
) -> Iterator[tuple[int, Row]]:
    running: set[Future[list[tuple[int, Row]]]] = set()
    while True:
        while len(running) < count * WAITING_PER_PROCESS and (some := next(coming, None)) is not None:
            running.add(pool.submit(_examine_some, examine, some, seconds, with_drift))
        if not running:
            return
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield from future.result()


def _alone(path: Path, seconds: float, with_drift: bool) -> Row:
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            return pool.submit(examine, path, seconds, with_drift).result()
    except BrokenProcessPool:
        return Row(str(path), reason="The process that examined it died.")
