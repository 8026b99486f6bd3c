"""The image of a connector, built from its Dockerfile and run, by Buildah, which needs no daemon."""

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from mcp_types import TextContent

from tests.rendering import render, run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("image")]

BASE: Final = re.compile(r"^FROM (python:([\d.]+)-slim-(\w+))", re.MULTILINE)
IMAGE: Final = "localhost/eu-digital-acts"
OWNER: Final = 10001
SECONDS: Final = 60
CERTIFICATES: Final = Path("/etc/ssl/certs")
PACKAGES: Final = "ca-certificates,python3,python3-pip,python3-venv"


@dataclass(frozen=True, slots=True)
class Builder:
    """Buildah with a store of its own."""

    folder: Path

    def command(self, *arguments: str) -> list[str]:
        """Return a command of Buildah, in words."""
        store = ("--root", str(self.folder / "store"), "--runroot", str(self.folder / "run"))
        return ["buildah", "--storage-driver", "vfs", *store, *arguments]

    def __call__(self, *arguments: str) -> str:
        return run(*self.command(*arguments), cwd=self.folder)

    def stand_in(self, base: str, suite: str) -> None:
        """Make the image that a Dockerfile starts from out of Debian's packages: an image's registry may be far away."""
        root = self.folder / "base"
        run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, str(root), cwd=self.folder)
        # As in the image that this one stands for, Python is called python and takes packages.
        (root / "usr/bin/python").symlink_to("python3")
        for marker in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            marker.unlink()
        container = self("from", "scratch").strip()
        self("add", container, str(root), "/")
        self("commit", container, f"docker.io/library/{base}")


@dataclass(frozen=True, slots=True)
class Container:
    """A connector's image with the folder that it keeps its files in."""

    builder: Builder
    name: str
    state: Path

    def command(self, *arguments: str) -> list[str]:
        """Return what runs a command in the container, in words."""
        volume = f"{self.state}:/var/lib/connector"
        return self.builder.command("run", "--isolation", "chroot", "--volume", volume, self.name, "--", *arguments)

    def __call__(self, *arguments: str) -> str:
        return run(*self.command(*arguments), cwd=self.state)


@pytest.fixture(scope="module")
def container(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    if not shutil.which("buildah") or not shutil.which("debootstrap") or os.geteuid() != 0:
        pytest.skip("Buildah and debootstrap, run as root, are not to be had: no image was built.")
    folder = tmp_path_factory.mktemp("image")
    project, state = render(template, folder / "connector"), folder / "state"
    for secret in ("keys.json", "audit.jsonl", ".env"):
        (project / secret).write_text("CANARY-7f3a", encoding="utf-8")
    base = BASE.search((project / "Dockerfile").read_text(encoding="utf-8"))
    assert base is not None
    builder = Builder(folder)
    builder.stand_in(base[1], base[3])
    options = ("--isolation", "chroot", "--network", "host", "--pull=never", "--format", "docker")
    builder("bud", *options, "--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro", "--tag", IMAGE, str(project))
    state.mkdir()
    os.chown(state, OWNER, OWNER)
    yield Container(builder, builder("from", "--pull=never", IMAGE).strip(), state)
    run("find", str(folder / "store"), "-delete", cwd=folder)


async def first_answer(address: str, key: str) -> str:
    async with Client(StreamableHttpTransport(address, headers={"x-api-key": key})) as client:
        answer = await client.call_tool("search_acts", {"query": "data governance"})
    (text,) = answer.content
    assert isinstance(text, TextContent)
    return text.text.partition("\n")[0]


def test_the_image_holds_the_connector_and_nothing_of_its_folder(container: Container) -> None:
    assert "CANARY" not in container("sh", "-c", "grep -rs CANARY-7f3a /opt /var /build /root /home || true")
    assert container("sh", "-c", "ls /opt/connector/lib/python3*/site-packages/eu_digital_acts/server.py").strip()


def test_it_serves_as_nobody_in_particular_and_keeps_its_files_in_the_volume(container: Container) -> None:
    assert container("id", "-u", "-n").strip() == "connector"
    key = container("eu-digital-acts", "keys", "mint", "--org", "acme", "--user", "ann").strip()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    configured = json.loads(container.builder("inspect", "--type", "image", IMAGE))["Docker"]["config"]
    command = [str(port) if word == "8000" else word for word in (*configured["Entrypoint"], *configured["Cmd"])]
    health = [word.replace(":8000", f":{port}") for word in configured["Healthcheck"]["Test"][1:]]
    with subprocess.Popen(container.command(*command), stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            assert any("Listening on" in line for line in server.stderr)
            container(*health)
            assert httpx2.post(f"http://127.0.0.1:{port}/mcp").status_code == 401
            answer = asyncio.run(first_answer(f"http://127.0.0.1:{port}/mcp", key))
        finally:
            run("pkill", "-f", f"^/opt/connector/bin/python .*--port {port}", cwd=container.state)
        assert server.wait(SECONDS) == 0
    assert answer == "1 of 1 acts that match."
    (line,) = (container.state / "audit" / "audit.jsonl").read_text(encoding="utf-8").splitlines()
    assert (json.loads(line)["org_id"], json.loads(line)["tool"]) == ("acme", "search_acts")
    assert {path.stat().st_uid for path in container.state.rglob("*")} == {OWNER}
