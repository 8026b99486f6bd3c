"""The hints of a tool: all four, said outright, so that clients can approve reads without asking."""

from mcp_types import ToolAnnotations


def read_only(title: str, *, open_world: bool) -> ToolAnnotations:
    """Return the hints of a tool that changes nothing. `open_world` says that it may reach beyond this machine."""
    return ToolAnnotations(
        title=title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=open_world
    )


def changing(title: str, *, destructive: bool, idempotent: bool, open_world: bool) -> ToolAnnotations:
    """Return the hints of a tool that changes something."""
    return ToolAnnotations(
        title=title,
        read_only_hint=False,
        destructive_hint=destructive,
        idempotent_hint=idempotent,
        open_world_hint=open_world,
    )
