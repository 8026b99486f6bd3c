import os

import httpx
from fastmcp import FastMCP

mcp = FastMCP("upstream key")


@mcp.tool
async def search(query: str) -> str:
    """Search."""
    headers = {}
    headers["x-api-key"] = os.environ["UPSTREAM"]
    async with httpx.AsyncClient(headers={"X-API-Key": "k", "Authorization": "Bearer k"}) as client:
        return (await client.get("https://example.org", headers=headers)).text


if __name__ == "__main__":
    mcp.run(transport="http")
