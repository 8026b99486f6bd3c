"""How long an update takes over what Copier itself needs for as many files, and what forty of them gain from two cores."""

import shutil
import sys
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import copier
from tests.rendering import ROOT, commit, git, render, shell

from benchmarks.figures import Figure, plain_template, template, verdict

ROUNDS: Final = 3
FORTY: Final = 40
NEXT: Final = "99.1.0"
CHANGED: Final = "ruff.toml"


def release(source: Path, changed: Path) -> None:
    """Make a newer version of a template that differs in one file."""
    changed.write_text(changed.read_text(encoding="utf-8") + "\n# newer\n", encoding="utf-8")
    commit(source, NEXT)
    git("tag", NEXT, cwd=source)


def project_of(source: Path, folder: Path) -> Path:
    """Render the version before the newest, and commit it."""
    render(source, folder, vcs_ref="99.0.0")
    commit(folder)
    return folder


def seconds(source: Path, folder: Path) -> float:
    """Return the seconds of the fastest of a few updates. The slower ones had something else in the way."""
    times = []
    for number in range(ROUNDS):
        project = project_of(source, folder / f"update{number}")
        started = time.perf_counter()
        copier.run_update(project, defaults=True, overwrite=True, quiet=True)
        times.append(time.perf_counter() - started)
    return min(times)


def roll_out(projects: list[Path], jobs: int) -> float:
    """Return the seconds that the fleet's script takes."""
    started = time.perf_counter()
    done = shell(ROOT / "scripts" / "roll-out.sh", *projects, cwd=ROOT, JOBS=str(jobs))
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return time.perf_counter() - started


def main() -> int:
    """Measure and judge."""
    with template() as source:
        folder = source.parent
        plain = plain_template(render(source, folder / "rendered"), folder / "plain")
        release(source, source / "template" / CHANGED)
        release(plain, plain / "template" / CHANGED)
        floor, ours = seconds(plain, folder / "floor"), seconds(source, folder / "ours")
        first = project_of(source, folder / "first")
        fleets = {
            jobs: [shutil.copytree(first, folder / f"fleet{jobs}" / str(number)) for number in range(FORTY)]
            for jobs in (1, 2)
        }
        alone, together = roll_out(fleets[1], 1), roll_out(fleets[2], 2)
        return verdict(
            [
                Figure(
                    "one update, over Copier's floor", ours - floor, 1.5, "s", f"floor {floor:.2f} s, ours {ours:.2f} s"
                ),
                Figure(
                    "forty, two jobs over one", together / alone, 0.7, "x", f"one {alone:.0f} s, two {together:.0f} s"
                ),
            ]
        )


if __name__ == "__main__":
    sys.exit(main())
