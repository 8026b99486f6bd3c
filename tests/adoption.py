"""Servers written by hand, in the places where people put them, and how one of them adopts the canon."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import copier

from tests.rendering import commit, git, render

TWO_LINES: Final = """
mcp = FastMCP("laws", instructions=INSTRUCTIONS, version="1.0.0", auth=door())
install(mcp)
"""
SERVER: Final = '''"""A server as somebody wrote it."""

from typing import Annotated

from fastmcp import FastMCP
from mcp_types import ToolAnnotations
from pydantic import Field
{imports}
INSTRUCTIONS = "Use `find_laws`, then `count_laws`. Every answer comes from the API."
READS = {{"read_only_hint": True, "destructive_hint": False, "idempotent_hint": True, "open_world_hint": False}}
LAWS = ["one", "two"]
{made}

@mcp.tool(annotations=ToolAnnotations(title="Find laws", **READS))
def find_laws(query: Annotated[str, Field(description="A word of the title.")]) -> list[str]:
    """Find laws."""
    return [law for law in LAWS if query in law]


@mcp.tool(annotations=ToolAnnotations(title="Count laws", **READS))
def count_laws() -> int:
    """Count laws."""
    return len(LAWS)
'''
SDK_SERVER: Final = '''"""A server of the SDK's own kind."""

from mcp.server import MCPServer

mcp = MCPServer("laws", instructions="Use `count_laws`.", version="1.0.0")


@mcp.tool()
def count_laws() -> int:
    """Count laws."""
    return 2
'''
FACTORY: Final = """

def make():
    return mcp
"""
REASON: Final = "Not yet: the server was there before the canon."


@dataclass(frozen=True, slots=True)
class OldServer:
    """Where a server is: its file, the folder that it is imported from, and the package that the canon goes into."""

    server_object: str
    source_root: str = "src"
    package: str = "laws_mcp"
    more: Mapping[str, str] = field(default_factory=dict)
    ending: str = ""
    is_sdk: bool = False

    @property
    def path(self) -> str:
        """The server's file."""
        module = self.server_object.partition(":")[0].replace(".", "/")
        return f"{self.source_root}/{module}.py".removeprefix("./")

    @property
    def answers(self) -> dict[str, Any]:
        """What is answered when it adopts the canon."""
        return {"mode": "retrofit", "server_object": self.server_object, "source_root": self.source_root}

    @property
    def wing(self) -> str:
        """The folder that the canon goes into."""
        return f"{self.source_root}/{self.package.replace('.', '/')}/canon".removeprefix("./")

    def text(self, *, adopted: bool) -> str:
        """Return the server's source, before or after the two lines that it takes."""
        if self.is_sdk:
            return SDK_SERVER
        imports = f"\nfrom {self.package}.canon_connector import door, install\n" if adopted else ""
        made = TWO_LINES if adopted else '\nmcp = FastMCP("laws", instructions=INSTRUCTIONS, version="1.0.0")\n'
        return SERVER.format(imports=imports, made=made) + self.ending

    def write(self, folder: Path) -> Path:
        """Make the repository as it was before."""
        content = {
            "README.md": "# Laws\n",
            "pyproject.toml": '[project]\nname = "laws-mcp"\nversion = "1.0.0"  # by hand\n\n[tool.ours]\nkept = true\n',
            "tests/test_laws.py": "def test_something_of_ours():\n    assert True\n",
            ".github/workflows/ci.yml": "name: ours\non: [push]\n",
            **self.more,
            self.path: self.text(adopted=False),
        }
        for name, text in content.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return folder


OLD_SERVERS: Final = {
    "below src": OldServer("laws_mcp.server:mcp", more={"src/laws_mcp/__init__.py": ""}),
    "imported by its package": OldServer(
        "laws_mcp.server:mcp", more={"src/laws_mcp/__init__.py": "from laws_mcp import server as server\n"}
    ),
    "at the top": OldServer("laws_mcp.server:mcp", ".", more={"laws_mcp/__init__.py": "", "tests/__init__.py": ""}),
    "a package called src": OldServer("src.server:mcp", ".", "src", {"src/__init__.py": ""}),
    "a package called mcp": OldServer("app.mcp.server:mcp", ".", "app.mcp", {"app/__init__.py": ""}),
    "a namespace": OldServer("laws.tools.server:mcp", ".", "laws.tools", {"laws/tools/__init__.py": ""}),
    "a script": OldServer("server:mcp", "server", "connector"),
    "a script at the top": OldServer("main:mcp", ".", "connector"),
    "what makes it": OldServer("laws_mcp.server:make", ending=FACTORY),
    "of the SDK": OldServer("laws_mcp.server:mcp", is_sdk=True),
}


def record_baseline(template: Path, project: Path) -> None:
    """Begin an adoption: the answers file of an empty baseline, committed."""
    render(template, project, {"mode": "baseline"})
    commit(project, "baseline")


def adopt(template: Path, project: Path, server: OldServer, **more: Any) -> None:
    """Adopt the canon as the guide says, up to the two lines in the server."""
    record_baseline(template, project)
    copier.run_update(
        project, data={**server.answers, **more}, defaults=True, overwrite=True, quiet=True, vcs_ref="HEAD"
    )


def add_the_two_lines(project: Path, server: OldServer) -> None:
    """Make the whole change that an adoption needs in the old source."""
    (project / server.path).write_text(server.text(adopted=True), encoding="utf-8")


def unmerged(project: Path) -> list[str]:
    """Return the paths with a conflict."""
    return sorted(set(git("diff", "--name-only", "--diff-filter=U", cwd=project).split()))
