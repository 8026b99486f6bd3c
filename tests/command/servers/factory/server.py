from fastmcp import FastMCP


def build_server(read_only: bool = True) -> FastMCP:
    mcp = FastMCP("factory", instructions=text())

    @mcp.tool
    def search() -> str:
        """Search."""
        return ""

    if not read_only:

        @mcp.tool
        def write() -> str:
            """Write."""
            return ""

    return mcp


def text() -> str:
    return f"First {'call'} search."


def main() -> None:
    build_server().run()
