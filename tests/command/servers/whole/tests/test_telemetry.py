from whole.telemetry import ALLOWED


def test_list_is_pinned():
    assert ALLOWED == {"mcp.org_id", "mcp.user_id", "mcp.tool", "mcp.status", "service.name"}
