"""The four forms of a report, validated against what they promise."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from connector_canon.commands import main
from connector_canon.outputs.json_report import schema
from connector_canon.rules import RULES

# SARIF's own schema comes with an npm package and is asked below, where it is installed. These are its requirements for
# the parts that canon writes, and stricter: they allow nothing else.
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation", "region"],
            "additionalProperties": False,
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "required": ["uri"],
                    "additionalProperties": False,
                    "properties": {
                        "uri": {"type": "string", "pattern": "^[^ \\\\]+$"},
                        "uriBaseId": {"type": "string"},
                    },
                },
                "region": {"type": "object", "properties": {"startLine": {"type": "integer", "minimum": 1}}},
            },
        },
    },
}
SARIF: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "invocations": {
                        "type": "array",
                        "items": {"type": "object", "required": ["executionSuccessful"]},
                    },
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "rules"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "additionalProperties": False,
                                            "properties": {
                                                "id": {"type": "string"},
                                                "name": {"type": "string", "pattern": "^\\w+$"},
                                                "shortDescription": TEXT,
                                                "fullDescription": TEXT,
                                                "help": TEXT,
                                                "defaultConfiguration": {
                                                    "properties": {
                                                        "level": {"enum": ["none", "note", "warning", "error"]}
                                                    }
                                                },
                                                "properties": {"properties": {"tags": {"uniqueItems": True}}},
                                            },
                                        },
                                    }
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message"],
                            "additionalProperties": False,
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": TEXT,
                                "locations": {"type": "array", "items": LOCATION},
                                "relatedLocations": {"type": "array", "uniqueItems": True, "items": LOCATION},
                                "suppressions": {
                                    "type": "array",
                                    "items": {
                                        "required": ["kind"],
                                        "properties": {"kind": {"enum": ["inSource", "external"]}},
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
SHOWN = ["loops", "mounts", "from_openapi", "upstream_key", "whole"]


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout


@pytest.mark.parametrize("name", SHOWN)
def test_json_follows_its_schema(name: str, server: Callable[[str], Path]) -> None:
    code, out = run("review", str(server(name)), "--format", "json")
    table = json.loads(out)
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(table, schema())
    assert table["exit_code"] == code
    assert [f["rule"] for f in table["findings"]] == [rule.code for rule in RULES]


@pytest.mark.parametrize("name", SHOWN)
def test_sarif_declares_every_rule_and_points_into_files(name: str, server: Callable[[str], Path]) -> None:
    _, out = run("review", str(server(name)), "--format", "sarif")
    table = json.loads(out)
    jsonschema.validate(table, SARIF)
    declared = table["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in declared] == [rule.code for rule in RULES]
    for result in table["runs"][0]["results"]:
        assert declared[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["kind"] == "fail" or result["level"] == "none"


@pytest.fixture(scope="module")
def official() -> jsonschema.Draft4Validator:
    folder = os.environ.get("CONNECTOR_NODE_MODULES", "")
    found = sorted(Path(folder, "@microsoft", "jest-sarif").glob("lib/schemas/sarif-2.1.0*.json")) if folder else []
    if not found:
        pytest.skip("CONNECTOR_NODE_MODULES holds no @microsoft/jest-sarif: SARIF's own schema was not asked.")
    schema = json.loads(found[-1].read_text(encoding="utf-8"))
    jsonschema.Draft4Validator.check_schema(schema)
    return jsonschema.Draft4Validator(schema)


@pytest.mark.parametrize("name", SHOWN)
def test_sarif_follows_the_official_schema(
    name: str, server: Callable[[str], Path], official: jsonschema.Draft4Validator
) -> None:
    table = json.loads(run("review", str(server(name)), "--format", "sarif")[1])
    assert [error.message for error in official.iter_errors(table)] == []


def test_sarif_with_an_accepted_gap_follows_the_official_schema(
    server: Callable[[str], Path], tmp_path: Path, official: jsonschema.Draft4Validator
) -> None:
    baseline = tmp_path / "accepted.toml"
    baseline.write_text('accepted = [{ rule = "CN901", reason = "gaps are being surveyed" }]\n', encoding="utf-8")
    _, out = run("review", str(server("loops")), "--format", "sarif", "--baseline", str(baseline))
    assert "suppressions" in out
    assert [error.message for error in official.iter_errors(json.loads(out))] == []


def test_the_official_schema_notices_a_wrong_file(official: jsonschema.Draft4Validator) -> None:
    wrong = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "canon"}}, "results": [{"kind": "gap"}]}]}
    assert list(official.iter_errors(wrong))


def test_the_sarif_test_notices_a_wrong_file() -> None:
    wrong = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "canon"}}, "results": []}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SARIF)


def test_markdown_lists_each_gap_once(server: Callable[[str], Path]) -> None:
    path = server("loops")
    _, out = run("review", str(path), "--format", "markdown")
    _, table = run("review", str(path), "--format", "json")
    gaps = [f["rule"] for f in json.loads(table)["findings"] if f["verdict"] == "absent"]
    assert all(out.count(f"| {code} |") == 1 for code in gaps)
    assert out.rstrip().endswith(f"{len(gaps)} gaps, 0 accepted, 0 stale.")


def test_text_names_place_and_sentence(server: Callable[[str], Path]) -> None:
    code, out = run("review", str(server("upstream_key")))
    assert code == 1
    assert "server.py:19" in out
    assert "Accept the key in X-API-Key" in out


def test_output_goes_to_a_file(server: Callable[[str], Path], tmp_path: Path) -> None:
    target = tmp_path / "report.sarif"
    code, out = run("review", str(server("whole")), "--format", "sarif", "--output", str(target))
    assert (code, out) == (0, "")
    assert json.loads(target.read_text(encoding="utf-8"))["version"] == "2.1.0"


def test_explain_prints_why_and_mend() -> None:
    code, out = run("explain", "cn101")
    assert code == 0
    assert RULES[0].why in out
    assert RULES[0].mend in out


def test_explain_refuses_a_code_that_is_none() -> None:
    assert run("explain", "CN999")[0] == 2
