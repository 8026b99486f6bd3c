"""Element 1: the instructions orchestrate."""

from __future__ import annotations

import re

from connector_canon.findings import Answer, Place, absent, cannot_tell, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import codes_in, mentions, share

FAMILY = Family("1", "Instructions orchestrate", "instructions")
MOST_BYTES = 2048
STANDALONE = 512
ORDER = re.compile(
    r"call order|order of calls|workflow|procedure|before calling|start with|call .{0,40}\bfirst\b|\bthen\b|"
    r"best practices|selection guide|^\s*(?:\d+[.)]|step \d+)|kolejno|najpierw|zacznij od|nast[eę]pnie",
    re.IGNORECASE | re.MULTILINE,
)
TICKED = re.compile(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?:\([^`]*\))?`")
ORDERED = re.compile(r"(?:^|[\s(:>→])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\(")
RECOMMENDED = re.compile(
    r"(?:^\s*(?:\d+[.)]|[-*])\s*|\b(?:use|try)\s+|\b(?:call|run|invoke)\s+`?)([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b",
    re.IGNORECASE | re.MULTILINE,
)
CALLED = re.compile(r"\b(?:call|invoke|wywołaj)\s+`([a-z][a-z0-9]*)(?:\([^`]*\))?`", re.IGNORECASE)
PLAIN = re.compile(r"(?<![\w`.-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?![\w`=-])")
CREDENTIAL = re.compile(r"X-API-Key|Bearer|API key|credential|klucz", re.IGNORECASE)


def handed_over(connector: Connector) -> Answer:
    """Look whether the server is given instructions."""
    instructions = connector.instructions
    if instructions.text is not None:
        return present("The server is given instructions.", instructions.place)
    if instructions.given:
        return cannot_tell("Instructions are given but made at run time; canon probe reads them.", instructions.place)
    return absent("Give the server instructions: they reach every client before its first call.", instructions.place)


def orders_calls(connector: Connector) -> Answer:
    """Look for a call order that names tools."""
    instructions = connector.instructions
    if instructions.text is None:
        return _without_text(connector)
    text = instructions.text.value
    named = [name for name in connector.tool_names if mentions(text, name)]
    ghosts = _ghosts(connector)
    if ORDER.search(text) and (len(named) >= min(2, len(connector.tool_names)) or not connector.tool_names):
        return present(f"The instructions give an order and name {len(named)} tools.", instructions.place)
    if ORDER.search(text) and ghosts:
        return absent(
            "An order is given, but under names that no tool has; use the registered names.", instructions.place
        )
    if not instructions.text.complete:
        return cannot_tell(
            "Part of the instructions is made at run time; no call order is in the rest.", instructions.place
        )
    return absent("Say which tool to call first and what follows, by the tools' names.", instructions.place)


def fits(connector: Connector) -> Answer:
    """Look whether the instructions stay within what clients keep."""
    instructions = connector.instructions
    if instructions.text is None:
        return _without_text(connector)
    size = len(instructions.text.value.encode())
    if size > MOST_BYTES:
        return absent(
            f"The instructions are {size:,} bytes; a major client cuts them at {MOST_BYTES:,}. Shorten them.",
            instructions.place,
        )
    if not instructions.text.complete:
        return cannot_tell(f"{size:,} bytes are written down, the rest is made at run time.", instructions.place)
    return present(f"The instructions are {size:,} bytes.", instructions.place)


def names_no_ghost(connector: Connector) -> Answer:
    """Look for names in the instructions that no registered tool has."""
    instructions = connector.instructions
    if instructions.text is None:
        return _without_text(connector)
    ghosts = _ghosts(connector)
    if not ghosts:
        return present("Every tool that the instructions name is registered.", instructions.place)
    if connector.undecided:
        return cannot_tell(
            f"{', '.join(ghosts)} may be registered at run time: {connector.undecided[0][1]}.",
            connector.undecided[0][0],
        )
    return absent(
        f"The instructions send the assistant to {', '.join(ghosts[:8])}, which no tool is called; mend the name or register the tool.",
        instructions.place,
    )


def names_every_tool(connector: Connector) -> Answer:
    """Look whether each registered tool is named in the instructions as a whole word."""
    instructions = connector.instructions
    if instructions.text is None:
        return _without_text(connector)
    if not connector.tools:
        return cannot_tell("No tool is written down in the source.", connector.server.place)
    text = instructions.text.value
    lacking = [(t.name, t.place) for t in connector.tools if t.name is not None and not mentions(text, t.name)]
    if lacking and not instructions.text.complete:
        return cannot_tell(f"{lacking[0][0]} is not in the part that is written down.", lacking[0][1])
    if not lacking and connector.undecided:
        return cannot_tell(f"All known tools are named; {connector.undecided[0][1]}.", connector.undecided[0][0])
    return share(
        "tools",
        len(connector.tool_names),
        lacking,
        "Every registered tool is named in the instructions.",
        "{lacking} of {total} tools are never named, so the model has no reason to call them: {names}.",
        (instructions.place,),
    )


def stands_alone(connector: Connector) -> Answer:
    """Look whether the first characters say the credential and the three states."""
    instructions = connector.instructions
    if instructions.text is None:
        return _without_text(connector)
    head = instructions.text.value[:STANDALONE]
    lacking = [state for state in ("ok", "degraded", "failed") if not mentions(head, state)]
    if connector.http is not None and not CREDENTIAL.search(head):
        lacking.append("how to send the credential")
    if not lacking:
        return present(f"The first {STANDALONE} characters stand alone.", instructions.place)
    return absent(
        f"Put into the first {STANDALONE} characters, which every client keeps: {', '.join(lacking)}.",
        instructions.place,
    )


def lists_no_codes(connector: Connector) -> Answer:
    """Look whether the instructions repeat the list of codes."""
    instructions = connector.instructions
    if instructions.text is None:
        return _without_text(connector)
    listed = codes_in(instructions.text.value)
    if listed:
        return absent(
            f"The instructions repeat {', '.join(listed)}; each tool's description does, and two lists drift apart.",
            instructions.place,
        )
    return present("The instructions leave the codes to the tools' descriptions.", instructions.place)


def _ghosts(connector: Connector) -> list[str]:
    text = connector.instructions.text
    if text is None:
        return []
    return ghosts(text.value, set(connector.tool_names), _arguments(connector))


def ghosts(text: str, known: set[str], arguments: set[str]) -> list[str]:
    """Return the names that instructions use as tools and that no tool has; arguments may be quoted as freely."""
    ordered = set(ORDERED.findall(text))
    heads = {name.split("_")[0] for name in known}
    ticked = {name for name in TICKED.findall(text) if name.split("_")[0] in heads}
    plain = {name for name in PLAIN.findall(text) if _resembles_a_tool(name, known)}
    parts = {part for tool in known for part in tool.split("_")}
    recommended = {name for name in RECOMMENDED.findall(text) if parts & set(name.split("_"))}
    called = set(CALLED.findall(text)) if known else set()
    return sorted((ordered | called | ((ticked | plain | recommended) - arguments)) - known)


def _resembles_a_tool(name: str, known: set[str]) -> bool:
    """Whether a plain word is a registered name with a word more or less in front."""
    return any(name != tool and (name.endswith("_" + tool) or tool.endswith("_" + name)) for tool in known)


def _arguments(connector: Connector) -> set[str]:
    """Return the names of the tools' arguments."""
    names: set[str] = set()
    for tool in connector.tools:
        if tool.function is not None and hasattr(tool.function.node, "args"):
            arguments = tool.function.node.args
            names |= {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return names


def _without_text(connector: Connector) -> Answer:
    place: Place = connector.instructions.place
    if connector.instructions.given:
        return cannot_tell("The instructions are made at run time; canon probe reads them.", place)
    return not_applicable("The server has no instructions.", place)


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN101", FAMILY, "The server is given instructions",
        "Instructions are in every client's prompt before the first call; without them the model guesses which tool comes first.",
        "Pass instructions=… to the server's constructor.",
        handed_over, essential=True,
    ),
    Rule(
        "CN102", FAMILY, "The instructions give a call order",
        "A list of tools does not tell the model what to do first, nor how to go on after a failed call.",
        "Write the steps in order, naming the tools.",
        orders_calls, essential=True,
    ),
    Rule(
        "CN103", FAMILY, "The instructions fit 2,048 bytes",
        "A major client cuts instructions at 2 KB without a word to the author; what stands at the end is lost.",
        "Shorten the text; leave arguments and codes to the tools' own descriptions.",
        fits,
    ),
    Rule(
        "CN104", FAMILY, "The instructions name no tool that is not registered",
        "A model that is told to call a ghost spends its turn on an error.",
        "Mend the name, or register the tool.",
        names_no_ghost, essential=True,
    ),
    Rule(
        "CN105", FAMILY, "The instructions name every registered tool",
        "A tool nobody mentions can be found but gives the model no reason to call it.",
        "Name the tool where it belongs in the order, as `tool` or `tool(argument=…)`.",
        names_every_tool,
    ),
    Rule(
        "CN106", FAMILY, "The first 512 characters stand alone",
        "Some clients keep little more than the first lines; they must hold what a call cannot go without.",
        "Begin with the domain, how to send the credential, and what ok, degraded and failed mean.",
        stands_alone,
    ),
    Rule(
        "CN107", FAMILY, "The instructions do not list the error codes",
        "The same list in two places drifts; the tool's description is the one the model reads with the tool.",
        "Take the list out; describe how to go on after a failed call instead.",
        lists_no_codes,
    ),
)  # fmt: skip
