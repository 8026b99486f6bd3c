"""The command line of a connector. It speaks MCP over stdio unless it is told otherwise."""

import argparse
import gc
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Generic, TypeVar

from .wire import reserve_stdin, reserve_stdout

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from .configuration import ConnectorSettings
    from .identity import Caller
    from .sentences import Sentences

FAILED: Final = 1
USAGE: Final = 2

Settings = TypeVar("Settings", bound="ConnectorSettings")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector(Generic[Settings]):
    """What the command line runs. `sync` returns a sentence about what was stored."""

    build: Callable[[Settings], "FastMCP"]
    sync: Callable[[Settings], Coroutine[Any, Any, str]]
    sentences: "Sentences"


def run(
    slug: str,
    settings: Callable[[], type[Settings]],
    connector: Callable[[], Connector[Settings]],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run a command and return its exit code: 0, 1 it failed, 2 it was asked wrongly.

    `settings` and `connector` import what they return. They are called once stdout is safe from whatever an import
    prints, and the connector only by commands that need it.
    """
    command = _parser(slug).parse_args(arguments)
    wire = reserve_stdout()
    try:
        return _Commands(settings(), connector, wire).run(command)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return FAILED
    except SystemExit as end:
        # A library that ends the process has its reasons printed otherwise.
        return end.code if isinstance(end.code, int) else FAILED
    except Exception as error:
        return _explain(error)
    finally:
        with suppress(BrokenPipeError):
            wire.close()


def _explain(error: Exception) -> int:
    from .configuration import ConfigurationError

    if isinstance(error, ConfigurationError):
        print(error, file=sys.stderr)
        return USAGE
    from .logs import chain

    # What failed may be the import of the framework, so nothing that needs it is imported here.
    errors = sys.modules.get(f"{__package__}.errors")
    if errors is not None and isinstance(error, errors.ConnectorError):
        from .sentences import ENGLISH

        print(error.message or ENGLISH.of(error.code, error.reason), file=sys.stderr)
        return FAILED
    print("The connector failed:", *chain(error), sep="\n", file=sys.stderr)
    return FAILED


def _parser(slug: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(slug, description="Without a command: speak MCP over stdio.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve over stdio, or over HTTP", allow_abbrev=False)
    serve.add_argument("--http", action="store_true", help="serve over HTTP")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on")
    serve.add_argument("--port", type=int, default=8000, help="port to listen on; 0 takes a free one")
    keys = commands.add_parser("keys", help="mint, list and revoke API keys").add_subparsers(
        dest="action", metavar="ACTION", required=True
    )
    mint = keys.add_parser("mint", help="mint a key and show it once")
    mint.add_argument("--org", required=True, help="organisation that the key belongs to")
    mint.add_argument("--user", required=True, help="user that the key stands for")
    keys.add_parser("list", help="list the keys, never their secrets")
    keys.add_parser("revoke", help="remove a key").add_argument("id", help="id of the key, as `keys list` shows it")
    commands.add_parser("sync", help="fetch every record from the live source into the store")
    describe = commands.add_parser("describe", help="show what the server offers")
    describe.add_argument("--json", action="store_true", help="show it as JSON")
    describe.add_argument("--write", action="store_true", help="write README, docs/mcp-server.md and server.json here")
    return parser


class _Commands(Generic[Settings]):
    def __init__(self, settings: type[Settings], connector: Callable[[], Connector[Settings]], wire: BinaryIO) -> None:
        self._settings = settings
        self._connector = connector
        self._wire = wire

    def run(self, command: argparse.Namespace) -> int:
        from .configuration import load

        action: Callable[[argparse.Namespace, Settings], int] = getattr(self, f"_{command.command or 'serve'}")
        return action(command, load(self._settings))

    def _serve(self, command: argparse.Namespace, settings: Settings) -> int:
        from .audit import AuditLog, AuditUnavailable
        from .configuration import ConfigurationError

        try:
            AuditLog(settings.audit_path).prepare()
        except AuditUnavailable:
            raise ConfigurationError(
                "The audit folder cannot be written to: "
                f"set {settings.variable('audit_dir')} to another one, or change its owner."
            ) from None
        if getattr(command, "http", False):
            return self._serve_http(command, settings)
        if sys.stdin is None:
            raise ConfigurationError("The input is closed: over stdio, a client starts this process and keeps it open.")
        server = self._imported(settings).build(settings)
        end = reserve_stdin(self._wire)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: end())
        _complete(server.run_stdio_async(show_banner=False))
        return 0

    def _serve_http(self, command: argparse.Namespace, settings: Settings) -> int:
        from .configuration import ConfigurationError
        from .keys import KeyFile

        if not KeyFile(settings.keys_path).all():
            raise ConfigurationError(
                f"There is no usable key, so the port stays closed: mint one with `{settings.slug} keys mint "
                f"--org ORG --user USER`, or set {settings.variable('api_keys_file')}."
            )
        from .http import http_app, listen, serve

        signal.signal(signal.SIGTERM, _end)
        app = http_app(self._imported(settings).build(settings), settings.public_hosts, settings.variable)
        _complete(serve(app, listen(command.host, command.port)))
        return 0

    def _keys(self, command: argparse.Namespace, settings: Settings) -> int:
        from .keys import KeyFile

        keys = KeyFile(settings.keys_path)
        match command.action:
            case "mint":
                self._print(keys.mint(settings.slug, _caller(command)))
                print("Keep the key: it is not shown again.", file=sys.stderr)
            case "list":
                for key in keys.all():
                    self._print(f"{key.id}  {key.org_id}  {key.user_id}  {key.minted_at}")
            case "revoke" if not keys.revoke(command.id):
                print("There is no key of that id: `keys list` shows them.", file=sys.stderr)
                return FAILED
        return 0

    def _sync(self, command: argparse.Namespace, settings: Settings) -> int:
        self._print(_complete(self._imported(settings).sync(settings)))
        return 0

    def _describe(self, command: argparse.Namespace, settings: Settings) -> int:
        from . import describe as describing

        connector = self._imported(settings)
        sentences = connector.sentences
        description = _complete(describing.describe(connector.build(settings), self._settings, sentences))
        if command.write:
            documents = describing.documents(Path.cwd(), description, sentences)
            describing.write(documents, lambda line: print(line, file=sys.stderr))
        if command.json:
            self._print(description.as_json())
        elif not command.write:
            self._print(describing.reference(description, sentences))
        return 0

    def _imported(self, settings: Settings) -> Connector[Settings]:
        # The libraries make no garbage, and are there until the end: nothing is gained by looking through them.
        gc.disable()
        connector = self._connector()
        gc.freeze()
        gc.enable()
        from .logs import configure

        # After the imports, since libraries set their own handlers while they are imported.
        configure(settings.log_level)
        return connector

    def _print(self, text: str) -> None:
        self._wire.write(f"{text}\n".encode())
        self._wire.flush()


def _complete(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end."""
    # Not every command needs a loop, and it is a tenth of their time.
    import asyncio

    return asyncio.run(work)


def _end(number: int, frame: FrameType | None) -> None:
    """End as if the work were done, so that what is still to be sent is sent."""
    raise SystemExit(0)


def _caller(command: argparse.Namespace) -> "Caller":
    from .configuration import ConfigurationError
    from .identity import Caller

    try:
        return Caller(command.org, command.user)
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
