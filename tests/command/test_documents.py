"""The page of the command names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from connector_canon.commands import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")


def test_the_published_schemas_are_those_of_the_package() -> None:
    published = {path.name: path.read_bytes() for path in (ROOT / "docs" / "schemas").iterdir()}
    shipped = {path.name: path.read_bytes() for path in (ROOT / "src" / "connector_canon" / "schemas").iterdir()}
    assert published == shipped


def test_every_command_is_on_the_page_and_no_other() -> None:
    assert set(re.findall(r"`canon (\w+)", PAGE)) == set(main.commands)


def test_every_option_on_the_page_exists() -> None:
    known = {name for command in main.commands.values() for parameter in command.params for name in parameter.opts}
    assert set(re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", PAGE)) <= known


def test_every_option_is_explained() -> None:
    for command in main.commands.values():
        assert command.help
        for parameter in command.params:
            assert parameter.param_type_name == "argument" or getattr(parameter, "help", None)
