__all__ = ["list_courts"]


def list_courts() -> str:
    """List."""
    return ""
