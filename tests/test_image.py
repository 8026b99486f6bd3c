"""The image of a connector: built, run and asked as its own workflow says."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.rendering import render, run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("image")]

BASE: Final = re.compile(r"^FROM (python:\S+-slim-(\w+))", re.MULTILINE)
PACKAGES: Final = "ca-certificates,python3,python3-pip,python3-venv"
CERTIFICATES: Final = Path("etc/ssl/certs/ca-certificates.crt")
AT_MOST: Final = 4096
"""Files and processes of a container: what Podman asks for otherwise is more than a machine may allow."""
CANARY: Final = "CANARY-7f3a"


def podman(folder: Path, dockerfile: str) -> dict[str, str]:
    """Return the variables under which `docker` is Podman, which needs no daemon, with a store of its own.

    The image that the Dockerfile starts from is made of Debian's packages, since a registry of images may be far away.
    """
    (folder / "bin").mkdir()
    (folder / "bin" / "docker").symlink_to(str(shutil.which("podman")))
    (folder / "containers.conf").write_text(
        f'[containers]\ndefault_ulimits = ["nofile={AT_MOST}:{AT_MOST}", "nproc={AT_MOST}:{AT_MOST}"]\n'
        '[engine]\nruntime = "runc"\n',
        encoding="utf-8",
    )
    (folder / "storage.conf").write_text(
        f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/store"\nrunroot = "{folder}/run"\n', encoding="utf-8"
    )
    variables = {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CONTAINERS_CONF": str(folder / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        "BUILDAH_ISOLATION": "chroot",
        "BUILDAH_FORMAT": "docker",
    }
    found = BASE.search(dockerfile)
    assert found is not None
    root = folder / "base"
    run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", found[2], str(root), cwd=folder)
    # As in the image that this one stands for, Python is called python and takes packages.
    (root / "usr/bin/python").symlink_to("python3")
    for marker in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        marker.unlink()
    shutil.copyfile("/" / CERTIFICATES, root / CERTIFICATES)
    run("tar", "--directory", str(root), "--create", "--file", str(folder / "base.tar"), ".", cwd=folder)
    said = subprocess.run(
        ["docker", "import", str(folder / "base.tar"), f"docker.io/library/{found[1]}"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    return variables


@pytest.fixture(scope="module")
def docker(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables under which there is a `docker`."""
    if shutil.which("docker") and not subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        yield {}
        return
    missing = [name for name in ("podman", "runc", "debootstrap") if not shutil.which(name)]
    if missing or os.geteuid() != 0:
        wanted = ", ".join(missing) or "the rights of root"
        pytest.skip(f"There is no Docker daemon, and Podman in its place lacks {wanted}: no image was built.")
    folder = tmp_path_factory.mktemp("podman")
    variables = podman(folder, (render(template, folder / "plain") / "Dockerfile").read_text(encoding="utf-8"))
    yield variables
    for command in (["podman", "system", "reset", "--force"], ["umount", str(folder / "store" / "overlay")]):
        subprocess.run(command, env={**os.environ, **variables}, capture_output=True, check=False)


def workflow(project: Path, variables: dict[str, str], *more: str) -> subprocess.CompletedProcess[str]:
    """Run the steps of the connector's workflow, and more lines after them."""
    described = yaml.safe_load((project / ".github" / "workflows" / "image.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for step in described["jobs"]["image"]["steps"] if "run" in step]
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", "\n".join((steps[0], *more, *steps[1:]))],
        cwd=project,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_container_serves_and_holds_nothing_of_the_folder(
    template: Path, tmp_path: Path, docker: dict[str, str]
) -> None:
    project = render(template, tmp_path / "connector")
    for secret in ("keys.json", "audit.jsonl", ".env"):
        (project / secret).write_text(CANARY, encoding="utf-8")
    look = f"! docker run --rm --entrypoint grep connector:ci --recursive --no-messages {CANARY} /opt /var /home /build"
    done = workflow(project, docker, look)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '3 "inputSchema"' in done.stdout
    assert CANARY not in done.stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"0.0.0.0"', '"127.0.0.1"'),
        ("USER 10001:10001", "USER 0:0"),
    ],
)
def test_a_broken_image_is_noticed(template: Path, tmp_path: Path, docker: dict[str, str], old: str, new: str) -> None:
    project = render(template, tmp_path / "connector")
    file = project / "Dockerfile"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    done = workflow(project, docker, "echo it was built")
    assert "it was built" in done.stdout, done.stderr
    assert done.returncode != 0
