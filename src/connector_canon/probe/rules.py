"""The rules that can be answered from outside: those of the review that show there, and those that show only there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import mcp_types

from connector_canon.findings import Answer, Place, absent, cannot_tell, not_applicable, present
from connector_canon.probe.visit import ERAS, Door, HttpAnswer, Talk, Visit
from connector_canon.rules import RULES
from connector_canon.rules.clients import FAMILY as CLIENTS
from connector_canon.rules.clients import is_fitting
from connector_canon.rules.coverage import ANSWER, FAMILY_FIELDS, GAP_FIELDS, NAMED
from connector_canon.rules.door import FAMILY as DOOR
from connector_canon.rules.instructions import CREDENTIAL, MOST_BYTES, ORDER, STANDALONE, ghosts
from connector_canon.rules.results import STATES
from connector_canon.rules.rule import Rule
from connector_canon.rules.shared import CODES, codes_in, mentions, share

MOST_CHARACTERS = 50_000
HINTS = ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")
UNSEEN = cannot_tell("Nobody was let in; give a credential with --header 'X-API-Key: …'.")
NOT_GIVEN = cannot_tell("No credential was given; give one with --header 'X-API-Key: …'.")
REFUSED = cannot_tell("The given credential was refused in both channels; give one that the server knows.")
NO_CREDENTIAL = cannot_tell(
    "The given headers hold no credential in a channel that is tried; give one with --header 'X-API-Key: …'."
)

Look = Callable[[Visit], Answer]


def _talking(look: Callable[[Talk, Visit], Answer]) -> Look:
    """Make a look at what was talked about; without a talk it cannot tell."""

    def wrapped(visit: Visit) -> Answer:
        return _unseen(visit) if visit.talk is None else look(visit.talk, visit)

    return wrapped


def _unseen(visit: Visit) -> Answer:
    """Say why nobody was let in."""
    if visit.door is not None and visit.door.refuses_what_was_given:
        return REFUSED
    if visit.door is not None and visit.door.opened:
        return cannot_tell(
            f"Nobody was let in by the given header, but its credential opens {visit.door.opened[0]}; send it there."
        )
    if visit.with_headers and visit.door is not None and visit.door.by_key is None:
        return NO_CREDENTIAL
    return UNSEEN


def _instructed(look: Callable[[str, Talk, Visit], Answer]) -> Look:
    """Make a look at the instructions; not applicable where there are none."""

    def look_at_text(talk: Talk, visit: Visit) -> Answer:
        if not talk.instructions:
            return not_applicable("The server sends no instructions.")
        return look(talk.instructions, talk, visit)

    return _talking(look_at_text)


def _at_the_door(look: Callable[[Door], Answer]) -> Look:
    """Make a look at the door; a server over stdio has none."""

    def wrapped(visit: Visit) -> Answer:
        if visit.door is None:
            return not_applicable("The server speaks over stdio; whoever owns the process is the caller.")
        return look(visit.door)

    return wrapped


def _share(talk: Talk, lacking: list[str], good: str, bad: str) -> Answer:
    counted = share("tools", len(talk.tools), [(name, Place(name)) for name in lacking], good, bad)
    # From outside there are names and no lines.
    return replace(counted, places=())


def sends_instructions(talk: Talk, visit: Visit) -> Answer:
    """Look for instructions in each era that could be talked in."""
    silent = [ERAS[mode] for mode, seen in visit.talks.items() if not seen.instructions]
    if len(silent) == len(visit.talks):
        return absent("The server sends no instructions.")
    if silent:
        return absent(f"No instructions arrive in {silent[0]}.")
    return present("Instructions arrive in every era.")


def orders_calls(text: str, talk: Talk, visit: Visit) -> Answer:
    """Look for a call order that names tools."""
    named = [tool.name for tool in talk.tools if mentions(text, tool.name)]
    if ORDER.search(text) and len(named) >= min(2, len(talk.tools)):
        return present(f"The instructions give an order and name {len(named)} tools.")
    return absent("Say which tool to call first and what follows, by the tools' names.")


def fits(text: str, talk: Talk, visit: Visit) -> Answer:
    """Look whether the instructions stay within what clients keep."""
    size = len(text.encode())
    if size > MOST_BYTES:
        return absent(f"The instructions are {size:,} bytes; Claude Code cuts them at {MOST_BYTES:,}.")
    return present(f"The instructions are {size:,} bytes.")


def names_no_ghost(text: str, talk: Talk, visit: Visit) -> Answer:
    """Look for names in the instructions that no listed tool has."""
    known = {tool.name for tool in talk.tools}
    arguments = {argument for tool in talk.tools for argument in tool.input_schema.get("properties", {})}
    found = ghosts(text, known, arguments)
    if found:
        return absent(f"The instructions send the assistant to {', '.join(found[:8])}, which is not listed.")
    return present("Every tool that the instructions name is listed.")


def names_every_tool(text: str, talk: Talk, visit: Visit) -> Answer:
    """Look whether each listed tool is named as a whole word."""
    lacking = [tool.name for tool in talk.tools if not mentions(text, tool.name)]
    return _share(
        talk,
        lacking,
        "Every listed tool is named in the instructions.",
        "{lacking} of {total} tools are never named, so the model has no reason to call them: {names}.",
    )


def stands_alone(text: str, talk: Talk, visit: Visit) -> Answer:
    """Look whether the first characters say the credential and the three states."""
    head = text[:STANDALONE]
    lacking = [state for state in STATES if not mentions(head, state)]
    if visit.door is not None and not CREDENTIAL.search(head):
        lacking.append("how to send the credential")
    if lacking:
        return absent(f"Put into the first {STANDALONE} characters: {', '.join(lacking)}.")
    return present(f"The first {STANDALONE} characters stand alone.")


def lists_no_codes(text: str, talk: Talk, visit: Visit) -> Answer:
    """Look whether the instructions repeat the list of codes."""
    listed = codes_in(text)
    if listed:
        return absent(f"The instructions repeat {', '.join(listed)}; each tool's description does.")
    return present("The instructions leave the codes to the tools' descriptions.")


def _channel(pick: Callable[[Door], HttpAnswer | None], name: str) -> Look:
    def look(door: Door) -> Answer:
        if door.is_open:
            return absent(f"Anybody may come in; ask for a key in {name}.")
        answer = pick(door)
        if answer is None:
            return NOT_GIVEN
        if door.refuses_what_was_given:
            return cannot_tell(
                f"The given credential was refused in {name} with {answer.status}, and in the other channel too; "
                "give one that the server knows."
            )
        if answer.status == 200:
            return present(f"The key is accepted in {name}.")
        return absent(f"The given key is refused in {name} with {answer.status}.")

    return _at_the_door(look)


def real_refusal(door: Door) -> Answer:
    """Look for a 401 with a challenge and a JSON-RPC body, for each way to come without a right."""
    attempts = {"no credential": door.without, "a wrong key": door.wrong_key, "a wrong bearer": door.wrong_bearer}
    for what, answer in attempts.items():
        if answer.status != 401:
            return absent(f"With {what} the server answers {answer.status}, not 401; no client will ask for a key.")
        if "www-authenticate" not in answer.headers:
            return absent(f"With {what} the 401 lacks WWW-Authenticate.")
        body = answer.json
        if not (isinstance(body, dict) and body.get("jsonrpc") == "2.0" and "error" in body):
            return absent(f"With {what} the body is no JSON-RPC error, so clients show their user none of it.")
        if "resource_metadata" in answer.headers["www-authenticate"]:
            return absent("The challenge names resource_metadata, so Claude Code and others begin an OAuth dance.")
    return present("Without a right to enter the answer is a real 401 that says how to send a key.")


def refuses_conflict(door: Door) -> Answer:
    """Look how two credentials that disagree are answered."""
    if door.is_open:
        return absent("Anybody may come in, whatever is sent.")
    if door.conflicting is None:
        return NOT_GIVEN
    if door.refuses_what_was_given and door.conflicting.status != 400:
        return REFUSED
    if door.conflicting.status == 400:
        return present("Two credentials that disagree are refused with 400.")
    return absent(f"Two credentials that disagree are answered with {door.conflicting.status}, not 400.")


def nothing_in_the_query(door: Door) -> Answer:
    """Look whether a credential in the address opens the door."""
    if door.is_open:
        return not_applicable("Anybody may come in.")
    if door.refuses_what_was_given:
        return REFUSED
    if door.in_query is None:
        return cannot_tell("Tried only with a given key and on this machine: an address lands in logs on its way.")
    if door.in_query.status == 200:
        return absent("A credential in the query string opens the door; it lands in logs.")
    return present("A credential in the query string does not open the door.")


def no_discovery(door: Door) -> Answer:
    """Look whether the places where clients look for OAuth say clearly that there is none."""
    if door.is_open:
        return not_applicable("Anybody may come in; no client looks for OAuth.")
    if "resource_metadata" in door.without.headers.get("www-authenticate", ""):
        return not_applicable("The server offers OAuth.")
    wrong = {path: answer.status for path, answer in door.discovery.items() if answer.status != 404}
    if wrong:
        path, status = next(iter(wrong.items()))
        return absent(f"{path} answers {status} instead of 404, so clients such as Claude Code begin an OAuth dance.")
    return present("Where clients look for OAuth there is a clean 404.")


def no_redirect(door: Door) -> Answer:
    """Look whether the address with and without the last slash answers alike."""
    answer = door.with_slash
    if answer is None or answer.status is None:
        return cannot_tell("The other spelling of the address did not answer.")
    if answer.status in {301, 302, 307, 308}:
        return absent(
            f"The other spelling of the address is redirected ({answer.status}); clients drop credentials there."
        )
    return present("No spelling of the address is redirected.")


def _hints(tool: mcp_types.Tool) -> dict[str, bool]:
    given = {name: getattr(tool.annotations, name, None) for name in HINTS}
    return {name: value for name, value in given.items() if value is not None}


def says_read_only(talk: Talk, visit: Visit) -> Answer:
    """Look whether each tool says if it changes anything."""
    lacking = [t.name for t in talk.tools if not _hints(t).keys() & {"read_only_hint", "destructive_hint"}]
    return _share(
        talk,
        lacking,
        "Every tool says whether it changes anything.",
        "{lacking} of {total} tools do not say whether they change anything; clients ask before each call: {names}.",
    )


def says_all(talk: Talk, visit: Visit) -> Answer:
    """Look for a title and four booleans."""
    lacking = [
        tool.name
        for tool in talk.tools
        if len(_hints(tool)) < 4 or not (tool.title or (tool.annotations and tool.annotations.title))
    ]
    return _share(
        talk,
        lacking,
        "Every tool has a title and all four hints.",
        "{lacking} of {total} tools lack a title or a hint: {names}.",
    )


def _values(schema: Any, name: str) -> list[set[str]]:
    """Return every closed set of values that a schema gives a property of that name."""
    found: list[set[str]] = []
    definitions = schema.get("$defs", {}) if isinstance(schema, Mapping) else {}

    def walk(node: Any) -> None:
        if isinstance(node, Mapping):
            properties = node.get("properties")
            if isinstance(properties, Mapping) and name in properties:
                found.append({v for v in _enumerated(properties[name], definitions) if isinstance(v, str)})
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    walk(schema)
    return found


def _enumerated(node: Any, definitions: Mapping[str, Any], depth: int = 0) -> Iterator[object]:
    if not isinstance(node, Mapping) or depth > 8:
        return
    reference = node.get("$ref")
    if isinstance(reference, str):
        yield from _enumerated(definitions.get(reference.rsplit("/", 1)[-1]), definitions, depth + 1)
    yield from node.get("enum", [])
    if "const" in node:
        yield node["const"]
    for key in ("anyOf", "oneOf", "allOf"):
        for inner in node.get(key, []):
            yield from _enumerated(inner, definitions, depth + 1)


def publishes_codes(talk: Talk, visit: Visit) -> Answer:
    """Look for a closed set of codes in what each tool publishes."""
    lacking = [t.name for t in talk.tools if not any(_values(t.output_schema, "code"))]
    return _share(
        talk,
        lacking,
        "Every tool publishes a closed set of codes.",
        "{lacking} of {total} tools publish no codes the agent could branch on: {names}.",
    )


def exactly_six(talk: Talk, visit: Visit) -> Answer:
    """Look whether the published codes are the six."""
    published = set().union(*(v for t in talk.tools for v in _values(t.output_schema, "code")))
    if not published:
        return absent(f"Publish these codes in the output schema: {', '.join(CODES)}.")
    if published == set(CODES):
        return present("The published codes are exactly the six.")
    extra, lacking = sorted(published - set(CODES)), sorted(set(CODES) - published)
    return absent(f"The published codes differ from the six: more {extra or 'none'}, missing {lacking or 'none'}.")


def publishes_states(talk: Talk, visit: Visit) -> Answer:
    """Look for the three states in what each tool publishes."""
    lacking = [t.name for t in talk.tools if not any(set(STATES) == v for v in _values(t.output_schema, "status"))]
    return _share(
        talk,
        lacking,
        "Every tool publishes the states ok, degraded and failed.",
        "{lacking} of {total} tools do not publish the three states: {names}.",
    )


def publishes_denominator(talk: Talk, visit: Visit) -> Answer:
    """Look for coverage {unit, total, usable} in what each tool publishes."""
    lacking = [
        t.name
        for t in talk.tools
        if not {"unit", "total", "usable"} <= _property_names(t.output_schema) and not NAMED.search(t.name)
    ]
    return _share(
        talk,
        lacking,
        "Every tool publishes the denominator of a partial answer.",
        "{lacking} of {total} tools publish no coverage {{unit, total, usable}}: {names}.",
    )


def _property_names(schema: Any) -> set[str]:
    if isinstance(schema, Mapping):
        own = set(schema["properties"]) if isinstance(schema.get("properties"), Mapping) else set()
        return own.union(*(_property_names(inner) for inner in schema.values()))
    if isinstance(schema, list):
        return set().union(*(_property_names(inner) for inner in schema))
    return set()


def describes_codes(talk: Talk, visit: Visit) -> Answer:
    """Look whether each description names a code."""
    described = [t for t in talk.tools if not NAMED.search(t.name)]
    lacking = [t.name for t in described if not any(mentions(t.description or "", code) for code in CODES)]
    if not described:
        return not_applicable("Only a coverage tool is listed.")
    return _share(
        talk,
        lacking,
        "Every description names the codes its tool can answer with.",
        "{lacking} of {total} descriptions name no code, so the model meets it unprepared: {names}.",
    )


def has_coverage(talk: Talk, visit: Visit) -> Answer:
    """Look for a coverage tool without arguments that is read-only."""
    tool = next((t for t in talk.tools if NAMED.search(t.name)), None)
    if tool is None:
        return absent("Add a tool without arguments that says what is covered, since when, and what is missing.")
    if tool.input_schema.get("properties"):
        return absent(f"{tool.name} takes arguments; the whole answer must come without any.")
    if tool.annotations is None or tool.annotations.read_only_hint is not True:
        return absent(f"{tool.name} does not say that it is read-only, so it was not called.")
    return present(f"{tool.name} declares what the connector covers.")


def coverage_answers(talk: Talk, visit: Visit) -> Answer:
    """Look at what the coverage tool answered."""
    answered = {name: answer for name, answer in talk.answers.items() if NAMED.search(name)}
    if not answered:
        return absent("No coverage tool could be called.")
    name, answer = next(iter(answered.items()))
    content = answer.structured_content
    if not isinstance(content, Mapping):
        return absent(f"{name} answers without structured content.")
    for body in (content, content.get("data")):
        if isinstance(body, Mapping) and "families" in body:
            return _families_and_gaps(name, {**content, **body})
    return absent(f"The answer of {name} lacks families.")


def _families_and_gaps(name: str, body: Mapping[str, Any]) -> Answer:
    lacking = [field for field in ANSWER if field not in body]
    for part, fields in (("families", FAMILY_FIELDS), ("known_gaps", GAP_FIELDS)):
        entries = body.get(part)
        if not entries:
            return absent(f"{name} answers no {part}; an empty list means that nobody looked.")
        lacking += [
            f"{part}.{f}" for f in fields if not all(isinstance(e, Mapping) and e.get(f) is not None for e in entries)
        ]
    if lacking:
        return absent(f"The answer of {name} lacks {', '.join(lacking)}.")
    return present(f"{name} answers families with capture dates, and known gaps with their fallbacks.")


def both_eras(visit: Visit) -> Answer:
    """Look whether old and new clients can talk with the server."""
    if not visit.talks:
        return _unseen(visit)
    if visit.failures:
        mode, reason = next(iter(visit.failures.items()))
        return absent(f"Clients of {ERAS[mode]} cannot talk with it: {reason}")
    versions = {talk.version for talk in visit.talks.values()}
    if len(versions) == 1:
        return absent(f"Every client is answered in {versions.pop()}; newer clients gain nothing.")
    return present(f"Clients of both eras are answered: {', '.join(sorted(versions))}.")


def names_fit(talk: Talk, visit: Visit) -> Answer:
    """Look for names that a client hides or refuses."""
    lacking = [t.name for t in talk.tools if not is_fitting(t.name, talk.name)]
    return _share(
        talk,
        lacking,
        "Every name fits every client.",
        "{lacking} of {total} names are hidden by Cursor (60 characters with the server's name) or refused "
        "([a-zA-Z0-9_-], at most 64): {names}.",
    )


def descriptions_fit(talk: Talk, visit: Visit) -> Answer:
    """Look for descriptions that are cut."""
    lacking = [t.name for t in talk.tools if len((t.description or "").encode()) > MOST_BYTES]
    return _share(
        talk,
        lacking,
        "Every description fits 2,048 bytes.",
        "{lacking} of {total} descriptions are cut at 2,048 bytes by Claude Code: {names}.",
    )


def clean_stdout(visit: Visit) -> Answer:
    """Look for lines on stdout that are no protocol."""
    if not visit.over_stdio:
        return not_applicable("The server does not speak over stdio.")
    if visit.polluting_lines:
        return absent(f"stdout begins with what is no JSON-RPC: {visit.polluting_lines[0][:80]!r}. Write it to stderr.")
    return present("stdout carries the protocol alone.")


def resources_are_json(talk: Talk, visit: Visit) -> Answer:
    """Look whether resources that were read parse."""
    if not talk.resources:
        return not_applicable("No resource is listed.")
    wrong = [uri for uri, (_, text) in talk.resources.items() if text is not None and not _parses(text)]
    if wrong:
        return absent(f"A resource answers JSON and nothing else; {wrong[0]} does not.")
    return present(f"{len(talk.resources)} resources are JSON.")


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def answers_fit(talk: Talk, visit: Visit) -> Answer:
    """Look at the size and the form of what the called tools answered."""
    if not talk.answers:
        return not_applicable("No tool was called.")
    for name, answer in talk.answers.items():
        size = len(answer.model_dump_json(by_alias=True, exclude_none=True))
        if size > MOST_CHARACTERS:
            return absent(
                f"{name} answers {size:,} characters; clients replace more than {MOST_CHARACTERS:,} by a preview."
            )
        texts = [block.text for block in answer.content if isinstance(block, mcp_types.TextContent)]
        if texts and texts[0].lstrip()[:1] in "{[" and _parses(texts[0]):
            return absent(
                f"{name} answers JSON as its text; a person should be able to read it. The data is structured content."
            )
    return present(f"{len(talk.answers)} answers are prose of a fitting size.")


def _same(code: str, look: Look) -> Rule[Visit]:
    rule = next(rule for rule in RULES if rule.code == code)
    return Rule(rule.code, rule.family, rule.title, rule.why, rule.mend, look, rule.essential)


ONLY_OUTSIDE: tuple[Rule[Visit], ...] = (
    Rule(
        "CN308", DOOR, "Where clients look for OAuth there is a 404",
        "Anything else there makes a client register, open a browser and never send the key it has.",
        "Answer 404 without credentials on /.well-known/*, /register, /authorize and /token.",
        _at_the_door(no_discovery),
    ),
    Rule(
        "CN309", DOOR, "The address is not redirected",
        "A redirect to an absolute address loses the credential, or the S of https.",
        "Answer /mcp and /mcp/ alike.",
        _at_the_door(no_redirect),
    ),
    Rule(
        "CN1401", CLIENTS, "Clients of both protocol eras are answered",
        "Half of the clients in use speak one, half the other.",
        "Serve statelessly with a framework that answers initialize and server/discover.",
        both_eras, essential=True,
    ),
    Rule(
        "CN1405", CLIENTS, "Resources are JSON",
        "Tools speak to people, resources to programs; a program cannot read a sentence.",
        "Return JSON with its media type.",
        _talking(resources_are_json),
    ),
    Rule(
        "CN1406", CLIENTS, "Answers are prose of a fitting size",
        "Clients show a preview of what is too large, and people cannot read JSON aloud.",
        "Answer a sentence or a short list; carry the data as structured content; page long lists.",
        _talking(answers_fit),
    ),
)  # fmt: skip

SHARED: tuple[tuple[str, Look], ...] = (
    ("CN101", _talking(sends_instructions)),
    ("CN102", _instructed(orders_calls)),
    ("CN103", _instructed(fits)),
    ("CN104", _instructed(names_no_ghost)),
    ("CN105", _instructed(names_every_tool)),
    ("CN106", _instructed(stands_alone)),
    ("CN107", _instructed(lists_no_codes)),
    ("CN301", _channel(lambda door: door.by_key, "X-API-Key")),
    ("CN302", _channel(lambda door: door.by_bearer, "Authorization: Bearer")),
    ("CN304", _at_the_door(real_refusal)),
    ("CN305", _at_the_door(refuses_conflict)),
    ("CN306", _at_the_door(nothing_in_the_query)),
    ("CN501", _talking(says_read_only)),
    ("CN502", _talking(says_all)),
    ("CN601", _talking(publishes_codes)),
    ("CN602", _talking(exactly_six)),
    ("CN604", _talking(publishes_states)),
    ("CN605", _talking(publishes_denominator)),
    ("CN606", _talking(describes_codes)),
    ("CN901", _talking(has_coverage)),
    ("CN902", _talking(coverage_answers)),
    ("CN1402", _talking(names_fit)),
    ("CN1403", _talking(descriptions_fit)),
    ("CN1404", clean_stdout),
)

PROBE_RULES: tuple[Rule[Visit], ...] = tuple(
    sorted(
        [*(_same(code, look) for code, look in SHARED), *ONLY_OUTSIDE],
        key=lambda rule: int(rule.code[2:]),
    )
)
