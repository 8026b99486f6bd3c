"""What a project says of itself: entry points, dependencies, locked versions."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from connector_canon.findings import Place
from connector_canon.reading.files import text_of_file
from connector_canon.reading.project import Project


@dataclass(frozen=True, slots=True)
class Dependency:
    """A requirement as the project writes it."""

    requirement: Requirement
    place: Place

    @property
    def has_ceiling(self) -> bool:
        """Whether an upper bound or an exact pin keeps the next major out."""
        return any(s.operator in {"<", "<=", "==", "~=", "==="} for s in self.requirement.specifier)


def project_table(folder: Path) -> dict[str, Any]:
    """Return pyproject.toml as a table, empty when there is none or it does not parse."""
    text = text_of_file(folder / "pyproject.toml")
    if text is None:
        return {}
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def entry_modules(project: Project) -> frozenset[str]:
    """Return the shown paths of the modules that console scripts and `__main__` files start in."""
    table = project_table(project.folders.project)
    scripts = table.get("project", {}).get("scripts", {}) or table.get("tool", {}).get("poetry", {}).get("scripts", {})
    started = {m.shown for m in project.modules if m.path.name == "__main__.py"}
    for value in scripts.values() if isinstance(scripts, dict) else ():
        tail = str(value).split(":")[0].split(".")
        started |= {m.shown for m in project.modules if m.parts[-len(tail) :] == tuple(tail)}
    return frozenset(started)


def dependencies(project: Project) -> list[Dependency]:
    """Return what the project requires at run time, from pyproject.toml, else from requirements.txt."""
    folder = project.folders.project
    found: list[Dependency] = []
    table = project_table(folder)
    text = text_of_file(folder / "pyproject.toml") or ""
    listed = table.get("project", {}).get("dependencies", [])
    path = folder / "pyproject.toml"
    if not listed:
        path = folder / "requirements.txt"
        text = text_of_file(path) or ""
        listed = [line.split("#")[0].strip() for line in text.splitlines()]
    for line in listed:
        try:
            requirement = Requirement(str(line))
        except InvalidRequirement:
            continue
        number = next((n for n, t in enumerate(text.splitlines(), 1) if str(line) in t), 1)
        found.append(Dependency(requirement, Place(project.folders.shown(path), number)))
    return found


@cache
def _locked(path: Path, name: str) -> str | None:
    text = text_of_file(path) or ""
    match = re.search(rf'name = "{re.escape(name)}"\nversion = "([^"]+)"', text)
    return match[1] if match else None


def resolved_major(project: Project, name: str) -> int | None:
    """Return the major version that an installation brings: locked, pinned, or the newest its bounds allow.

    None when the project does not require it or leaves the upper end open, so that the newest is installed.
    """
    for folder in (project.folders.project, project.folders.repository):
        for lock in ("uv.lock", "poetry.lock", "pdm.lock"):
            version = _locked(folder / lock, name)
            if version is not None:
                return major(version)
    pins = text_of_file(project.folders.project / "requirements.txt") or ""
    pinned = re.search(rf"^{re.escape(name)}(?:\[[^\]]*\])?==([\w.]+)", pins, re.MULTILINE)
    if pinned is not None:
        return major(pinned[1])
    for dependency in dependencies(project):
        if dependency.requirement.name.lower() == name:
            bounds = [
                newest_major(s.operator, s.version)
                for s in dependency.requirement.specifier
                if s.operator in {"==", "===", "~=", "<", "<="}
            ]
            return min(bounds) if bounds else None
    return None


def newest_major(operator: str, version: str) -> int:
    """Return the newest major version that one bound lets in: `<5` and `<5.0` end with 4, `<5.1` with 5."""
    try:
        bound = Version(version)
    except InvalidVersion:
        return major(version)
    return bound.major - (operator == "<" and not any(bound.release[1:]))


def requires(project: Project, name: str) -> bool:
    """Whether the project requires a distribution at run time."""
    return any(d.requirement.name.lower() == name for d in dependencies(project))


def major(version: str) -> int:
    """Return the first number of a version."""
    try:
        return Version(version.rstrip("*").rstrip(".")).major
    except InvalidVersion:
        return 0
