"""`canon review --live`: the tools of the running server beside those of its source."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import anyio

from connector_canon.findings import Answer, CannotLook, Finding, Report, absent, cannot_tell, present
from connector_canon.reading.files import Folders
from connector_canon.reading.packaging import project_table
from connector_canon.rules.rule import Family, Rule

OWN_COMMAND = "the project's own command"
CUT_OFF = ("unshare", "--map-root-user", "--net", "--")
FAMILY = Family("live", "Source and server agree", "live")


def with_live(report: Report, path: Path, command: str, seconds: float) -> Report:
    """Start the server cut off from the network, list its tools, and add what differs from the source.

    Raises CannotLook when there is no command, no way to cut it off, or no answer.
    """
    names = listed(_command(path, command), path if path.is_dir() else path.parent, seconds)
    look = RULE.look((report, names))
    return Report(
        look=report.look,
        target=report.target,
        server=report.server,
        findings=(*report.findings, Finding(RULE.code, look)),
        tools=report.tools,
        notes=report.notes,
    )


def agree(seen: tuple[Report, Sequence[str]]) -> Answer:
    """Compare the registered names with the listed ones."""
    report, names = seen
    known = {tool.name: tool for tool in report.tools}
    more = sorted(set(names) - known.keys())
    fewer = [tool for name, tool in known.items() if name not in names]
    certain = [tool for tool in fewer if not tool.conditional]
    undecided = any("not fully known" in note for note in report.notes)
    if (more and not undecided) or certain:
        parts = [f"lists {', '.join(more[:8])} which the source does not register"] if more else []
        parts += [f"does not list {', '.join(t.name for t in certain[:8])}"] if certain else []
        return absent(f"The running server {' and '.join(parts)}.", *(tool.place for tool in certain))
    if more:
        return cannot_tell(f"The server lists {', '.join(more[:8])}, which are registered at run time.")
    if fewer:
        return present(f"They agree; {fewer[0].name} is registered only under a condition.", fewer[0].place)
    return present(f"The running server lists the {len(names)} tools of the source.")


def listed(command: list[str], folder: Path, seconds: float) -> list[str]:
    """Return the names a server lists over stdio without network."""
    from connector_canon.probe.processes import marked
    from connector_canon.probe.session import transport_to
    from connector_canon.probe.stdio import first_words

    if not _can_cut_off():
        raise CannotLook(
            "This system cannot cut a command off from the network (unshare); examine it with canon probe instead."
        )
    whole = [*CUT_OFF, *command]

    async def ask() -> list[str]:
        from fastmcp import Client

        with anyio.fail_after(seconds):
            async with Client(transport_to(None, {}, whole, environment), init_timeout=seconds) as client:
                return [tool.name for tool in await client.list_tools()]

    with marked() as environment:
        environment["PWD"] = os.fspath(folder)
        first_words(whole, environment, seconds)
        try:
            return anyio.run(ask)
        except Exception as fault:
            raise CannotLook(f"`{shlex.join(command)}` did not list its tools: {type(fault).__name__}.") from None


def _can_cut_off() -> bool:
    if shutil.which(CUT_OFF[0]) is None:
        return False
    return subprocess.run([*CUT_OFF, "true"], capture_output=True, check=False).returncode == 0  # noqa: S603


def _command(path: Path, given: str) -> list[str]:
    """Return the command to start: the given one, else the project's console script, its own environment's first."""
    if given != OWN_COMMAND:
        return shlex.split(given)
    project = Folders.around(path).project
    scripts = project_table(project).get("project", {}).get("scripts", {})
    for name in scripts if isinstance(scripts, dict) else ():
        for place in (project / ".venv" / "bin" / name, shutil.which(name)):
            if place is not None and Path(place).exists():
                return [os.fspath(place)]
    raise CannotLook(f"No installed console script of {project} was found; give one: --live 'python server.py'.")


RULE: Rule[tuple[Report, Sequence[str]]] = Rule(
    "CN1501", FAMILY, "The running server lists the tools of the source",
    "What the source registers and what clients see can differ by a setting, a filter or a missing credential.",
    "Find the condition that decides, and say in the instructions when the tool is there.",
    agree, essential=True,
)  # fmt: skip
