"""Lets Copier render the connector from the answers that Cookiecutter has asked for.

Copier checks the answers before it writes anything, and leaves the file that `copier update` needs.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

# No answer can end this literal: JSON never holds three quotes in a row.
CONTEXT: Final[dict[str, Any]] = json.loads(r"""{{ cookiecutter | tojson }}""")
COPIER: Final = "copier>=9.18,<10"
KNOWN_TO_COPIER: Final = ("git@", "git://", "git+", "https://github.com/", "https://gitlab.com/", "gh:", "gl:")


def local_source() -> Path:
    """Find the template's folder, which may have been named relative to a folder that is not told."""
    named = Path(CONTEXT["_repo_dir"]).expanduser()
    # Cookiecutter stands in the template's folder while it runs a hook.
    for folder in (
        named if named.is_absolute() else Path(f"/proc/{os.getppid()}/cwd"),
        Path(os.getenv("PWD", ""), named),
    ):
        if (folder / "copier.yml").is_file():
            return folder.resolve()
    sys.exit(f"The template {named} cannot be found from here: name it by its absolute path or its git URL.")


def source() -> str:
    """Return what Copier records as the place to update from."""
    named = str(CONTEXT["_template"])
    if named == CONTEXT["_repo_dir"]:
        return str(local_source())
    if named.startswith(KNOWN_TO_COPIER) or named.endswith(".git"):
        return named
    clone = Path(CONTEXT["_repo_dir"])
    if not (clone / ".git").exists():
        sys.exit("An archive has no history to update from: name the template by its git URL.")
    url = subprocess.check_output(["git", "remote", "get-url", "origin"], cwd=clone, text=True).strip()  # noqa: S607
    return url if url.startswith(KNOWN_TO_COPIER) or url.endswith(".git") else f"git+{url}"


def render() -> None:
    """Render in the folder that Cookiecutter has made, or say which answer is refused."""
    from copier import run_copy
    from copier.errors import CopierError

    answers = {name: answer for name, answer in CONTEXT.items() if not name.startswith("_")}
    if not answers["package_name"]:
        del answers["package_name"]
    try:
        run_copy(source(), ".", answers, vcs_ref=CONTEXT["_checkout"], defaults=True, overwrite=True, quiet=True)
    except (ValueError, CopierError) as refused:
        sys.exit(str(refused))


if importlib.util.find_spec("copier"):
    render()
elif uv := shutil.which("uv"):
    sys.exit(subprocess.call([uv, "run", "-q", "--no-project", "--with", COPIER, "python", __file__]))  # noqa: S603
else:
    sys.exit(f"Copier renders this template and is missing: python -m pip install '{COPIER}'")
