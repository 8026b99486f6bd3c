"""Answers to the template's questions: one file for each connector of a fleet, and a set that covers the rest."""

from pathlib import Path
from typing import Any, Final

import yaml

ANSWERS: Final[dict[str, dict[str, Any]]] = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(Path(__file__).parent.glob("*.yml"))
}
