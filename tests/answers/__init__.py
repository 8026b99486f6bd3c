"""Answers to the template's questions: one file for each connector of a fleet, and a set that covers the rest."""

from pathlib import Path
from typing import Any, Final

import yaml
from jinja2 import Template

from tests.rendering import ROOT

ANSWERS: Final[dict[str, dict[str, Any]]] = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(Path(__file__).parent.glob("*.yml"))
}
FORM: Final[dict[str, Any]] = yaml.safe_load((ROOT / "copier.yml").read_text(encoding="utf-8"))


def asked(mode: str) -> dict[str, dict[str, Any]]:
    """Return the questions that people are asked in a mode. Settings, computed answers and the mode itself are left out."""
    return {
        name: question
        for name, question in FORM.items()
        if not name.startswith("_") and name != "mode" and _is_asked(str(question.get("when", True)), mode)
    }


def _is_asked(when: str, mode: str) -> bool:
    answer: str = Template(when).render(mode=mode, repository_folder=".")
    return answer == "True"


QUESTIONS: Final = asked("new")


def values_of(choices: dict[str, Any] | list[Any]) -> list[Any]:
    """Return what can be chosen, whether or not each choice has a label."""
    return list(choices.values() if isinstance(choices, dict) else choices)
