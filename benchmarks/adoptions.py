"""Lets public servers adopt the canon, and writes the table of the guide.

    python -m benchmarks.adoptions CHECKOUTS ENVIRONMENTS [SERVER ...]

CHECKOUTS holds the repositories, ENVIRONMENTS keeps what is installed for them. The lines of the servers that are named
are written anew, or of all; the others stay.
"""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.adoptions_of_the_corpus import ADOPTIONS
from tests.corpus import HEAD, Workshop, name, row
from tests.rendering import ROOT

from benchmarks.figures import template

GUIDE: Final = ROOT / "docs" / "retrofit.md"
BEFORE: Final = "Twelve public servers, adopted by a test as this page says:\n\n"


def rows(text: str) -> dict[str, str]:
    """Return the table's lines by the name of the server."""
    _, _, table = text.partition(BEFORE)
    found = {}
    for line in table.removeprefix(HEAD).splitlines():
        if not line.startswith("| "):
            break
        found[line.split(" | ")[0].removeprefix("| ")] = line + "\n"
    return found


def sentences() -> str:
    """Return what there is to say about single servers, below the table."""
    said = [(adoption, adoption.refusal or adoption.note) for adoption in ADOPTIONS]
    return "".join(f"- {name(adoption)}: {sentence}\n" for adoption, sentence in said if sentence)


def write(measured: dict[str, str]) -> None:
    """Put lines into the guide."""
    text = GUIDE.read_text(encoding="utf-8")
    whole = rows(text) | measured
    table = "".join(whole[name(adoption)] for adoption in ADOPTIONS if name(adoption) in whole)
    GUIDE.write_text(f"{text.partition(BEFORE)[0]}{BEFORE}{HEAD}{table}\n{sentences()}", encoding="utf-8")


def main(checkouts: str, environments: str, *wanted: str) -> Sequence[str]:
    """Measure, write, and return the lines."""
    measured = {}
    folder = Path(tempfile.mkdtemp(prefix="adoptions-"))
    with template() as source:
        workshop = Workshop(Path(checkouts), source, folder, Path(environments))
        for adoption in ADOPTIONS:
            if not wanted or adoption.clone in wanted:
                measured[name(adoption)] = row(adoption, workshop.examine(adoption))
                print(measured[name(adoption)], end="", flush=True)
                write(measured)
    shutil.rmtree(folder)
    return list(measured.values())


if __name__ == "__main__":
    main(*sys.argv[1:])
