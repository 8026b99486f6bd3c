from whole.definition import ActsProvider


def make(provider: ActsProvider) -> None: ...


async def search_acts(query: str) -> str:
    """Find acts whose text holds the query. Can answer invalid_input."""
    return query


async def coverage() -> dict:
    """Say what is here."""
    return {
        "status": "ok",
        "as_of_note": "Dates say when data was captured.",
        "families": [{"name": "acts", "tool": "search_acts", "records": 1, "captured_at": "2026-11-30"}],
        "known_gaps": [{"id": "G-1", "family": "acts", "missing": "annexes", "fallback": "the official journal"}],
    }
