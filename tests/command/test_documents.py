"""The page of the command names what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from connector_canon.catalogue import EVERY_RULE
from connector_canon.commands import main

ROOT = Path(__file__).parents[2]
RANGE = re.compile(r"\[?(CN\d+)(?: (?:to|and) |–)(CN\d+)\]?(?: \| \[[^\]]*\])?\((?:\.\./rules/)?([a-z-]+\.md)\)")
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


def pages_with_ranges() -> list[Path]:
    return sorted(path for path in (ROOT / "docs").rglob("*.md") if RANGE.search(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", pages_with_ranges(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_range_of_rules_is_all_of_them(page: Path) -> None:
    for first, last, rules in RANGE.findall(page.read_text(encoding="utf-8")):
        codes = [rule.code for rule in EVERY_RULE if rule.page.partition("#")[0] == f"rules/{rules}"]
        assert (first, last) == (codes[0], codes[-1]), f"{page.name}: the rules of {rules} are {codes}."


def test_every_element_names_its_rules_and_the_list_names_all() -> None:
    named = {
        folder: {
            rules
            for page in (ROOT / "docs" / folder).glob("*.md")
            for _, _, rules in RANGE.findall(page.read_text(encoding="utf-8"))
        }
        for folder in ("canon", "rules")
    }
    every = {rule.page.partition("#")[0].removeprefix("rules/") for rule in EVERY_RULE}
    assert named["rules"] == every
    assert named["canon"] == every - {"clients.md", "live.md"}
