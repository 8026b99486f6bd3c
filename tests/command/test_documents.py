"""The page of the command names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from connector_canon.commands import main

PAGE = (Path(__file__).parents[2] / "docs" / "command.md").read_text(encoding="utf-8")


def test_every_command_is_on_the_page_and_no_other() -> None:
    assert set(re.findall(r"`canon (\w+)", PAGE)) == set(main.commands)


def test_every_option_on_the_page_exists() -> None:
    known = {name for command in main.commands.values() for parameter in command.params for name in parameter.opts}
    assert set(re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", PAGE)) <= known


def test_every_hidden_default_is_said_in_help() -> None:
    for command in main.commands.values():
        assert command.help
        for parameter in command.params:
            assert (
                parameter.param_type_name == "argument" or getattr(parameter, "help", None) or parameter.name == "form"
            )
