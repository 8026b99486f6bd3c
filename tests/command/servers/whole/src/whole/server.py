from fastmcp import FastMCP
from mcp_types import ToolAnnotations

from whole import audit, codes, door, telemetry
from whole.instructions import INSTRUCTIONS
from whole.providers import FixtureProvider
from whole.tools import coverage, make, search_acts

mcp = FastMCP("whole", instructions=INSTRUCTIONS, version="1.0.0", middleware=[audit.Audit()])

for tool, title in ((search_acts, "Search acts"), (coverage, "Coverage")):
    mcp.tool(
        tool,
        annotations=ToolAnnotations(
            title=title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )

make(FixtureProvider())
app = mcp.http_app(host_origin_protection=True, middleware=[door.credential, telemetry.sift, codes.CODES])


def main() -> None:
    mcp.run(transport="http")
