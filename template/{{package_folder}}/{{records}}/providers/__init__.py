"""The backends. Each implements the definition; none knows a tool, and none falls back to another."""
