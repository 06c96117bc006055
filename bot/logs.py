"""Logging set-up, and loggers that are loaded with the first line they write.

Importing structlog takes a twentieth of a second, which a question in a terminal has no use for.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

from bot.credentials import without_credentials

_level = logging.NOTSET
_is_set_up = True  # where nobody configures it, structlog stays as it is


class Log:
    """A logger: ``warning("event", run=run_id)``, with a method for each level of structlog."""

    def debug(self, event: str, **values: Any) -> None:
        self._write("debug", logging.DEBUG, event, values)

    def info(self, event: str, **values: Any) -> None:
        self._write("info", logging.INFO, event, values)

    def warning(self, event: str, **values: Any) -> None:
        self._write("warning", logging.WARNING, event, values)

    def error(self, event: str, **values: Any) -> None:
        self._write("error", logging.ERROR, event, values)

    def exception(self, event: str, **values: Any) -> None:
        """An error, with the traceback of the exception that is being handled."""
        self._write("exception", logging.ERROR, event, values)

    def log(self, level: int, event: str, **values: Any) -> None:
        """A line of a level of the standard library."""
        self._write(logging.getLevelName(level).lower(), level, event, values)

    def _write(self, method: str, level: int, event: str, values: dict[str, Any]) -> None:
        if level < _level:
            return
        _set_up()
        import structlog

        getattr(structlog.get_logger(), method)(event, **values)


def get_logger() -> Log:
    """A logger for a module."""
    return Log()


def configure_logging(level: str) -> None:
    """Have one line an event written on stderr; retries are only told about in detail."""
    global _level, _is_set_up
    _level = logging.getLevelNamesMapping()[level.upper()]
    _is_set_up = False
    if _level > logging.DEBUG:
        import stamina

        stamina.instrumentation.set_on_retry_hooks([])


def hide_credentials(
    logger: object, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A processor of structlog: no address in a line shows a user name or a password."""
    return {
        name: without_credentials(value if isinstance(value, str) else repr(value))
        if isinstance(value, str | BaseException)
        else value
        for name, value in event.items()
    }


def _set_up() -> None:
    global _is_set_up
    if _is_set_up:
        return
    _is_set_up = True
    import structlog

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            hide_credentials,  # behind what writes tracebacks
            structlog.processors.LogfmtRenderer(bool_as_flag=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
