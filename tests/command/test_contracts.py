"""Which test modules are one suite over every provider, and which only speak of two of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from connector_canon.findings import Verdict
from connector_canon.review import review

SUITES = {
    "classes": """
        @pytest.mark.parametrize("provider", [LiveProvider, FixtureProvider])
        async def test_it(provider): ...
        """,
    "made, with ids": """
        @pytest.mark.parametrize("provider", (pytest.param(LiveProvider(), id="live"), pytest.param(FixtureProvider())))
        async def test_it(provider): ...
        """,
    "a collection with a name": """
        PROVIDERS = [LiveProvider, FixtureProvider]
        @pytest.fixture(params=PROVIDERS)
        def provider(request): ...
        """,
    "a table of functions": """
        def live(folder): return LiveProvider(folder)
        def fixture(folder): return FixtureProvider()
        PROVIDERS = {"live": live, "sample": fixture}
        @pytest.fixture(params=sorted(PROVIDERS))
        def provider(request): return PROVIDERS[request.param](1)
        """,
    "the values of a table": """
        PROVIDERS = {"live": LiveProvider, "sample": FixtureProvider}
        @pytest.fixture(params=list(PROVIDERS.values()))
        def provider(request): ...
        """,
    "a fixture that chooses": """
        @pytest.fixture(params=["live", "sample"])
        def provider(request):
            return LiveProvider() if request.param == "live" else FixtureProvider()
        """,
    "names of fixtures": """
        @pytest.fixture
        def live(): return LiveProvider()
        @pytest.fixture
        def sample(): return FixtureProvider()
        @pytest.mark.parametrize("name", ["live", "sample"])
        def test_it(name, request): request.getfixturevalue(name)
        """,
    "by way of the fixture": """
        @pytest.fixture
        def provider(request):
            return {"live": LiveProvider, "sample": FixtureProvider}[request.param]()
        @pytest.mark.parametrize("provider", ["live", "sample"], indirect=True)
        def test_it(provider): ...
        """,
    "for the whole module": """
        pytestmark = pytest.mark.parametrize("provider", [LiveProvider, FixtureProvider])
        def test_it(provider): ...
        """,
    "inherited tests": """
        class Contract:
            def test_it(self, provider): ...
        class TestLive(Contract):
            provider = LiveProvider()
        class TestSample(Contract):
            provider = FixtureProvider()
        """,
}
NO_SUITES = {
    "parameters of another kind": """
        @pytest.mark.parametrize("text", ["", "x"])
        async def test_it(text):
            assert LiveProvider().search(text) == FixtureProvider().search(text)
        """,
    "a word in a comment": """
        # The contract of every provider: parametrize, params=
        def test_it():
            assert LiveProvider() != FixtureProvider()
        """,
    "the definition alone": """
        from whole.definition import ActsProvider
        @pytest.mark.parametrize("text", ["", "x"])
        def test_it(text): assert ActsProvider
        """,
    "one provider twice": """
        @pytest.mark.parametrize("provider", [LiveProvider(), LiveProvider()])
        def test_it(provider): assert FixtureProvider
        """,
    "a helper that makes both": """
        def filled(text): return LiveProvider().copy(FixtureProvider(), text)
        @pytest.mark.parametrize("text", [filled("x"), "y"])
        def test_it(text): ...
        """,
}
HEAD = "import pytest\n\nfrom whole.providers import FixtureProvider, LiveProvider\n\n"


def verdict(path: Path, text: str) -> tuple[Verdict, str]:
    lines = text.strip("\n").splitlines()
    (path / "tests" / "test_contract.py").write_text(HEAD + "\n".join(line[8:] for line in lines), encoding="utf-8")
    (found,) = (f for f in review(path).findings if f.code == "CN803")
    return found.answer.verdict, str(found.answer.places[0].path)


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_over_every_provider_is_found(name: str, server: Callable[[str], Path]) -> None:
    assert verdict(server("whole"), SUITES[name]) == (Verdict.PRESENT, "tests/test_contract.py")


@pytest.mark.parametrize("name", NO_SUITES)
def test_what_only_speaks_of_two_is_no_suite(name: str, server: Callable[[str], Path]) -> None:
    assert verdict(server("whole"), NO_SUITES[name])[0] is Verdict.ABSENT
