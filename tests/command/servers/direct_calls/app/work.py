def first() -> str:
    """First."""
    return ""


def second() -> str:
    """Second."""
    return ""


def third() -> str:
    """Third."""
    return ""
