"""One probe: the door, the first words, a talk in each era, and the rules over what was seen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import anyio

from connector_canon.findings import CannotLook, Finding, Place, Report, SeenTool
from connector_canon.probe.http import examine_door
from connector_canon.probe.processes import marked
from connector_canon.probe.rules import PROBE_RULES
from connector_canon.probe.session import talk, transport_to
from connector_canon.probe.stdio import first_words
from connector_canon.probe.visit import ERAS, Visit


def probe(
    url: str | None,
    headers: Mapping[str, str],
    command: Sequence[str],
    seconds: float = 20.0,
    call: Collection[str] = (),
    call_read_only: bool = False,
) -> Report:
    """Examine a server at an address or behind a command; each step may take `seconds`.

    Calls nothing but a read-only coverage tool unless asked. Raises CannotLook when nothing could be examined.
    """
    visit = anyio.run(_visit, url, dict(headers), list(command), seconds, frozenset(call), call_read_only)
    seen = visit.talk
    where = Place(url or "stdio")
    return Report(
        look="probe",
        target=visit.target,
        server=f"{seen.name} ({', '.join(t.version for t in visit.talks.values())})" if seen is not None else "unseen",
        findings=tuple(Finding(rule.code, rule.look(visit)) for rule in PROBE_RULES),
        tools=tuple(SeenTool(tool.name, where) for tool in seen.tools) if seen is not None else (),
        examined=visit.let_in,
        notes=tuple(f"{ERAS[mode]}: {reason}" for mode, reason in visit.failures.items()),
    )


async def _visit(
    url: str | None,
    headers: dict[str, str],
    command: list[str],
    seconds: float,
    call: frozenset[str],
    call_read_only: bool,
) -> Visit:
    with marked() as environment:
        visit = Visit(url or " ".join(command), over_stdio=url is None, with_headers=bool(headers))
        if url is not None:
            with anyio.move_on_after(seconds * 2) as waited:
                visit.door = await examine_door(url, headers, seconds)
            if waited.cancelled_caught:
                raise CannotLook(f"{url} did not answer within {seconds * 2:g} s.")
        else:
            visit.polluting_lines = await anyio.to_thread.run_sync(first_words, command, environment, seconds)
        for mode in ("auto", "legacy"):
            await _talk_in(visit, mode, url, headers, command, environment, seconds, call, call_read_only)
        if not visit.talks and visit.door is None:
            raise CannotLook(f"`{visit.target}` could not be talked to: {next(iter(visit.failures.values()))}")
        return visit


async def _talk_in(
    visit: Visit,
    mode: str,
    url: str | None,
    headers: dict[str, str],
    command: list[str],
    environment: dict[str, str],
    seconds: float,
    call: frozenset[str],
    call_read_only: bool,
) -> None:
    try:
        with anyio.fail_after(seconds):
            way = transport_to(url, headers, command, environment)
            visit.talks[mode] = await talk(way, "legacy" if mode == "legacy" else "auto", seconds, call, call_read_only)
    except TimeoutError:
        visit.failures[mode] = f"no answer within {seconds:g} s."
    except Exception as fault:
        # Whatever a foreign server makes the client raise is a fact about that server.
        visit.failures[mode] = _sentence(fault)


def _sentence(fault: BaseException) -> str:
    while isinstance(fault, BaseExceptionGroup) and fault.exceptions:
        fault = fault.exceptions[0]
    text = " ".join(str(fault).split())[:200]
    return f"{type(fault).__name__}: {text}" if text else type(fault).__name__
