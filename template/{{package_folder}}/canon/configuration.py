"""From the environment to one typed object, and the sentence when that fails."""

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

import platformdirs
from pydantic import AfterValidator, AnyHttpUrl, BeforeValidator, Field, SecretStr, TypeAdapter, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from .credential import header_value
from .text import one_line

HOST: Final = re.compile(r"([*][.])?[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?|\[[0-9A-Fa-f:.]+\](:[0-9]+)?")
"""What a `Host` header can hold. A single star would admit every page that a browser shows."""
POSTGRES: Final = ("postgresql://", "postgres://")
"""How the address of a PostgreSQL server begins."""


class ConfigurationError(Exception):
    """A setting or a file is wrong. The message is one sentence that says which and what to do."""


def _http_url(value: str) -> str:
    TypeAdapter(AnyHttpUrl).validate_python(value)
    return value


def _names(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _hosts(names: tuple[str, ...]) -> tuple[str, ...]:
    if not all(HOST.fullmatch(name) for name in names):
        raise ValueError("expected names such as mcp.example.com or *.example.com, without https:// and without a path")
    return names


def _pairs(value: object) -> object:
    if not isinstance(value, str):
        return value
    parts = [part.partition("=") for part in value.split(",") if part.strip()]
    if any(not name.strip() or not equals for name, equals, _ in parts):
        raise ValueError("expected name=value, separated by commas")
    return {name.strip(): text.strip() for name, _, text in parts}


def _in_a_header(token: SecretStr | None) -> SecretStr | None:
    value = header_value(token.get_secret_value()) if token else None
    return None if value is None else SecretStr(value)


HttpUrl = Annotated[str, AfterValidator(_http_url)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names)]
Hosts = Annotated[Names, AfterValidator(_hosts)]
Credential = Annotated[SecretStr | None, AfterValidator(_in_a_header)]
Pairs = Annotated[dict[str, SecretStr], NoDecode, BeforeValidator(_pairs)]


class ConnectorSettings(BaseSettings):
    """What every connector can be told. `Sentences.settings` says what each is for.

    A subclass sets `env_prefix` and `slug`, which names the folders of the defaults, and adds settings of its own.
    """

    model_config = SettingsConfigDict(env_ignore_empty=True)
    slug: ClassVar[str] = "connector"

    base_url: HttpUrl | None = None
    upstream_token: Credential = None
    database: str | None = None
    api_keys_file: Path | None = None
    owner: str | None = None
    audit_dir: Path | None = None
    audit_fsync: bool = False
    public_hosts: Hosts = ()
    otlp_endpoint: HttpUrl | None = None
    otlp_headers: Pairs = Field(default_factory=dict)
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @property
    def keys_path(self) -> Path:
        """Where the API keys are: `api_keys_file`, else in the user's configuration folder."""
        return self.api_keys_file or platformdirs.user_config_path(self.slug) / "keys.json"

    @property
    def audit_path(self) -> Path:
        """Where the audit log is: `audit_dir`, else the user's state folder."""
        return self.audit_dir or platformdirs.user_state_path(self.slug) / "audit"

    @property
    def store(self) -> str:
        """Where stored records are: `database`, else a file in the user's data folder."""
        return self.database or str(platformdirs.user_data_path(self.slug) / "records.sqlite")

    @property
    def has_store_address(self) -> bool:
        """Whether the store is a server's, and not a file."""
        return "://" in self.store

    @property
    def store_file(self) -> Path:
        """The file of the stored records.

        Raises:
            ConfigurationError: `database` is no file.
        """
        if self.has_store_address:
            raise ConfigurationError(f"{self.variable('database')} is an address, but records are stored in a file.")
        return Path(self.store)

    @property
    def store_address(self) -> str:
        """The address of the PostgreSQL server with the stored records.

        Raises:
            ConfigurationError: `database` is none.
        """
        if not self.store.startswith(POSTGRES):
            raise ConfigurationError(
                f"{self.variable('database')} is no address of a PostgreSQL server, such as postgresql://user@host/name."
            )
        return self.store

    @property
    def otlp_header_values(self) -> dict[str, str]:
        """The collector's headers in clear, for the exporter alone."""
        return {name: value.get_secret_value() for name, value in self.otlp_headers.items()}

    @property
    def upstream(self) -> str:
        """The address of the live source.

        Raises:
            ConfigurationError: none is set.
        """
        if self.base_url is None:
            raise ConfigurationError(f"{self.variable('base_url')} is not set: it names the source of the records.")
        return self.base_url

    @classmethod
    def variable(cls, field: str) -> str:
        """Return the environment variable of a field."""
        return f"{cls.model_config.get('env_prefix', '')}{field}".upper()


Settings = TypeVar("Settings", bound=ConnectorSettings)

SENTENCES: Final = {
    "literal_error": "use one of {expected}",
    "bool_parsing": "use true or false",
    "missing": "it is not set",
}


def load(settings: type[Settings], **overrides: Any) -> Settings:
    """Read the settings from the environment.

    Raises:
        ConfigurationError: names the variables that are wrong, never their values.
    """
    try:
        return settings(**overrides)
    except ValidationError as error:
        problems = "; ".join(
            _problem(settings, dict(problem)) for problem in error.errors(include_url=False, include_input=False)
        )
        raise ConfigurationError(one_line(f"Wrong setting: {problems}.")) from None


def _problem(settings: type[ConnectorSettings], problem: dict[str, Any]) -> str:
    context = problem.get("ctx", {})
    reason = SENTENCES.get(problem["type"], str(problem["msg"]).removeprefix("Value error, "))
    reason = reason.format(expected=str(context.get("expected", "")).replace("'", ""))
    if not problem["loc"]:
        return reason
    return f"{settings.variable(str(problem['loc'][0]))}: {reason}"
