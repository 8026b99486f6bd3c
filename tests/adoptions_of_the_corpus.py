"""Twelve public servers, and what a person decides for each of them when it adopts the canon."""

from typing import Final

from tests.corpus import Adoption, Edit

IMPORT: Final = "from {package}.canon_connector import door, install\n"

ADOPTIONS: Final = (
    Adoption(
        clone="matematicsolutions+at-eli-mcp",
        server_object="at_eli_mcp.server:mcp",
        installs=("httpx>=0.27", "diskcache>=5.6", "pytest-asyncio>=0.23"),
        port=(Edit("pyproject.toml", '"fastmcp>=0.2.0"', '"fastmcp>=4.2,<5"'),),
        two_lines=(
            Edit(
                "src/at_eli_mcp/server.py",
                'mcp: FastMCP = FastMCP(name="at-eli-mcp", instructions=INSTRUCTIONS)\n',
                'mcp: FastMCP = FastMCP(name="at-eli-mcp", instructions=INSTRUCTIONS, auth=door())\ninstall(mcp)\n',
            ),
            Edit(
                "src/at_eli_mcp/server.py",
                "from .client import DEFAULT_BASE_URL",
                "from .canon_connector import door, install\nfrom .client import DEFAULT_BASE_URL",
            ),
        ),
        own_tests=("-q",),
    ),
)
