"""What a server offers, read from the server itself and written where people read it."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from fastmcp import FastMCP

from .configuration import ConfigurationError, ConnectorSettings
from .sentences import Sentences

README: Final = Path("README.md")
REFERENCE: Final = Path("docs/mcp-server.md")
REGISTRY_ENTRY: Final = Path("server.json")
MARK: Final = "<!-- describe:{name} -->\n{text}<!-- /describe:{name} -->"


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool."""

    name: str
    type: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """A tool as the server lists it."""

    name: str
    title: str
    description: str
    read_only: bool | None
    arguments: tuple[Argument, ...]

    @property
    def summary(self) -> str:
        """The first paragraph of the description, on one line."""
        return _cell(self.description.split("\n\n")[0])


@dataclass(frozen=True, slots=True)
class ResourceDescription:
    """A resource as the server lists it."""

    uri: str
    mime_type: str
    description: str


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that the server reads. A secret's default is never shown."""

    name: str
    default: str
    description: str
    secret: bool


@dataclass(frozen=True, slots=True)
class Description:
    """Everything that the documents say about a server."""

    name: str
    instructions: str
    tools: tuple[ToolDescription, ...]
    resources: tuple[ResourceDescription, ...]
    variables: tuple[Variable, ...]

    def as_json(self) -> str:
        """Return the description as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)


async def describe(mcp: FastMCP, settings: type[ConnectorSettings], sentences: Sentences) -> Description:
    """Read a server and its settings."""
    tools = [
        ToolDescription(
            name=tool.name,
            title=tool.title or (tool.annotations.title if tool.annotations else None) or "",
            description=tool.description or "",
            read_only=tool.annotations.read_only_hint if tool.annotations else None,
            arguments=_arguments(tool.parameters),
        )
        for tool in await mcp.list_tools()
    ]
    resources = [
        ResourceDescription(str(resource.uri), resource.mime_type, resource.description or "")
        for resource in await mcp.list_resources()
    ]
    return Description(mcp.name, mcp.instructions or "", tuple(tools), tuple(resources), variables(settings, sentences))


def variables(settings: type[ConnectorSettings], sentences: Sentences) -> tuple[Variable, ...]:
    """Return the environment variables of a settings class."""
    found = []
    for name, field in settings.model_fields.items():
        secret = "Secret" in str(field.annotation)
        default = field.get_default(call_default_factory=True)
        shown = "" if default in (None, (), {}) or secret else str(default)
        description = field.description or sentences.settings[name]
        found.append(Variable(settings.variable(name), shown, description, secret))
    return tuple(found)


def documents(root: Path, description: Description, sentences: Sentences) -> Mapping[Path, str]:
    """Return what each document below `root` ought to hold.

    Raises:
        ConfigurationError: a document is missing, or has lost the marks between which the tables stand.
    """
    readme = root / README
    try:
        text = readme.read_text(encoding="utf-8")
        for name, table in (
            ("tools", tool_table(description, sentences)),
            ("settings", variable_table(description, sentences)),
        ):
            text = _between_marks(text, name, table)
    except FileNotFoundError:
        raise ConfigurationError("There is no README.md here: run describe in the connector's repository.") from None
    found = {readme: text, root / REFERENCE: reference(description, sentences)}
    entry = root / REGISTRY_ENTRY
    if entry.exists():
        found[entry] = registry_entry(root, json.loads(entry.read_text(encoding="utf-8")), description)
    return found


def tool_table(description: Description, sentences: Sentences) -> str:
    """Return the table of tools and resources with their counts."""
    counts = sentences.counts.format(tools=len(description.tools), resources=len(description.resources))
    rows = [(f"`{tool.name}`", tool.summary) for tool in description.tools]
    rows += [(f"`{resource.uri}`", _cell(resource.description)) for resource in description.resources]
    return f"{counts}\n\n{_table(sentences.tool_columns, rows)}"


def variable_table(description: Description, sentences: Sentences) -> str:
    """Return the table of settings."""
    rows = [
        (f"`{variable.name}`", f"`{variable.default}`" if variable.default else "", _cell(variable.description))
        for variable in description.variables
    ]
    return _table(sentences.setting_columns, rows)


def reference(description: Description, sentences: Sentences) -> str:
    """Return the reference page: every tool with its arguments, every resource."""
    parts = [f"# {description.name}", sentences.reference_note]
    for tool in description.tools:
        parts += [f"## `{tool.name}`", tool.title, tool.description.strip()]
        if tool.arguments:
            rows = [
                (f"`{argument.name}`", argument.type, sentences.yes_no[argument.required], _cell(argument.description))
                for argument in tool.arguments
            ]
            parts.append(_table(sentences.argument_columns, rows))
    for resource in description.resources:
        parts += [f"## `{resource.uri}`", resource.description.strip(), f"`{resource.mime_type}`"]
    return "\n\n".join(part for part in parts if part) + "\n"


def registry_entry(root: Path, entry: dict[str, Any], description: Description) -> str:
    """Return `server.json` with the version and the settings of today."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entry["version"] = project["version"]
    for package in entry.get("packages", []):
        package["version"] = project["version"]
        package["environmentVariables"] = [
            {"name": variable.name, "isRequired": False, "isSecret": variable.secret}
            for variable in description.variables
        ]
    return json.dumps(entry, ensure_ascii=False, indent=2) + "\n"


def stale(found: Mapping[Path, str]) -> list[Path]:
    """Return the documents that no longer say what the server is."""
    return [path for path, text in found.items() if not path.exists() or path.read_text(encoding="utf-8") != text]


def write(found: Mapping[Path, str], report: Callable[[str], None]) -> None:
    """Bring the documents up to date."""
    for path in stale(found):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found[path], encoding="utf-8")
        report(f"wrote {path.name}")


def _arguments(schema: Mapping[str, Any]) -> tuple[Argument, ...]:
    required = schema.get("required", [])
    return tuple(
        Argument(name, _type(field), name in required, str(field.get("description", "")))
        for name, field in schema.get("properties", {}).items()
    )


def _type(field: Mapping[str, Any]) -> str:
    variants = [str(variant["type"]) for variant in field.get("anyOf", [field]) if "type" in variant]
    return " or ".join(variant for variant in variants if variant != "null") or "any"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [columns, ["---" for _ in columns], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _between_marks(text: str, name: str, table: str) -> str:
    pattern = re.compile(MARK.format(name=name, text="(.*?)"), re.DOTALL)
    if not pattern.search(text):
        raise ConfigurationError(f"README.md has no <!-- describe:{name} --> mark: put it where the table belongs.")
    return pattern.sub(lambda _: MARK.format(name=name, text=f"{table}\n"), text)
