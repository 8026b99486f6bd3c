"""Element 6: the six codes. Agents branch on these strings, so a change must hurt here and not at a consumer's."""

import pytest

from .subject import errors, text


def test_the_codes_are_these_six() -> None:
    assert [str(code) for code in errors.Code] == [
        "not_found",
        "invalid_input",
        "upstream_unavailable",
        "rate_limited",
        "forbidden",
        "partial_result",
    ]


@pytest.mark.parametrize("code", ["notfound", "NOT_FOUND", "internal_error", ""])
def test_an_unknown_code_cannot_be_made(code: str) -> None:
    with pytest.raises(ValueError, match="is not a code: use one of not_found"):
        errors.ConnectorError(code, "message")


def test_a_part_of_the_data_is_never_raised() -> None:
    with pytest.raises(ValueError, match="never raised"):
        errors.ConnectorError(errors.Code.PARTIAL_RESULT, "message")


@pytest.mark.parametrize(
    ("code", "reason", "raised"),
    [
        ("invalid_input", None, True),
        ("forbidden", None, True),
        ("rate_limited", None, True),
        ("upstream_unavailable", "starting", True),
        ("upstream_unavailable", "audit", True),
        ("upstream_unavailable", "internal", True),
        ("upstream_unavailable", "timeout", False),
        ("upstream_unavailable", None, False),
        ("not_found", None, False),
        ("partial_result", None, False),
    ],
)
def test_what_leaves_as_an_error(code: str, reason: str | None, raised: bool) -> None:
    assert errors.is_raised(errors.Code(code), errors.Reason(reason) if reason else None) is raised


def test_a_message_is_one_short_line() -> None:
    message = errors.ConnectorError(errors.Code.NOT_FOUND, "a\nb\x1b[31m" + "x" * 1000).message
    assert message.isprintable()
    assert len(message) <= text.MESSAGE_LIMIT
