"""Every language says everything, with the same places to fill in."""

import string
from dataclasses import asdict
from typing import Any

import pytest

from .subject import Subject, errors, sentences


def places(text: object) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(str(text)) if name}


@pytest.mark.parametrize("language", sentences.LANGUAGES)
def test_no_sentence_is_missing(language: str) -> None:
    said, expected = asdict(sentences.LANGUAGES[language]), asdict(sentences.ENGLISH)
    for name, whole in expected.items():
        found = said[name]
        assert found, f"{language} has no {name}."
        if isinstance(whole, dict):
            assert set(found) == set(whole), f"{language}, {name}: {set(found) ^ set(whole)}"
            assert all(found.values()), f"{language}, {name}: a sentence is empty."
        elif isinstance(whole, tuple):
            assert len(found) == len(whole), f"{language}, {name}"
        else:
            assert places(found) == places(whole), f"{language}, {name}: {places(found) ^ places(whole)}"


def test_every_code_and_every_reason_has_a_sentence(subject: Subject) -> None:
    said: Any = subject.sentences
    assert set(said.codes) == set(errors.Code)
    assert set(said.reasons) == set(errors.Reason)
    for name, field in subject.settings.model_fields.items():
        assert field.description or name in said.settings, f"Nothing says what the setting {name} is for."
