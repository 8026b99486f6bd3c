"""Reads the files of a rendering as the programs do that they are for."""

import ast
import configparser
import json
import tomllib
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, Final

import yaml


def _ini(text: str) -> None:
    configparser.ConfigParser().read_string(text)


PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    ".importlinter": _ini,
    ".ini": _ini,
    ".json": json.loads,
    ".py": ast.parse,
    ".toml": tomllib.loads,
    ".yml": yaml.safe_load,
}


def parse(name: str, text: str) -> str | None:
    """Parse one file and return of which kind it is; there is nothing to parse in the others."""
    kind = PurePath(name).suffix or PurePath(name).name
    if kind not in PARSERS:
        return None
    PARSERS[kind](text)
    return kind
