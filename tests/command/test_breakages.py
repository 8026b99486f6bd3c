"""What a look at the source says of each way to break a connector.

The table of breakages shows that every gate can fail. This one shows which rule of `canon review` sees the same fault
without running anything, and which faults no look at a source can see.
"""

from __future__ import annotations

import ast
import gc
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from connector_canon.findings import Verdict
from connector_canon.review import review
from connector_canon.rules import RULES
from tests.breakages import BREAKAGES, Breakage
from tests.rendering import commit, render

SEEN = {
    "an over-long text is cut instead of refused": "CN103",
    "the opening does not say what degraded means": "CN106",
    "the instructions list error codes": "CN107",
    "the instructions name a ghost": "CN104",
    "the instructions quote a ghost of one word": "CN104",
    "a tool is not mentioned": "CN105",
    "a tool's name stands only inside another": "CN104 CN105",
    "a code is returned below the tool and not described": "CN606",
    "a tool is degraded and its description does not say so": "CN606",
    "the door reads the query": "CN306",
    "a 401 does not say how to authenticate": "CN304",
    "the challenge points to resource metadata": "CN304",
    "the answer of the door has an id": "CN304",
    "one of two credentials wins in silence": "CN305",
    "all callers share one access token": "CN312",
    "inbound headers are sent upstream": "CN310",
    "a key is stored as it is": "CN307",
    "the same key on both channels disagrees with itself": "CN305",
    "the host guard is off": "CN311",
    "the organisation is not on the span": "CN401",
    "the organisation is named after the server": "CN401 CN402",
    "a hint is missing": "CN502",
    "a read says that it destroys": "CN501",
    "a tool has no hints at all": "CN501 CN502",
    "there is a seventh code": "CN602",
    "a code is renamed": "CN602",
    "an unknown code becomes another": "CN601",
    "there is a tenth attribute": "CN704",
    "what is not listed leaves as it is": "CN701",
    "events leave with exception.message": "CN703",
    "links leave": "CN701",
    "the status has a text": "CN703",
    "the span's name is whatever a tool made of it": "CN701",
    "the environment leaves as resource attributes": "CN701",
    "the trace state leaves": "CN701",
    "the exporter stands before the list": "CN701",
    "the provider is registered globally": "CN702",
    "the framework makes spans of its own": "CN703",
    "a tool imports a provider": "CN804",
    "the live source falls back to sample data": "CN805",
    "a tool turns a refusal into an empty list": "CN608",
    "nobody looked for gaps and nothing minds": "CN902",
    "a family has no date": "CN902",
    "families count nothing": "CN902",
    "the count of a family stands in the code": "CN902",
    "the schema of the report does not know its note": "CN902",
    "the coverage tool is not audited": "CN1001",
    "a failed call leaves no line": "CN1001",
    "a cancelled call leaves no line": "CN1001",
    "arguments are written in clear": "CN1002",
    "everybody can read the log": "CN1004",
    "each process keeps its own end of the log": "CN1001 CN1002 CN1003 CN1004",
    "the README has a row too few": "CN1301",
    "the README miscounts": "CN1301",
    "the registry does not find the package": "CN1306",
    "the definition does input and output": "CN801",
    "a tool's own error leaves with its text": "CN607",
    "a tool publishes no schema": "CN609",
    "the release builds before it tests": "CN1201",
    "the release builds in spite of its gates": "CN1201",
    "the release runs some of the gates": "CN1201",
    "pull requests run no gate": "CN1101",
    "the gates of a pull request may be skipped": "CN1101",
    "a failure counts as success": "CN1104",
    "an action is not pinned": "CN1103",
    "every job may do everything": "CN1105",
    "the living source holds pull requests back": "CN1102",
    "the boundary answers with what an exception says": "CN607",
    "a provider answers with what an exception says": "CN607",
    "a description is longer than clients read": "CN1403",
    "an argument is not described": "CN504",
    "an import prints before stdout is safe": "CN1404",
    "the server has the framework's version": "CN1407",
}
"""Every rule that is no longer present after the breakage."""

NOT_SEEN = {
    "a request shows it: which ones a condition lets past the door, and what is in the answer": (
        "a blank is a credential",
        "without any key everybody is admitted",
        "the door stands before one path alone",
        "the stream is open",
        "probes for an identity provider are asked for a key",
        "whoever is known is admitted",
        "the credential is left in the request",
        "a cookie is left in the request",
        "health says more than that",
        "a revoked key opens until the next start",
        "the other spelling is redirected",
        "sessions bind a client to one replica",
        "a semicolon hides a credential in the address",
        "whatever looks blank is cut from a key",
        "a message that cannot be read is quoted",
        "the door forgets that it may be mounted",
        "an identity is free text",
        "over HTTP the caller is the owner of the process",
        "one era receives no instructions",
    ),
    "a call shows it: the code, the words and the count that come back, or the line and the span it leaves": (
        "how long to wait is lost on the way",
        "an unknown tool is nothing found",
        "the denominator is not in the answer",
        "a tool skips the envelope",
        "the published schema forbids an empty choice",
        "a tool lists in JSON for people",
        "a record is read out in JSON",
        "a failure does not name its code to people",
        "a resource answers in prose",
        "letters are escaped",
        "a list that comes as text is refused",
        "a wrong argument is quoted",
        "a wrong argument is not named",
        "a result that is too large leaves",
        "what is raised outside of a tool leaves as it is",
        "people do not read the gaps",
        "a call that cannot be read leaves no line",
        "a call of an unknown tool is recorded under the name that was given",
        "a refused caller's words are recorded",
        "a line has one more field",
        "a call without a line is answered",
        "calls of one second share their number",
        "the class of a failure is the framework's",
        "a listed key carries a module path",
        "a host's span becomes the parent",
        "a cancelled call is a good span",
        "Langfuse's attribute leaves without its option",
        "spans are made although nobody collects them",
        "telemetry ends with the first start",
        "a switched off SDK exports all the same",
        "a key in the address is known by its name alone",
        "a query has one separator",
        "nobody hears why nobody is let in",
        "another server's error is passed on",
        "a library ends the process",
        "what is cancelled elsewhere cancels the call",
        "the size of a result is counted before it is written",
        "the schema calls a field as its source does",
        "a number may be none that JSON has",
        "an empty variable is a setting",
        "the SDK's variables reach the exporter",
        "whoever holds the log up holds everything up",
        "the log writes what an exception says",
        "a line of the log quotes an exception",
    ),
    "a value that is built shows it: what a type, a code or a cursor refuses": (
        "nine of fourteen is ok",
        "degraded goes without its denominator",
        "failed carries data",
        "the envelope has an eighth field",
        "a copy may lie",
        "an envelope built without validation may lie",
        "more is usable than there is",
        "a refused call leaves as an answer",
        "part of the data is raised",
        "a message is as long as somebody writes it",
        "a cursor that is not ours starts anew",
        "a cursor continues another search",
        "a cursor has no bound",
        "control characters reach the providers",
        "a report without gaps can be built",
        "a report without families can be built",
    ),
    "records show it: what a provider finds, counts and leaves out": (
        "records that cannot be read are left out of the count",
        "a list that is cut has no cursor to the rest",
        "a list that is cut has no total",
        "the cursor skips a record",
        "a list is not cut where it has to be",
        "a provider answers under another's name",
        "one provider has its own code for nothing found",
        "one provider lists the oldest first",
        "a gap belongs to no family",
        "a list that was not delivered is an empty one",
        "a number becomes a date",
        "a count that cannot be read fails inside",
        "an empty source empties the store",
        "what a source wrote makes lines of its own",
    ),
    "what happens below the tool shows it: a request that posts, a file, a session, a cap": (
        "a tool that reads posts",
        "a tool that reads leaves a file behind",
        "a session is opened beside the scope",
        "the cap on requests is gone",
        "what is no number counts as one",
        "a wait has no end",
        "the source is read without end",
        "a tool asks for its provider without requiring it",
    ),
    "a number is as good as another one: only what the connector promises tells which": (
        "the limit is twice what clients read",
        "a limit of the definition is lifted",
        "a result may be ten times as large",
    ),
    "a start shows it: settings, exit codes, streams, files and other processes": (
        "a key file that is broken holds no keys",
        "the setting of the provider moves nothing",
        "a setting that the provider needs is looked for at the first call",
        "the log is kept open while it is moved away",
        "a folder that cannot be written to is no sentence",
        "a sentence about the audit folder names no variable",
        "the log does not name the variable of public hosts",
        "the start does not look at the folder",
        "half a line stays when the disk is full",
        "a folder that is gone stays gone",
        "child processes write on the wire",
        "a wrong setting shows its value",
        "a wrong setting ends like any failure",
        "HTTP starts without a key",
        "a token keeps its line end",
    ),
    "a convention of renderings: their own gates know it, and a rule for every server cannot": (
        "a description names a code that does not exist",
        "the reference is stale",
        "a setting stands in no document",
        "a language lacks a sentence",
        "a language has nothing to fill in",
        "a provider speaks HTTP by itself",
        "the canon knows the connector",
        "a contract is gone",
        "the tools are under no contract",
        "names together are longer than clients take",
    ),
}
"""Why nothing changes for these; a row that a rule has learnt to see moves to the table above."""

FAMILIES = {
    "1 instructions": {"1"},
    "2 drift": {"1", "2", "6"},
    "3 door": {"3"},
    "4 caller": {"4"},
    "5 annotations": {"5"},
    "6 codes and states": {"6"},
    "7 allow-list": {"7"},
    "8 capability": {"6", "8"},
    "9 coverage": {"9"},
    "audit": {"audit"},
    "documents": {"README"},
    "imports": {"8"},
    "prose and JSON": {"6"},
    "release and CI": {"CI", "release"},
    "secrets": {"6"},
    "sizes": {"clients"},
    "stdio and settings": {"clients"},
}
"""The rules that an element's breakages belong to."""
BY_NAME = {breakage.name: breakage for breakage in BREAKAGES}
LOOKS: list[Path] = []
UNSEEN = [name for names in NOT_SEEN.values() for name in names]


@pytest.fixture(scope="module")
def rendered(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = render(template, tmp_path_factory.mktemp("rendered") / "connector")
    commit(project)
    return project


@pytest.fixture(scope="module", autouse=True)
def parsed_once() -> Iterator[None]:
    """Two hundred looks differ in a line or two, so what is the same is parsed once."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ast, "parse", cache(ast.parse))
        yield


@pytest.fixture(scope="module", autouse=True)
def no_collecting() -> Iterator[None]:
    """A look builds trees that all live until its end; collecting garbage in between takes a third of the time."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def lost(project: Path) -> set[str]:
    """Return the rules that are not present."""
    LOOKS.append(project)
    if len(LOOKS) % 10 == 0:
        gc.collect()
    return {f.code for f in review(project).findings if f.answer.verdict is not Verdict.PRESENT}


def broken(breakage: Breakage, rendered: Path, tmp_path: Path) -> Path:
    project = Path(shutil.copytree(rendered, tmp_path / "connector", ignore=shutil.ignore_patterns("objects")))
    for edit in breakage.edits:
        edit.apply(project)
    return project


def test_each_row_is_seen_by_a_rule_or_named_with_the_reason() -> None:
    assert len(UNSEEN) == len(set(UNSEEN))
    assert not SEEN.keys() & set(UNSEEN)
    assert BY_NAME.keys() - SEEN.keys() - set(UNSEEN) == set(), "Say which rule notices these, or why none can."
    assert (SEEN.keys() | set(UNSEEN)) - BY_NAME.keys() == set(), "There is no such breakage any more."


def test_the_rules_belong_to_the_element_that_is_broken() -> None:
    family = {rule.code: rule.family.name for rule in RULES}
    strangers = {
        name: codes
        for name, codes in SEEN.items()
        if not FAMILIES[BY_NAME[name].element] >= {family[code] for code in codes.split()}
    }
    assert strangers == {}


def test_the_unbroken_rendering_has_everything(rendered: Path) -> None:
    assert lost(rendered) == set()


@pytest.mark.parametrize("name", SEEN)
def test_a_breakage_is_noticed_by_its_rules_alone(name: str, rendered: Path, tmp_path: Path) -> None:
    assert lost(broken(BY_NAME[name], rendered, tmp_path)) == set(SEEN[name].split())


@pytest.mark.parametrize("name", UNSEEN)
def test_what_a_source_does_not_show_changes_no_verdict(name: str, rendered: Path, tmp_path: Path) -> None:
    assert lost(broken(BY_NAME[name], rendered, tmp_path)) == set()
