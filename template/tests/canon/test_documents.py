"""README, the reference and the registry entry say what the server is."""

import json

from .subject import ROOT, Subject, describe


async def test_the_documents_keep_step_with_the_server(subject: Subject) -> None:
    description = await describe.describe(subject.build(), subject.settings, subject.sentences)
    assert description.tools, "The server lists no tool: nothing was examined."
    documents = describe.documents(ROOT, description, subject.sentences)
    stale = [path.name for path in describe.stale(documents)]
    assert not stale, f"{', '.join(stale)} no longer says what the server is: run `{subject.command} describe --write`."


async def test_the_readme_names_every_tool_resource_and_setting(subject: Subject) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    description = await describe.describe(subject.build(), subject.settings, subject.sentences)
    names = [tool.name for tool in description.tools] + [resource.uri for resource in description.resources]
    for name in names + [variable.name for variable in description.variables]:
        assert f"`{name}`" in readme, f"README.md does not name {name}."


async def test_the_example_environment_names_every_setting(subject: Subject) -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    description = await describe.describe(subject.build(), subject.settings, subject.sentences)
    for variable in description.variables:
        assert f"{variable.name}=" in example, f".env.example does not name {variable.name}."


def test_the_registry_finds_the_package() -> None:
    entry = ROOT / "server.json"
    if entry.exists():
        content = json.loads(entry.read_text(encoding="utf-8"))
        assert len(content["description"]) <= 100
        assert f"mcp-name: {content['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")
