"""Clients' limits: names, sizes, and lists that are cut between records."""

import re
import tomllib

import pytest
from pydantic import BaseModel

from .subject import ROOT, Subject, errors, paging

LONGEST_TOGETHER = 64
"""Characters of `mcp__<server>__<tool>` that clients take."""
OUT_OF_BOUNDS = [paging.encode_cursor("query", offset) for offset in (-1, paging.OFFSET_LIMIT + 1, 10**30)]


class Item(BaseModel):
    text: str


async def test_names_fit_every_client(subject: Subject) -> None:
    tools = await subject.build().list_tools()
    assert tools, "The server lists no tool: nothing was examined."
    for tool in tools:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name), tool.name
        assert len(f"mcp__{subject.command}__{tool.name}") <= LONGEST_TOGETHER, tool.name


async def test_every_argument_is_described(subject: Subject) -> None:
    for tool in await subject.build().list_tools():
        for name, field in tool.parameters.get("properties", {}).items():
            assert field.get("description"), f"{tool.name} does not say what {name} is."


async def test_the_server_says_which_version_it_is(subject: Subject) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert subject.build().version == project["version"]


def test_a_result_has_the_size_that_clients_take() -> None:
    assert paging.RESULT_LIMIT == 50_000


def test_a_cut_goes_between_records_and_loses_none() -> None:
    items = [Item(text=f"{number:05} " + "x" * 94) for number in range(2_000)]
    seen: list[Item | None] = []
    while len(seen) < len(items):
        part = paging.that_fit(items[len(seen) :], lambda item: item.text)
        assert part
        size = sum(len(item.model_dump_json()) + len(item.text) for item in part if item)
        assert size <= paging.RESULT_LIMIT
        seen += part
    assert seen == items


@pytest.mark.parametrize("cursor", ["", "x", "MTA", "MTAuYWJj", "ż", "e30=", "-5", "MTAuYWJj" * 100, *OUT_OF_BOUNDS])
def test_a_cursor_that_is_not_ours_is_refused(cursor: str) -> None:
    with pytest.raises(errors.ConnectorError) as refused:
        paging.decode_cursor(cursor, "query")
    assert refused.value.code is errors.Code.INVALID_INPUT


def test_a_cursor_belongs_to_one_query() -> None:
    cursor = paging.encode_cursor("query", 10)
    assert paging.decode_cursor(cursor, "query") == 10
    assert paging.decode_cursor(None, "query") == 0
    with pytest.raises(errors.ConnectorError):
        paging.decode_cursor(cursor, "another")
