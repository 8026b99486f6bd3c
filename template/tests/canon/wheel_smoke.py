"""Speaks to an installed connector over stdio, as a client would, from outside its source tree.

Run as `python wheel_smoke.py --command PATH`. Exits 1 with a sentence when something is missing.
"""

import argparse
import asyncio
import sys
import tempfile

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

COVERAGE = ("coverage", "pokrycie_bazy")


async def check(command: str) -> str | None:
    """Return what is wrong with a connector, or nothing."""
    with tempfile.TemporaryDirectory() as elsewhere:
        async with Client(StdioTransport(command, [], cwd=elsewhere)) as client:
            if not client.instructions:
                return "The server sends no instructions."
            names = [tool.name for tool in await client.list_tools()]
            name = next((name for name in names if name in COVERAGE), None)
            if name is None:
                return f"The server has no coverage tool, only {', '.join(names)}."
            result = await client.call_tool(name, raise_on_error=False)
            status = (result.structured_content or {}).get("status")
            return None if status == "ok" else f"{name} answered {status}."


def main() -> int:
    """Check one command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--command", required=True, help="the connector's command, as an absolute path")
    wrong = asyncio.run(check(parser.parse_args().command))
    print(wrong or "The connector answers.", file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
