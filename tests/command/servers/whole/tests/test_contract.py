import pytest

from whole.providers import FixtureProvider, LiveProvider


@pytest.mark.parametrize("provider", [LiveProvider, FixtureProvider])
async def test_search_answers(provider):
    assert await provider().search("x")
