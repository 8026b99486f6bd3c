from fastmcp import FastMCP
from fastmcp.tools import Tool


class Connector:
    def __init__(self) -> None:
        self.mcp = FastMCP("classes")
        self.mcp.tool()(self.search)
        self.mcp.add_tool(Tool.from_function(self.read, name="read_it"))

    def search(self, query: str) -> str:
        """Search."""
        return query

    def read(self, id: str) -> str:
        """Read."""
        return id


if __name__ == "__main__":
    Connector().mcp.run()
