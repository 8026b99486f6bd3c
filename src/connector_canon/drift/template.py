"""The template a connector was rendered from: its recorded version, and the newest."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import copier
import yaml
from copier.errors import CopierError
from packaging.version import InvalidVersion, Version

from connector_canon.findings import CannotLook

ANSWERS = ".copier-answers.yml"
SHORTCUTS = (("gh:", "https://github.com/"), ("gl:", "https://gitlab.com/"), ("git+", ""))


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the answers file says."""

    source: str
    version: str
    adopted: bool = False
    """Whether the canon was merged into a server that was there before."""

    @classmethod
    def of(cls, folder: Path) -> Recorded:
        """Read the answers file; raises CannotLook when there is none or it does not name a template."""
        file = folder / ANSWERS
        if not file.is_file():
            raise CannotLook(f"{folder} holds no {ANSWERS}, so it was not rendered from a template; try canon review.")
        try:
            answers: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
        except (yaml.YAMLError, UnicodeDecodeError):
            answers = None
        if not isinstance(answers, dict) or not answers.get("_src_path") or not answers.get("_commit"):
            raise CannotLook(f"{file} does not say which template and version: _src_path and _commit are needed.")
        return cls(str(answers["_src_path"]), str(answers["_commit"]), answers.get("mode") == "retrofit")


def render_again(folder: Path, destination: Path, recorded: Recorded) -> None:
    """Render the recorded version with the recorded answers; nothing of the template is trusted to run.

    Raises CannotLook when the template or that version cannot be had.
    """
    destination.mkdir()
    shutil.copyfile(folder / ANSWERS, destination / ANSWERS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            copier.run_recopy(
                destination, vcs_ref=recorded.version, defaults=True, overwrite=True, quiet=True, unsafe=False
            )
    except (CopierError, OSError, ValueError) as fault:
        raise CannotLook(f"{recorded.source} at {recorded.version} cannot be rendered: {_first_line(fault)}.") from None
    except Exception as fault:
        # Copier lets git's own failures through as they are.
        raise CannotLook(f"{recorded.source} at {recorded.version} cannot be had: {_first_line(fault)}.") from None


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest released tag of the template, or why there is none to compare with."""

    tag: str | None
    reason: str | None = None


def newest_version(recorded: Recorded, seconds: float) -> Newest:
    """Ask the template for its tags; pre-releases and tags that are no versions are passed over."""
    address = recorded.source
    for short, long in SHORTCUTS:
        if address.startswith(short):
            address = long + address.removeprefix(short)
    try:
        listed = subprocess.run(  # noqa: S603
            ["git", "ls-remote", "--tags", "--refs", "--", address],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return Newest(None, "the template was not reached")
    tags = [line.rpartition("refs/tags/")[2] for line in listed.splitlines()]
    versions = [(v, tag) for tag in tags if (v := version_of(tag)) is not None]
    released = [(v, tag) for v, tag in versions if not v.is_prerelease]
    if released:
        return Newest(max(released)[1])
    if versions:
        return Newest(None, f"the template has pre-releases alone, the newest is {max(versions)[1]}")
    return Newest(None, "the template has no tag that is a version" if tags else "the template has no tag")


def version_of(reference: str) -> Version | None:
    """Return the release that a tag, or a commit described by its distance from one, stands for."""
    tag = re.sub(r"-\d+-g[0-9a-f]+$", "", reference)
    try:
        return Version(tag)
    except InvalidVersion:
        return None


def is_behind(recorded: Recorded, newest: str | None) -> bool:
    """Whether a newer release exists than the one recorded."""
    known, latest = version_of(recorded.version), version_of(newest) if newest is not None else None
    return known is not None and latest is not None and known < latest


def _first_line(fault: BaseException) -> str:
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    telling = next((line for line in lines if "fatal:" in line or "error:" in line), lines[0] if lines else "")
    return telling.split("fatal:")[-1].strip(" |.")[:200] or type(fault).__name__
