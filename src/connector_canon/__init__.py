"""The canon of MCP connectors, and the command that checks a connector against it."""

from importlib.metadata import version

__version__ = version("connector-canon")
