"""Logging set-up, and loggers that are loaded with the first line they write.

Every line that is written while a run is worked on carries ``run``, ``thread`` (hashed),
``workspace`` and ``attempt`` (see ``about``). Texts of questions and pages come at debug only.

Importing structlog takes a twentieth of a second, which a question in a terminal has no use for.
"""

from __future__ import annotations

import hashlib
import logging
import sys
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any, Literal

from bot.credentials import without_credentials

Format = Literal["auto", "console", "logfmt", "json"]

_level = logging.NOTSET
_format: Format = "console"
_is_set_up = True  # where nobody configures it, structlog stays as it is
# The run that this task works on. Each task has a copy, so that runs do not mix.
_about: ContextVar[Mapping[str, str | int]] = ContextVar("about", default={})  # noqa: B039


def about(run_id: str, thread: str, workspace: str, attempt: int) -> dict[str, str | int]:
    """The values by which the lines of a run's work are found; ``thread`` is its key."""
    hashed = hashlib.sha256(thread.encode()).hexdigest()[:12]
    return {"run": run_id, "thread": hashed, "workspace": workspace, "attempt": attempt}


def work_on(values: Mapping[str, str | int]) -> None:
    """Have every further line of this context carry these values."""
    _about.set(values)


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

        getattr(structlog.get_logger(), method)(event, **{**_about.get(), **values})


def get_logger() -> Log:
    """A logger for a module."""
    return Log()


def announce(sentence: str) -> None:
    """Say on stderr that the program starts, works or ends, at any level: to a person as it is,
    else as a line of the log."""
    if _format == "console":
        print(sentence, file=sys.stderr, flush=True)  # noqa: T201
        return
    _set_up()
    import structlog

    structlog.get_logger().info(sentence)


def configure_logging(level: str, format: Format = "auto") -> None:
    """Have one line an event written on stderr; retries are only told about in detail.

    ``auto`` writes for people on a terminal, else logfmt.
    """
    global _level, _format, _is_set_up
    _level = logging.getLevelNamesMapping()[level.upper()]
    _format = format if format != "auto" else "console" if sys.stderr.isatty() else "logfmt"
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


def _renderer() -> Any:
    import structlog

    if _format == "json":
        return structlog.processors.JSONRenderer(ensure_ascii=False)
    if _format == "console":
        return structlog.dev.ConsoleRenderer()
    return structlog.processors.LogfmtRenderer(bool_as_flag=False)


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
            _renderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),  # ``Log`` filters
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
