def search_all() -> str:
    """Search."""
    return ""


def read_one() -> str:
    """Read."""
    return ""


def delete_one() -> str:
    """Delete."""
    return ""


def more_one() -> str:
    """More."""
    return ""


def more_two() -> str:
    """More."""
    return ""


MORE = (more_one,) + (more_two,)
