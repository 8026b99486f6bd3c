"""Twelve public servers adopt the canon as the guide says.

The checkouts are not part of this repository. CANON_CORPUS names a folder with `corpus.json` and, under each entry's
`clone` name, the repository at its recorded commit; CANON_CORPUS_ENVIRONMENTS a folder in which their environments are
kept from run to run.
"""

import json
import os
from pathlib import Path

import pytest
from benchmarks.adoptions import GUIDE, rows, sentences

from tests.adoptions_of_the_corpus import ADOPTIONS
from tests.corpus import Adoption, Outcome, Workshop, name, row

FOLDER = os.environ.get("CANON_CORPUS")


@pytest.fixture(scope="session")
def workshop(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    kept = os.environ.get("CANON_CORPUS_ENVIRONMENTS")
    environments = Path(kept) if kept else tmp_path_factory.mktemp("environments")
    return Workshop(Path(str(FOLDER)), template, tmp_path_factory.mktemp("corpus"), environments)


@pytest.fixture(scope="module", params=ADOPTIONS, ids=lambda adoption: str(adoption.clone))
def adoption(request: pytest.FixtureRequest) -> Adoption:
    found: Adoption = request.param
    return found


@pytest.fixture(scope="module")
def outcome(workshop: Workshop, adoption: Adoption) -> Outcome:
    return workshop.examine(adoption)


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="CANON_CORPUS names no folder with corpus.json and the checkouts it lists.")
class TestCorpus:
    def test_no_line_is_lost(self, outcome: Outcome) -> None:
        assert (outcome.lost, outcome.merged, outcome.conflicts) == (0, 0, [])

    def test_nothing_that_came_is_left_out_of_the_repository(self, outcome: Outcome) -> None:
        assert outcome.added > 0
        assert outcome.ignored == []

    def test_every_tool_is_still_there(self, adoption: Adoption, outcome: Outcome) -> None:
        if adoption.refusal:
            pytest.skip(adoption.refusal)
        assert outcome.tools_before == outcome.tools_after
        assert len(outcome.tools_before or []) == live(adoption)

    def test_its_own_tests_go_as_before(self, adoption: Adoption, outcome: Outcome) -> None:
        if outcome.own_before is None:
            pytest.skip("It has no tests that run here.")
        assert "passed" in outcome.own_before.values()
        changed = {
            test for test in outcome.own_before if outcome.own_before[test] != (outcome.own_after or {}).get(test)
        }
        assert changed == adoption.contradicted

    def test_the_gates_are_green_with_their_list_and_red_without_an_entry(
        self, adoption: Adoption, outcome: Outcome
    ) -> None:
        if adoption.refusal:
            assert outcome.codes["accept"] == pytest.ExitCode.USAGE_ERROR
            assert outcome.sentence
            return
        assert (outcome.codes["accept"], outcome.codes["again"], outcome.codes["without one"]) == (0, 0, 1)

    def test_the_guide_says_what_was_measured(self, adoption: Adoption, outcome: Outcome) -> None:
        assert row(adoption, outcome) in GUIDE.read_text(encoding="utf-8")

    def test_the_guide_has_a_line_for_every_server(self) -> None:
        text = GUIDE.read_text(encoding="utf-8")
        assert list(rows(text)) == [name(adoption) for adoption in ADOPTIONS]
        assert sentences() in text


def live(adoption: Adoption) -> int:
    """Return how many tools a person counted in the running server."""
    entries = json.loads((Path(str(FOLDER)) / "corpus.json").read_text(encoding="utf-8"))
    entry = next(entry for entry in entries if entry["clone"] == adoption.clone)
    return int(entry["tools_live"] or entry["live_compat"]["tools"])
