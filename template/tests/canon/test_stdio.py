"""Over stdio: JSON-RPC from the first byte, and a wrong setting is one sentence."""

import json
from collections.abc import Callable

import pytest

from .clients import initialize, message
from .processes import Process, end
from .subject import Subject, configuration


async def test_stdout_is_json_rpc_from_the_first_byte(subject: Subject, process: Callable[[str], Process]) -> None:
    names = [tool.name for tool in await subject.build().list_tools()]
    calls = [{**message("tools/call", name=name, arguments={}), "id": name} for name in names]
    server = process("server")
    assert server.stdin is not None
    assert server.stdout is not None
    for line in (initialize(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, *calls):
        server.stdin.write(json.dumps(line) + "\n")
    server.stdin.flush()
    waited_for, answers = {1, *names}, []
    while waited_for:
        answers.append(json.loads(server.stdout.readline()))
        waited_for.discard(answers[-1].get("id"))
    code, out, _ = end(server)
    assert code == 0
    answers += [json.loads(line) for line in out.splitlines()]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)


def test_a_wrong_setting_is_one_sentence(subject: Subject, process: Callable[[str], Process]) -> None:
    code, out, err = end(process("wrong setting"))
    assert (code, out) == (2, "")
    assert subject.settings.variable("audit_fsync") in err
    assert len(err.strip().splitlines()) == 1
    assert "CANARY" not in err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PROVIDER", "Live "),
        ("LOG_LEVEL", "loud"),
        ("BASE_URL", "ftp://CANARY-7f3a"),
        ("OTLP_ENDPOINT", "CANARY-7f3a"),
        ("OTLP_HEADERS", "CANARY-7f3a"),
        ("PUBLIC_HOSTS", "https://CANARY-7f3a"),
        ("PUBLIC_HOSTS", "*"),
    ],
)
def test_every_wrong_setting_is_named(subject: Subject, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    variable = subject.settings.variable(name)
    monkeypatch.setenv(variable, value)
    with pytest.raises(configuration.ConfigurationError, match=rf"^Wrong setting: {variable}: [^\n]+\.$") as refused:
        configuration.load(subject.settings)
    assert "CANARY" not in str(refused.value)


def test_a_variable_that_is_empty_is_not_set(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    before = configuration.load(subject.settings)
    for name in subject.settings.model_fields:
        monkeypatch.setenv(subject.settings.variable(name), "")
    assert configuration.load(subject.settings) == before


def test_a_setting_that_another_one_needs_is_named(subject: Subject) -> None:
    with pytest.raises(configuration.ConfigurationError, match="BASE_URL is not set"):
        subject.build(provider="live")
    with pytest.raises(configuration.ConfigurationError, match="DATABASE is an address"):
        subject.build(provider="cache", database="mysql://host/name")


def test_http_without_a_key_never_opens_the_port(process: Callable[[str], Process]) -> None:
    server = process("no key")
    assert server.stderr is not None
    said = []
    for line in server.stderr:
        said.append(line)
        if "Listening" in line:
            server.kill()
    assert end(server)[:2] == (2, "")
    assert "keys mint" in said[-1]


def test_what_an_import_prints_stays_off_the_wire(process: Callable[[str], Process]) -> None:
    _, out, err = end(process("imports that print"))
    assert (out, err.split()) == ("", ["noise", "noise"])


def test_an_audit_folder_that_cannot_be_made_stops_the_start(
    subject: Subject, process: Callable[[str], Process]
) -> None:
    code, out, err = end(process("no audit folder"))
    assert (code, out) == (2, "")
    assert f"set {subject.settings.variable('audit_dir')} to another one" in err


def test_a_key_is_shown_once_and_can_be_revoked(subject: Subject, process: Callable[[str], Process]) -> None:
    code, out, _ = end(process("keys"))
    assert code == 0
    minted, listed, left = json.loads(out)
    assert minted.startswith(f"{subject.command}_pat_")
    assert "acme  ann" in listed
    assert minted.strip() not in listed
    assert left == ""
