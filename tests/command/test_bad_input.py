"""What is not a connector, or not readable, ends with a reason and never with 0."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from connector_canon.commands import main


def look(path: Path, *more: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["review", str(path), *more])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "No Python file"),
        ({"index.js": "new McpServer()"}, "canon probe"),
        ({"app.py": "print('hello')"}, "No MCP server was found"),
        ({"app.py": "def broken(:\n"}, "syntax error in line 1"),
        ({"app.py": "from fastmcp import FastMCP\nprint 'hello'\n"}, "Python 2"),
        ({"app.py": "# FastMCP()\n'''mcp = FastMCP()'''\n"}, "No MCP server was found"),
    ],
)
def test_nothing_examined_is_two(files: dict[str, str], reason: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    code, out = look(tmp_path)
    assert code == 2
    assert reason in out


def test_a_path_that_is_not_there_is_two(tmp_path: Path) -> None:
    code, out = look(tmp_path / "none")
    assert code == 2
    assert "nothing at" in out


def test_broken_files_beside_a_server_are_named(server: Callable[[str], Path]) -> None:
    path = server("loops")
    (path / "old.py").write_text("print 'hello'\n", encoding="utf-8")
    (path / "latin.py").write_bytes("name = 'żółć'\n".encode("iso-8859-2"))
    (path / "nul.py").write_bytes(b"x = 1\x00")
    (path / "deep.py").write_text("x = " + "(" * 5000 + ")" * 5000, encoding="utf-8")
    (path / "minified.py").write_text("x = [" + "1," * 20_000 + "]", encoding="utf-8")
    code, out = look(path, "--format", "markdown")
    assert code == 1
    for name in ("old.py", "latin.py", "nul.py", "deep.py", "minified.py"):
        assert f"{name} was not examined" in out


def test_a_declared_encoding_is_followed(server: Callable[[str], Path]) -> None:
    path = server("loops")
    (path / "latin.py").write_bytes("# -*- coding: iso-8859-2 -*-\nname = 'żółć'\n".encode("iso-8859-2"))
    assert "latin.py was not examined" not in look(path, "--format", "markdown")[1]


def test_a_huge_file_costs_nothing(server: Callable[[str], Path]) -> None:
    path = server("loops")
    with (path / "huge.py").open("wb") as file:
        file.truncate(100_000_000)
    started = time.process_time()
    code, out = look(path, "--format", "markdown")
    assert code == 1
    assert "huge.py was not examined" in out
    assert time.process_time() - started < 2


def test_links_that_go_in_circles_are_not_followed(server: Callable[[str], Path]) -> None:
    path = server("loops")
    (path / "again").symlink_to(path, target_is_directory=True)
    (path / "me.py").symlink_to(path / "me.py")
    assert look(path)[0] == 1


def test_installed_packages_are_not_examined(server: Callable[[str], Path]) -> None:
    path = server("loops")
    folder = path / "env" / "lib"
    folder.mkdir(parents=True)
    (path / "env" / "pyvenv.cfg").write_text("home = /usr\n", encoding="utf-8")
    (folder / "other.py").write_text("from fastmcp import FastMCP\nmcp = FastMCP('other')\n", encoding="utf-8")
    assert "other.py" not in look(path, "--format", "json")[1]


def test_the_time_limit_ends_the_look(server: Callable[[str], Path]) -> None:
    path = server("loops")
    for number in range(300):
        (path / f"m{number}.py").write_text("from fastmcp import FastMCP\n" * 2000, encoding="utf-8")
    code, out = look(path, "--time-limit", "0.1")
    assert code == 2
    assert "longer than 0.1 s" in out


def test_names_that_refer_to_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(
        "from fastmcp import FastMCP\n"
        "mcp = FastMCP('circles', instructions=a)\n"
        "a = b\nb = a\n"
        "x = x.y().z()\nx = x.z().y()\n"
        "def f(p): return g(p)\ndef g(p): return f(p)\n"
        "mcp.tool(f(x))\nfor t in a: mcp.tool(t)\n",
        encoding="utf-8",
    )
    assert look(tmp_path, "--time-limit", "10")[0] == 1


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a, pytest]\n",
        "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]),
        "jobs: [not, a, mapping]\non: {push: 7}\n",
        "jobs: {a: {steps: [1, {run: [x]}, null], needs: {b: c}}}\non: push\n",
        "on: push\njobs: {a: null}\n",
        ": : :",
    ],
)
def test_a_workflow_that_is_none_stops_nothing(text: str, server: Callable[[str], Path]) -> None:
    path = server("loops")
    for name in (".circleci/config.yml", ".gitlab-ci.yml", ".github/workflows/ci.yml"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    assert look(path, "--time-limit", "20")[0] == 1


def test_nothing_is_imported_or_run(tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    (tmp_path / "server.py").write_text(
        f"open({os.fspath(proof)!r}, 'w')\nfrom fastmcp import FastMCP\nmcp = FastMCP('x')\n", encoding="utf-8"
    )
    (tmp_path / "setup.py").write_text(f"open({os.fspath(proof)!r}, 'w')\n", encoding="utf-8")
    assert look(tmp_path)[0] == 1
    assert not proof.exists()
