"""Element 8: arrows point one way."""

import ast
import configparser
import subprocess
import sys

from .source import Function, Source, called, tool_functions
from .subject import CANON, CODE, ROOT, SOURCES, Subject

HTTP_LIBRARIES = {"aiohttp", "httpx", "httpx2", "requests", "urllib3"}
OPENS_A_SESSION = {"connect", "connection"}


def test_the_import_contracts_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def read_contracts() -> configparser.ConfigParser:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    return contracts


def test_every_contract_is_there() -> None:
    contracts = read_contracts()
    named = {section.rpartition(":")[2] for section in contracts.sections()}
    assert {"canon", "consumers", "providers", "definition", "backends"} <= named
    for section in contracts.sections()[1:]:
        guarded = contracts[section].get("source_modules") or contracts[section]["modules"]
        for module in guarded.split():
            folder = SOURCES / module.removesuffix(".*").replace(".", "/")
            there = folder.is_dir() or folder.with_suffix(".py").is_file()
            assert there, f"{section} guards {module}, which is not there."


async def test_every_tool_is_under_contract(subject: Subject) -> None:
    guarded = tuple(read_contracts()["importlinter:contract:consumers"]["source_modules"].split())
    for name, function in (await tool_functions(subject.build())).items():
        module = function.__module__
        under = any(f"{module}.".startswith(f"{consumer}.") for consumer in guarded)
        assert under, f"{name} is in {module}, which no contract keeps away from the providers."


def test_nobody_opens_a_session_beside_the_scope() -> None:
    """A store that `sync` writes to opens its own, which no answer comes from."""
    for path, module in Source.of(CODE).modules.items():
        if CANON in path.parents:
            continue
        for owner in (node for node in ast.walk(module) if isinstance(node, ast.Module | ast.ClassDef)):
            methods = [part for part in owner.body if isinstance(part, Function)]
            if "store" in {method.name for method in methods}:
                continue
            for method in methods:
                opened = called(method) & OPENS_A_SESSION
                assert method.name == "session_scope" or not opened, f"{path.name}: {method.name} opens a session."


def test_only_the_canon_speaks_http() -> None:
    """Two clients of one source would have two ideas of retries, limits and failures."""
    for path, module in Source.of(CODE).modules.items():
        if CANON in path.parents:
            continue
        for node in ast.walk(module):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            found = {name.split(".")[0] for name in names} & HTTP_LIBRARIES
            assert not found, f"{path.name} imports {sorted(found)}: ask canon.upstream instead."
