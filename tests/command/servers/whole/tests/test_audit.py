from fastmcp import Client

from whole.server import mcp


async def test_each_call_leaves_a_line(tmp_path, monkeypatch):
    audit = tmp_path / "audit.jsonl"
    monkeypatch.setenv("AUDIT", str(audit))
    async with Client(mcp) as client:
        tools = await client.list_tools()
        for tool in tools:
            await client.call_tool(tool.name, {"query": "x"} if tool.name == "search_acts" else {})
    assert len(audit.read_text().splitlines()) == len(tools)
