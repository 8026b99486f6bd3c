"""A fleet: one row each, in order, whatever happens to the others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from connector_canon.commands import main
from connector_canon.fleet import rows


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["fleet", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def table(*arguments: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = run("--format", "json", *arguments)
    parsed: dict[str, Any] = json.loads(out)
    schema = json.loads(files("connector_canon").joinpath("schemas", "fleet.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(parsed, schema)
    return code, parsed


@pytest.fixture
def repositories(server: Callable[[str], Path], tmp_path: Path) -> list[Path]:
    empty = tmp_path / "<i>empty"
    empty.mkdir()
    return [server("whole"), empty, server("loops"), tmp_path / "none", server("mounts")]


def test_rows_keep_their_order_and_a_broken_one_stops_nobody(repositories: list[Path]) -> None:
    code, parsed = table(*map(str, repositories))
    assert code == 1
    listed = parsed["repositories"]
    assert [row["path"] for row in listed] == [str(path) for path in repositories]
    assert [row["reason"] is None for row in listed] == [True, False, True, False, True]
    assert (listed[0]["gaps"], listed[0]["states"]["9"]) == (0, "present")
    assert listed[2]["states"]["9"] == "absent"


def test_one_process_and_several_agree(repositories: list[Path]) -> None:
    paths = [str(path) for path in repositories]
    assert table("--processes", "1", *paths) == table("--processes", "2", *paths)


def test_a_whole_fleet_is_zero_and_an_unreadable_one_is_two(server: Callable[[str], Path], tmp_path: Path) -> None:
    assert run(str(server("whole")))[0] == 0
    assert run(str(tmp_path / "none"), str(tmp_path / "nothing"))[0] == 2
    assert run()[0] == 2


def test_the_list_may_come_from_a_file(repositories: list[Path], tmp_path: Path) -> None:
    listed = tmp_path / "fleet.txt"
    listed.write_text("# ours\nwhole\n\nloops  # old\n", encoding="utf-8")
    _, parsed = table("--file", str(listed))
    assert [Path(row["path"]).name for row in parsed["repositories"]] == ["whole", "loops"]
    assert run("--file", str(tmp_path / "none.txt"))[0] == 2


def test_the_page_is_well_formed_and_escapes_what_it_shows(repositories: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "fleet.html"
    code, out, _ = run("--format", "html", "--output", str(page), *map(str, repositories))
    assert (code, out) == (1, "")
    text = page.read_text(encoding="utf-8")
    assert "<i>empty" not in text
    assert "&lt;i&gt;empty" in text
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert reader.rows == len(repositories) + 1
    assert "http" not in text


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.rows += tag == "tr"
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_process_that_dies_takes_nobody_with_it(
    repositories: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = tmp_path / "deadly"
    deadly.mkdir()
    monkeypatch.setattr(rows, "examine", dies_at_deadly)
    found = rows.examine_all([repositories[0], deadly, repositories[2]], 2, 30, False)
    assert [row.reason for row in found] == [None, "The process that examined it died.", None]


def dies_at_deadly(path: Path, seconds: float, with_drift: bool) -> rows.Row:
    if path.name == "deadly":
        os._exit(9)
    return rows.Row(str(path))


def test_the_table_names_the_repositories_and_the_reasons(repositories: list[Path]) -> None:
    _, out, _ = run("--no-drift", *map(str, repositories))
    assert "5 repositories: 1 whole, 2 with gaps, 2 not examined." in out
    assert out.count("not examined") == 3
