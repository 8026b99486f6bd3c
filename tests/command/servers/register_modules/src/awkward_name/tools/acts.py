def register(mcp):
    @mcp.tool(title="Search acts")
    def search_acts(query: str) -> str:
        """Search."""
        return query
