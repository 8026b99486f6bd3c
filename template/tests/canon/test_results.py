"""Element 6: three states that cannot lie."""

from datetime import date
from typing import Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from .subject import errors, results

NINE_OF_FOURTEEN = results.Coverage(unit="pages", total=14, usable=9)
ALL_OF_NINE = results.Coverage(unit="pages", total=9, usable=9)
PARTIAL = errors.Code.PARTIAL_RESULT
LIE = r"validation error"
MISSING = errors.Code.NOT_FOUND


@pytest.mark.parametrize(
    "values",
    [
        {"status": "ok", "coverage": NINE_OF_FOURTEEN, "data": [1]},
        {"status": "ok", "code": MISSING, "data": [1]},
        {"status": "degraded", "code": PARTIAL, "data": [1]},
        {"status": "degraded", "code": PARTIAL, "coverage": ALL_OF_NINE, "data": [1]},
        {"status": "degraded", "code": MISSING, "coverage": NINE_OF_FOURTEEN, "data": [1]},
        {"status": "degraded", "coverage": NINE_OF_FOURTEEN, "data": [1]},
        {"status": "failed"},
        {"status": "failed", "code": PARTIAL},
        {"status": "failed", "code": MISSING, "data": [1]},
        {"status": "partial", "code": PARTIAL},
        {"status": "failed", "code": "notfound"},
        {"status": "ok", "data": [1], "extra": 1},
    ],
)
def test_a_lie_cannot_be_built(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=LIE):
        results.AnyEnvelope(message="m", **values)
    with pytest.raises(ValueError, match=LIE):
        results.AnyEnvelope.model_construct(message="m", **values)


def test_a_copy_cannot_lie_either() -> None:
    truth = results.AnyEnvelope(status=results.Status.OK, message="m", coverage=ALL_OF_NINE, data=[1])
    with pytest.raises(ValueError, match="ok refuses a part"):
        truth.model_copy(update={"coverage": NINE_OF_FOURTEEN})
    with pytest.raises(ValueError, match="frozen"):
        truth.coverage = NINE_OF_FOURTEEN


def test_more_usable_than_there_is_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="more than total"):
        results.Coverage(unit="pages", total=9, usable=14)


def test_the_denominator_travels_with_the_data() -> None:
    answer = results.degraded([1], "9 of 14 pages.", source="live", coverage=NINE_OF_FOURTEEN)
    assert answer.structured_content is not None
    assert answer.structured_content["status"] == "degraded"
    assert answer.structured_content["code"] == "partial_result"
    assert answer.structured_content["coverage"] == {"unit": "pages", "total": 14, "usable": 9}
    assert answer.structured_content["data"] == [1]
    assert not answer.is_error


def test_the_whole_envelope_is_there_in_every_state() -> None:
    keys = ["status", "code", "message", "detail", "coverage", "data", "source"]
    for answer in (
        results.ok([1], "m", source="live"),
        results.degraded([1], "m", source="live", coverage=NINE_OF_FOURTEEN),
    ):
        assert answer.structured_content is not None
        assert list(answer.structured_content) == keys


class Page(BaseModel):
    number: int


class Book(BaseModel):
    """Every kind of field that there can be nothing in."""

    pages: int | None = Field(None, ge=0)
    printed: date | None = None
    kind: Literal["novel", "atlas"] | None = None
    only: Literal["book"] | None = None
    first: Page | None = None
    others: list[Page] | None = None
    mixed: int | str | None = None


class Volume(Book):
    """One that holds itself."""

    sequel: "Volume | None" = None


class Foreign(BaseModel):
    """One whose source has names of its own."""

    day: str = Field(alias="Data")


def test_a_field_is_called_the_same_in_an_answer_and_in_its_schema() -> None:
    schema = results.output_schema(results.Envelope[Foreign])
    whole = results.ok(Foreign.model_validate({"Data": "2024-05-01"}), "m", source="live").structured_content
    assert whole is not None
    assert whole["data"] == {"day": "2024-05-01"}
    assert jsonschema.Draft202012Validator(schema).is_valid(whole)


def test_what_json_cannot_say_cannot_be_built() -> None:
    class Measured(results.Sealed):
        value: float

    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            Measured(value=value)


@pytest.mark.parametrize("kind", [Book, Volume])
@pytest.mark.parametrize(
    ("values", "fits"),
    [
        ({}, True),
        ({"pages": 3, "printed": "2024-05-01", "kind": "atlas", "only": "book", "mixed": "x"}, True),
        ({"first": {"number": 1}, "others": [{"number": 2}], "mixed": 7}, True),
        ({"pages": -1}, False),
        ({"pages": "3"}, False),
        ({"kind": "poem"}, False),
        ({"only": "shelf"}, False),
        ({"first": {}}, False),
        ({"others": [None]}, False),
    ],
)
def test_the_published_schema_takes_what_a_field_can_hold_or_nothing(
    kind: type[Book], values: dict[str, Any], fits: bool
) -> None:
    schema = results.output_schema(results.Envelope[kind])  # type: ignore[valid-type]
    jsonschema.Draft202012Validator.check_schema(schema)
    data = dict.fromkeys(kind.model_fields) | values
    whole = results.ok(data, "m", source="live").structured_content
    assert jsonschema.Draft202012Validator(schema).is_valid(whole) is fits
