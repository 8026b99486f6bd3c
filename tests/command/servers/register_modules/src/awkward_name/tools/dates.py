def register(mcp):
    @mcp.tool()
    def parse_date(text: str) -> str:
        """Parse."""
        return text
