__all__ = ["search_acts", "read_act"]


def search_acts() -> str:
    """Search."""
    return ""


def read_act() -> str:
    """Read."""
    return ""


def not_exported() -> str:
    """No tool."""
    return ""
