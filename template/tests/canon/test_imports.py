"""Element 8: arrows point one way."""

import ast
import configparser
import subprocess
import sys

from .source import Source
from .subject import ROOT, Subject

HTTP_LIBRARIES = {"aiohttp", "httpx", "httpx2", "requests", "urllib3"}


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


def test_every_contract_is_there(subject: Subject) -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    named = {section.rpartition(":")[2] for section in contracts.sections()}
    assert {"canon", "consumers", "providers", "definition"} <= named
    for section in contracts.sections()[1:]:
        for module in contracts[section]["source_modules"].split():
            folder = ROOT / "src" / module.replace(".", "/")
            there = folder.is_dir() or folder.with_suffix(".py").is_file()
            assert there, f"{section} guards {module}, which is not there."


def test_only_the_canon_speaks_http(subject: Subject) -> None:
    """Two clients of one source would have two ideas of retries, limits and failures."""
    package = ROOT / "src" / subject.package
    for path, module in Source.of(package).modules.items():
        if (package / "canon") in path.parents:
            continue
        for node in ast.walk(module):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            found = {name.split(".")[0] for name in names} & HTTP_LIBRARIES
            assert not found, f"{path.name} imports {sorted(found)}: ask canon.upstream instead."
