"""Element 9: the connector says what it holds, as of when, and what it lacks."""

import datetime
from typing import Any

import pytest

from .clients import call, text_of
from .subject import Subject, coverage, results

NAMES = {"coverage", "pokrycie_bazy"}
FAMILY = coverage.Family(name="acts", tool="search", records=1, captured_at=datetime.date(2026, 1, 1))
GAP = coverage.KnownGap(id="GAP-001", family="acts", missing="texts", fallback="the journal")


async def the_report(subject: Subject) -> dict[str, Any]:
    mcp = subject.build()
    names = {tool.name for tool in await mcp.list_tools()} & NAMES
    assert len(names) == 1, "The server has no coverage tool, or two."
    result = await call(mcp, names.pop())
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def test_the_report_names_families_with_counts_and_dates(subject: Subject) -> None:
    report = await the_report(subject)
    assert report["status"] == "ok"
    assert report["as_of_note"]
    assert report["families"], "A report without families says nothing."
    tools = {tool.name for tool in await subject.build().list_tools()}
    for family in report["families"]:
        assert family["tool"] in tools, f"{family['name']} names a tool that is not there."
        assert datetime.date.fromisoformat(family["captured_at"]) <= datetime.datetime.now(datetime.UTC).date()
        assert family["records"] > 0, f"{family['name']} counts no record: either it is empty or nobody counted."


async def test_the_report_names_gaps_and_where_to_look_instead(subject: Subject) -> None:
    report = await the_report(subject)
    assert report["known_gaps"], "An empty list of gaps means that nobody looked."
    families = {family["name"] for family in report["families"]}
    for gap in report["known_gaps"]:
        assert gap["missing"]
        assert gap["fallback"]
        assert gap["family"] in families, f"{gap['id']} belongs to no family of the report."


async def test_a_person_reads_every_gap(subject: Subject) -> None:
    mcp = subject.build()
    name = next(tool.name for tool in await mcp.list_tools() if tool.name in NAMES)
    result = await call(mcp, name)
    assert result.structured_content is not None
    for gap in result.structured_content["known_gaps"]:
        assert gap["id"] in text_of(result)


@pytest.mark.parametrize(
    ("families", "gaps"), [((), (GAP,)), ((FAMILY,), ()), ((FAMILY,), (GAP, GAP))], ids=["family", "gap", "same id"]
)
def test_a_report_that_hides_something_cannot_be_built(subject: Subject, families: Any, gaps: Any) -> None:
    with pytest.raises(ValueError, match=r"coverage report|share an id"):
        coverage.coverage_report(families, gaps, source="fixture", sentences=subject.sentences)


def test_a_family_without_a_date_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="captured_at"):
        coverage.Family.model_validate({"name": "acts", "tool": "search", "records": 1})


def test_a_failed_report_is_still_an_envelope() -> None:
    schema = results.output_schema(coverage.CoverageReport)
    assert set(schema["properties"]) >= {"status", "code", "message", "as_of_note", "families", "known_gaps"}
