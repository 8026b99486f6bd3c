"""Verdicts on public servers, compared with those of a person who read them.

The checkouts are not part of this repository. CANON_CORPUS names a folder with `corpus.json` and, under each entry's
`clone` name, the repository at its recorded commit.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from connector_canon.elements import element_states
from connector_canon.review import review
from connector_canon.rules import RULES

FOLDER = os.environ.get("CANON_CORPUS")
STATES = {
    "yes": "present",
    "partial": "partial",
    "pr-only": "partial",
    "no": "absent",
    "n/a": "not applicable",
    "unverifiable": "cannot tell",
}
# Where the command and the reader differ, each with the place that decides it.
DIFFERENCES = {
    ("numikel+law-scrapper-mcp", "8"): ("absent", "layers, but no definition another provider could fulfil"),
    ("i-dot-ai+parliament-mcp", "release"): ("cannot tell", ".github/workflows/release.yml calls another repository"),
    ("john-walkoe+uspto_pfw_mcp", "5"): (
        "partial",
        "tools/admin_tools.py:143 registers a fifteenth tool without hints",
    ),
    ("kevinkda+sec-edgar-mcp", "8"): ("absent", "cache_backend.py:98 defines a cache, no source of records"),
}

pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="CANON_CORPUS names no folder with corpus.json and the checkouts it lists."
)


def corpus() -> list[dict[str, Any]]:
    if FOLDER is None:
        return []
    entries: list[dict[str, Any]] = json.loads((Path(FOLDER) / "corpus.json").read_text(encoding="utf-8"))
    return entries


def target(entry: dict[str, Any]) -> Path:
    _, _, inside = entry["repo"].partition("#")
    return Path(str(FOLDER), str(entry["clone"]), inside)


@pytest.mark.parametrize("entry", corpus(), ids=lambda entry: str(entry["clone"]))
def test_verdicts_agree_or_the_difference_is_explained(entry: dict[str, Any]) -> None:
    read = {name: STATES[element["verdict"]] for name, element in entry["elements"].items()}
    read |= {"CI": STATES[entry["ci_push"]], "release": STATES[entry["release_gated"]]}
    states = element_states(review(target(entry)), RULES)
    differing = {name: str(states[name]) for name in read if states[name] != read[name]}
    explained = {name: state for (clone, name), (state, _) in DIFFERENCES.items() if clone == entry["clone"]}
    assert differing == explained


@pytest.mark.parametrize("entry", corpus(), ids=lambda entry: str(entry["clone"]))
def test_every_registered_tool_is_found(entry: dict[str, Any]) -> None:
    assert len(review(target(entry)).tools) == entry["tools_static_count"]


def test_the_whole_corpus_is_examined_in_time() -> None:
    started = time.process_time()
    for entry in corpus():
        review(target(entry))
    assert time.process_time() - started < 20
