"""An MCP connector: one source of records for an assistant."""
