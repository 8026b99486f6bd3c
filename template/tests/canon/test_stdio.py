"""Over stdio: JSON-RPC from the first byte, and a wrong setting is one sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .clients import initialize, message
from .subject import SOURCES, Subject, canon, configuration, keys

SECONDS = 30


def environment(subject: Subject, folder: Path, **settings: str) -> dict[str, str]:
    prefix = str(subject.settings.model_config.get("env_prefix", ""))
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(prefix)},
        "PYTHONPATH": str(SOURCES),
        "PYTHONWARNINGS": "always",
        f"{prefix}AUDIT_DIR": str(folder / "audit"),
        f"{prefix}API_KEYS_FILE": str(folder / "keys.json"),
        **{f"{prefix}{name}": value for name, value in settings.items()},
    }


def run(subject: Subject, folder: Path, *arguments: str, **settings: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", subject.program, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=environment(subject, folder, **settings),
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


async def test_stdout_is_json_rpc_from_the_first_byte(subject: Subject, tmp_path: Path) -> None:
    names = [tool.name for tool in await subject.build().list_tools()]
    calls = [{**message("tools/call", name=name, arguments={}), "id": name} for name in names]
    with subprocess.Popen(  # noqa: ASYNC220 - nothing else runs meanwhile
        [sys.executable, "-m", subject.program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(subject, tmp_path, LOG_LEVEL="DEBUG"),
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for line in (initialize(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, *calls):
            server.stdin.write(json.dumps(line) + "\n")
        server.stdin.flush()
        waited_for, answers = {1, *names}, []
        while waited_for:
            answers.append(json.loads(server.stdout.readline()))
            waited_for.discard(answers[-1].get("id"))
        server.stdin.close()
        answers += [json.loads(line) for line in server.stdout]
        assert server.wait(SECONDS) == 0
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)


def test_a_wrong_setting_is_one_sentence(subject: Subject, tmp_path: Path) -> None:
    code, out, err = run(subject, tmp_path, AUDIT_FSYNC="CANARY-7f3a")
    assert (code, out) == (2, "")
    assert "AUDIT_FSYNC" in err
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
    ],
)
def test_every_wrong_setting_is_named(subject: Subject, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    variable = subject.settings.variable(name)
    monkeypatch.setenv(variable, value)
    with pytest.raises(configuration.ConfigurationError, match=rf"^Wrong setting: {variable}: [^\n]+\.$") as refused:
        configuration.load(subject.settings)
    assert "CANARY" not in str(refused.value)


def test_a_setting_that_another_one_needs_is_named(subject: Subject) -> None:
    with pytest.raises(configuration.ConfigurationError, match="BASE_URL is not set"):
        subject.build(provider="live")


def test_http_without_a_key_never_opens_the_port(subject: Subject, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", subject.program, "serve", "--http", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(subject, tmp_path),
    ) as server:
        assert server.stderr is not None
        assert server.stdout is not None
        said = []
        for line in server.stderr:
            said.append(line)
            if "Listening" in line:
                server.kill()
        assert (server.wait(SECONDS), server.stdout.read()) == (2, "")
    assert "keys mint" in said[-1]


PRINTING = """
import os
from {canon} import cli
def settings():
    print("noise", flush=True)
    os.system("echo noise")
    raise BrokenPipeError
cli.run("connector", settings, settings, ["keys", "list"])
"""


def test_what_an_import_prints_stays_off_the_wire(subject: Subject, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINTING.format(canon=canon.__name__)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=environment(subject, tmp_path),
        check=False,
    )
    assert (done.stdout, done.stderr.split()) == ("", ["noise", "noise"])


def test_an_audit_folder_that_cannot_be_made_stops_the_start(subject: Subject, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    code, out, err = run(subject, tmp_path, AUDIT_DIR=str(tmp_path / "file"))
    assert (code, out) == (2, "")
    assert "AUDIT_DIR" in err


def test_a_key_is_shown_once_and_can_be_revoked(subject: Subject, tmp_path: Path) -> None:
    code, out, _ = run(subject, tmp_path, "keys", "mint", "--org", "acme", "--user", "ann")
    assert code == 0
    key = out.strip()
    assert key.startswith(f"{subject.command}_pat_")
    code, out, _ = run(subject, tmp_path, "keys", "list")
    assert "acme  ann" in out
    assert key not in out
    assert run(subject, tmp_path, "keys", "revoke", out.split()[0])[0] == 0
    assert keys.KeyFile(tmp_path / "keys.json").all() == ()
