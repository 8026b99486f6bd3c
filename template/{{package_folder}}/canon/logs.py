"""The local log, on stderr: what happened and where, without the text of errors and without arguments."""

import logging
import sys
import traceback
from types import TracebackType
from typing import Final

LOGGER_NAME: Final = "connector"
LONGEST_CHAIN: Final = 20
ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

log: Final = logging.getLogger(LOGGER_NAME)
"""The logger of the connector. Pass codes, counts and names to it, never arguments or the text of an exception."""


class LocalFormatter(logging.Formatter):
    """Writes an exception as class names and places in the code: its text may hold anything.

    Of other libraries' records only the origin is written, since their messages hold arguments, addresses and bodies.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        # A copy without `exc_text`, which another formatter may have filled.
        record = logging.makeLogRecord({**record.__dict__, "exc_text": None})
        if record.name != LOGGER_NAME:
            record.msg, record.args = f"{record.name}: a message of {record.module}, line {record.lineno}", ()
        return super().format(record)

    def formatException(self, ei: ExceptionInfo) -> str:  # noqa: N802 - the name is the standard library's
        """Return the chain of an exception without any of its text."""
        return "\n".join(chain(ei[1]))


def chain(error: BaseException | None) -> list[str]:
    """Return one line for each exception of a chain: the class and where it came from."""
    lines: list[str] = []
    while error is not None and len(lines) < LONGEST_CHAIN:
        frames = [
            f"{frame.f_code.co_name} ({frame.f_code.co_filename.rsplit('/', 1)[-1]}:{line})"
            for frame, line in traceback.walk_tb(error.__traceback__)
        ]
        lines.append(f"  {type(error).__name__}: {' > '.join(frames[-6:]) or 'nowhere'}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return lines


def configure(level: str) -> None:
    """Send this process's log to stderr, this connector's from `level` on and other libraries' warnings."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LocalFormatter())
    for name in list(logging.root.manager.loggerDict):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        if logger.level < logging.WARNING:
            logger.setLevel(logging.NOTSET)
    logging.root.handlers[:] = [handler]
    # A warning quotes the value that it is about.
    logging.captureWarnings(True)
    # A record that cannot be written is otherwise printed whole, arguments and all.
    logging.raiseExceptions = False
    logging.root.setLevel(logging.WARNING)
    log.setLevel(level)
