"""Each rule turns absent by the breakage that belongs to it, and by no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from connector_canon.catalogue import EVERY_RULE
from connector_canon.elements import State, element_states
from connector_canon.findings import Verdict
from connector_canon.review import review
from connector_canon.rules import RULES
from connector_canon.rules.rule import AnyRule

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class Breakage:
    """An edit of the whole connector and the rules that must notice it."""

    rules: frozenset[str]
    file: str
    old: str
    new: str


def breakage(rules: str, file: str, old: str, new: str = "") -> Breakage:
    return Breakage(frozenset(rules.split()), file, old, new)


TOOLS = "src/whole/tools.py"
SERVER = "src/whole/server.py"
DOOR = "src/whole/door.py"
CODES = "src/whole/codes.py"
TEXT = "src/whole/instructions.py"
DRIFT = "tests/test_drift.py"
CODE_SET = 'CODES = frozenset({"not_found", "invalid_input", "upstream_unavailable", "rate_limited", "forbidden", "partial_result"})'
CODE_ENUM = """
from enum import StrEnum


class Code(StrEnum):
    NOT_FOUND = "not_found"
    INVALID_INPUT = "invalid_input"
    UPSTREAM_UNAVAILABLE = "upstream_unavailable"
    RATE_LIMITED = "rate_limited"
    FORBIDDEN = "forbidden"
    PARTIAL_RESULT = "partial_result"

    @classmethod
    def _missing_(cls, value):
        return cls.NOT_FOUND


CODES = frozenset(Code)
"""
APPENDING = 'append(os.environ["AUDIT"], {"tool": context.message.name, "arguments_sha256": digest})'
BREAKAGES = (
    breakage("CN101", SERVER, "instructions=INSTRUCTIONS, "),
    breakage("CN102", TEXT, "Call order\n1. `coverage` tells what is here.\n2. `search_acts(query=…)` finds acts.", "`coverage`, `search_acts`"),
    breakage("CN103", TEXT, "finds acts.", "finds acts." + " and more" * 300),
    breakage("CN104", TEXT, "`coverage` tells", "`search_rulings(query=…)` and `coverage` tell"),
    breakage("CN105", TEXT, "`search_acts(query=…)` finds acts.", "`search_acts_now` finds `coverage`."),
    breakage("CN106", TEXT, "Every answer is ok, degraded or failed."),
    breakage("CN107", TEXT, "Call order", "not_found invalid_input rate_limited forbidden\nCall order"),
    breakage("CN107", TEXT, "Call order", "After rate_limited wait.\nCall order"),
    breakage("CN104", TEXT, "Call order", "Call `summarise` last.\nCall order"),
    breakage("CN201", DRIFT, "assert not mentioned - registered", "pass"),
    breakage("CN202", DRIFT, "assert tool.name in INSTRUCTIONS", "assert tool"),
    breakage("CN203", DRIFT, "assert code in description", "assert code"),
    breakage("CN204", DRIFT, "mcp.list_tools()", "mcp._tool_manager.list_tools()"),
    breakage("CN205", DRIFT, "    assert mentioned\n"),
    breakage("CN301 CN303", DOOR, 'headers.get("x-api-key")', "None"),
    breakage("CN302 CN303", DOOR, 'headers.get("authorization", "").removeprefix("Bearer ")', '""'),
    breakage("CN304", DOOR, '"headers": {"WWW-Authenticate": "Bearer"}', '"headers": {}'),
    breakage("CN304", DOOR, '"headers": {"WWW-Authenticate": "Bearer"}', '"headers": {"WWW-Authenticate": "Bearer resource_metadata=/x"}'),
    breakage("CN304", DOOR, '    return {"status": status, "headers": {"WWW-Authenticate": "Bearer"}}', '    headers = {}\n    if status == 403:\n        headers["WWW-Authenticate"] = "Bearer"\n    return {"status": status, "headers": headers}'),
    breakage("CN304", DOOR, '    return {"status"', '    print({"jsonrpc": "2.0", "id": 0, "error": {}})\n    return {"status"'),
    breakage("CN305", DOOR, "refuse(400)", "refuse(401)"),
    breakage("CN305", DOOR, "if key and bearer and key != bearer:", "if len([key, bearer]) > 2:"),
    breakage("CN306", DOOR, "    found = key or bearer\n", "    found = key or bearer or request.query_params.get('api_key')\n"),
    breakage("CN307", DOOR, "hashlib.sha256(found.encode()).hexdigest()", "found"),
    breakage("CN306", DOOR, "    found = key or bearer\n", "    found = key or bearer or [v for k, v in parse_qsl(request) if k in ('token', 'key')]\n"),
    breakage("CN307", DOOR, "    return hashlib.sha256(found.encode()).hexdigest()", "    return {'sha256': hashlib.sha256(found_key.encode()).hexdigest(), 'key': found_key}"),
    breakage("CN310", "src/whole/providers.py", "client.get(query)", "client.get(query, headers=get_http_headers(include={'authorization'}))"),
    breakage("CN311", SERVER, "host_origin_protection=True, "),
    breakage("CN312", DOOR, "token=digest", 'token="admitted"'),
    breakage("CN401", "src/whole/telemetry.py", 'span.set_attribute("mcp.user_id", user)', "pass"),
    breakage("CN402", "src/whole/telemetry.py", 'span.set_attribute("mcp.user_id", user)', 'span.set_attribute("mcp.user_id", user)\n    span.set_attribute("whole.org_id", org)'),
    breakage("CN501 CN502", SERVER, "read_only_hint=True, destructive_hint=False, ", ""),
    breakage("CN502", SERVER, ", open_world_hint=False", ""),
    breakage("CN503", SERVER, "open_world_hint=False", "open_world_hint=False, readonly_hint=True"),
    breakage("CN501", SERVER, "destructive_hint=False", "destructive_hint=True"),
    breakage("CN504", TOOLS, "Find acts whose text holds the query.", "Find acts."),
    breakage("CN601 CN602", CODES, "CODES = frozenset(", "CODES = make("),
    breakage("CN602", CODES, '"partial_result"}', '"partial_result", "teapot"}'),
    breakage("CN603", DRIFT, "assert CODES == {", "assert {"),
    breakage("CN604", CODES, '"degraded", ', ""),
    breakage("CN605", CODES, "    usable: int\n"),
    breakage("CN601", CODES, CODE_SET, CODE_ENUM),
    breakage("CN606", TOOLS, " Can answer invalid_input.", ""),
    breakage("CN606", TOOLS, "    return query", '    raise ToolError("rate_limited")'),
    breakage("CN607", TOOLS, "    return query", '    try:\n        return query\n    except OSError as error:\n        raise ToolError(f"it failed: {error}")'),
    breakage("CN608", TOOLS, "    return query", "    try:\n        return query\n    except Exception:\n        return []"),
    breakage("CN609", TOOLS, "async def search_acts(query: str) -> str:", "async def search_acts(query: str):"),
    breakage("CN701", "src/whole/telemetry.py", "if key in ALLOWED"),
    breakage("CN701", "src/whole/telemetry.py", "if key in ALLOWED", "if key not in ALLOWED"),
    breakage("CN701", "src/whole/telemetry.py", "provider = TracerProvider()", "class Sifting(SpanExporter):\n    pass\n\n\nprovider = TracerProvider()"),
    breakage("CN701", "src/whole/telemetry.py", "provider = TracerProvider()", "provider = TracerProvider()\nReadableSpan(name='call', links=span.links)"),
    breakage("CN703", "src/whole/telemetry.py", "provider = TracerProvider()", "provider = TracerProvider()\nReadableSpan(name='call', events=span.events)"),
    breakage("CN704", "src/whole/telemetry.py", '"service.name"}', '"service.name", "mcp.query"}'),
    breakage("CN702", "src/whole/telemetry.py", "provider = TracerProvider()", "provider = TracerProvider()\ntrace.set_tracer_provider(provider)"),
    breakage("CN703", "src/whole/telemetry.py", 'fastmcp.settings.telemetry_mode = "off"'),
    breakage("CN703", "src/whole/telemetry.py", 'span.set_attribute("mcp.user_id", user)', 'span.set_attribute("mcp.user_id", user)\n    span.record_exception(ValueError())'),
    breakage("CN704", "tests/test_telemetry.py", '"mcp.org_id", "mcp.user_id", '),
    breakage("CN801 CN802 CN803", "src/whole/definition.py", "(Protocol)", ""),
    breakage("CN801", "src/whole/definition.py", "from typing import Protocol", "import httpx\nfrom typing import Protocol"),
    breakage("CN801", "src/whole/definition.py", "from typing import Protocol", "from typing import Protocol\n\nfrom whole import providers"),
    breakage("CN805", "src/whole/providers.py", "        return id\n\n\nclass Fixture", "        try:\n            return id\n        except OSError:\n            return await FixtureProvider().read(id)\n\n\nclass Fixture"),
    breakage("CN802 CN803", "src/whole/providers.py", "class FixtureProvider:\n    async def search", "class FixtureProvider:\n    async def find"),
    breakage("CN803", "tests/test_contract.py", '@pytest.mark.parametrize("provider", [LiveProvider, FixtureProvider])'),
    breakage("CN804", TOOLS, "from whole.definition import ActsProvider", "from whole.definition import ActsProvider\nfrom whole.providers import LiveProvider"),
    breakage("CN504 CN901", TOOLS, "async def coverage() -> dict", "async def coverage(family: str) -> dict"),
    breakage("CN902", TOOLS, ', "captured_at": "2026-11-30"'),
    breakage("CN902", TOOLS, '[{"id": "G-1", "family": "acts", "missing": "annexes", "fallback": "the official journal"}]', "[]"),
    breakage("CN902", TOOLS, "async def coverage()", "class Family:\n    captured_at: str | None = None\n\n\nasync def coverage()"),
    breakage("CN903", "tests/test_coverage.py", ' and answer["known_gaps"]'),
    breakage("CN1001", "src/whole/audit.py", "async def on_call_tool", "async def never_called"),
    breakage("CN1001", "src/whole/audit.py", APPENDING, f"if context.message.name != 'coverage':\n            {APPENDING}"),
    breakage("CN1001", "src/whole/audit.py", f"{APPENDING}\n        return await call_next(context)", f"answer = await call_next(context)\n        {APPENDING}\n        return answer"),
    breakage("CN1004", "src/whole/audit.py", "0o600", "0o644"),
    breakage("CN1002", "src/whole/audit.py", "hashlib.sha256(repr(context.message.arguments).encode()).hexdigest()", "digest_of(context.message.arguments)\n\n\ndef digest_of(arguments):\n    return repr(arguments)"),
    breakage("CN1002", "src/whole/audit.py", "hashlib.sha256(repr(context.message.arguments).encode()).hexdigest()", "context.message.arguments"),
    breakage("CN1003", "tests/test_audit.py", "assert len(audit.read_text().splitlines()) == len(tools)", "assert audit"),
    breakage("CN1101", ".github/workflows/ci.yml", "  pull_request:\n"),
    breakage("CN1101", ".github/workflows/ci.yml", '-k "not smoke"', '-k "not smoke" || true'),
    breakage("CN1102", ".github/workflows/ci.yml", ' -k "not smoke"'),
    breakage("CN1103", ".github/workflows/ci.yml", "checkout@0123456789abcdef0123456789abcdef01234567", "checkout@v4"),
    breakage("CN1101", ".github/workflows/ci.yml", '-k "not smoke"', '-k "not smoke"\n        if: github.actor != \'somebody\''),
    breakage("CN1102", ".github/workflows/ci.yml", ' -k "not smoke"', " -k smoke"),
    breakage("CN1104", ".github/workflows/ci.yml", '-k "not smoke"', '-k "not smoke"\n      - run: mypy || true'),
    breakage("CN1105", ".github/workflows/ci.yml", "permissions:\n  contents: read\n"),
    breakage("CN1201", ".github/workflows/release.yml", "    needs: gates\n", "    needs: gates\n    if: always()\n"),
    breakage("CN1201", ".github/workflows/release.yml", "pytest tests/", "pytest tests/unit"),
    breakage("CN1201", ".github/workflows/release.yml", "    needs: gates\n"),
    breakage("CN1202", "pyproject.toml", "fastmcp>=4.2,<5", "fastmcp>=4.2"),
    breakage("CN1301", "README.md", "`search_acts`", "`search_acts_quickly`"),
    breakage("CN1301", "README.md", "2 tools.", "3 tools."),
    breakage("CN1306", "README.md", "<!-- mcp-name: io.github.example-org/whole -->"),
    breakage("CN1402", SERVER, 'FastMCP("whole"', 'FastMCP("a name of a server that is so long that no tool fits it"'),
    breakage("CN1403", TOOLS, "Find acts whose", "Find acts. " + "More. " * 400 + "Those whose"),
    breakage("CN1404", "src/whole/__init__.py", "", 'print("Whole")\n'),
    breakage("CN1407", SERVER, 'version="1.0.0", '),
    breakage("CN1302", "docs/mcp-server.md", "`coverage()`", "It"),
    breakage("CN1303", DRIFT, 'readme = Path("README.md").read_text()', 'readme = ""'),
    breakage("CN1305", ".claude/rules/tools.md", "paths:", "files:"),
)  # fmt: skip


def absent(path: Path) -> set[str]:
    return {f.code for f in review(path).findings if f.answer.verdict is Verdict.ABSENT}


def test_a_whole_connector_has_no_gap(server: Callable[[str], Path]) -> None:
    report = review(server("whole"))
    unsettled = {f.code: f.answer.sentence for f in report.findings if f.answer.verdict is not Verdict.PRESENT}
    assert unsettled == {}
    assert report.exit_code == 0
    assert set(element_states(report, RULES).values()) == {State.PRESENT}


@pytest.mark.parametrize("broken", BREAKAGES, ids=lambda b: "-".join(sorted(b.rules)))
def test_a_breakage_turns_its_rule_absent(broken: Breakage, server: Callable[[str], Path]) -> None:
    path = server("whole")
    file = path / broken.file
    text = file.read_text(encoding="utf-8")
    assert broken.old in text
    file.write_text(text.replace(broken.old, broken.new), encoding="utf-8")
    if "CN703" in broken.rules and broken.old.startswith("fastmcp"):
        assert "telemetry_mode" not in file.read_text(encoding="utf-8")
    found = absent(path)
    assert broken.rules <= found
    allowed = broken.rules | {code for code in found if code[:-2] in {rule[:-2] for rule in broken.rules}}
    assert found <= allowed | CONSEQUENCES.get(sorted(broken.rules)[0], set())


CONSEQUENCES: dict[str, set[str]] = {"CN101": set(), "CN401": {"CN701"}, "CN601": {"CN603"}}


def test_every_rule_is_broken_by_something() -> None:
    removed_by_other_tests = {"CN1304"}
    assert {code for b in BREAKAGES for code in b.rules} | removed_by_other_tests == {rule.code for rule in RULES}


def test_a_missing_agents_file_is_a_gap(server: Callable[[str], Path]) -> None:
    path = server("whole")
    (path / "AGENTS.md").unlink()
    assert absent(path) == {"CN1304"}


def test_codes_are_unique_and_belong_to_their_family() -> None:
    codes = [rule.code for rule in EVERY_RULE]
    assert len(codes) == len(set(codes))
    heads: dict[str, set[str]] = {}
    for rule in EVERY_RULE:
        heads.setdefault(rule.family.name, set()).add(rule.code[2:-2])
    assert all(len(numbers) == 1 for numbers in heads.values())
    assert all(name == next(iter(numbers)) for name, numbers in heads.items() if name.isdigit())


def test_codes_that_were_published_are_still_there() -> None:
    published = (DOCS / "rules" / "codes.txt").read_text(encoding="utf-8").splitlines()
    assert published == [f"{rule.code} {rule.title}" for rule in EVERY_RULE]


@pytest.mark.parametrize("rule", EVERY_RULE, ids=lambda rule: rule.code)
def test_each_rule_is_explained_on_its_page(rule: AnyRule) -> None:
    page, _, anchor = rule.page.partition("#")
    text = (DOCS / page).read_text(encoding="utf-8")
    section = text.split(f"## {anchor.upper()}")[1].split("\n## ")[0]
    assert rule.title in section
    assert "**Why.**" in section
    assert "**Mend.**" in section
