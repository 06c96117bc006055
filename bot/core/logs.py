"""Logging set-up, and loggers that load structlog only when they write their first line.

Every line written while working on a run carries ``run``, ``thread`` (hashed), ``workspace`` and
``attempt`` (see ``about``). Texts of questions and pages are logged at debug only.

Importing structlog takes 50 ms, which a question in a terminal should not pay for.
"""

from __future__ import annotations

import hashlib
import logging
import sys
from collections.abc import Callable, Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any, Literal

from bot.core.errors import without_credentials

Format = Literal["auto", "console", "logfmt", "json"]

_level = logging.NOTSET
_format: Format = "console"
_is_set_up = True  # if logging is never configured, structlog keeps its defaults
# The run that this task works on. Each task has a copy, so that runs do not mix.
_about: ContextVar[Mapping[str, str | int]] = ContextVar("about", default={})  # noqa: B039


def about(run_id: str, thread: str, workspace: str, attempt: int) -> dict[str, str | int]:
    """Return the values that identify a run's log lines; ``thread`` is the thread's key."""
    hashed = hashlib.sha256(thread.encode()).hexdigest()[:12]
    return {"run": run_id, "thread": hashed, "workspace": workspace, "attempt": attempt}


def work_on(values: Mapping[str, str | int]) -> None:
    """Add these values to every further log line of this context."""
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
        """Log an error with the traceback of the exception being handled."""
        self._write("exception", logging.ERROR, event, values)

    def log(self, level: int, event: str, **values: Any) -> None:
        """Log a line at a level of the standard library."""
        self._write(logging.getLevelName(level).lower(), level, event, values)

    def _write(self, method: str, level: int, event: str, values: dict[str, Any]) -> None:
        if level < _level:
            return
        _set_up()
        import structlog

        getattr(structlog.get_logger(), method)(event, **{**_about.get(), **values})


def get_logger() -> Log:
    """Return a logger for a module."""
    return Log()


def redirect_library(
    name: str, shown: Callable[[str], str] = str, quiet: tuple[str, ...] = ()
) -> logging.Logger:
    """Write a library's log to ours: each record as one line without its traceback, as a warning at
    most. Records below a warning, and those that begin with one of ``quiet``, are at debug.
    ``shown`` hides secrets in a line."""
    logger = logging.getLogger(name)
    logger.handlers = [_Redirected(shown, quiet)]
    logger.propagate = False
    return logger


class _Redirected(logging.Handler):
    def __init__(self, shown: Callable[[str], str], quiet: tuple[str, ...]) -> None:
        super().__init__()
        self._shown = shown
        self._quiet = quiet

    def emit(self, record: logging.LogRecord) -> None:
        said, error = record.getMessage(), record.exc_info[1] if record.exc_info else None
        parts = (said, "" if error is None else str(error) or type(error).__name__)
        line = self._shown(": ".join(part.partition("\n")[0][:500] for part in parts if part))
        is_told = record.levelno >= logging.WARNING and not said.startswith(self._quiet)
        get_logger().log(logging.WARNING if is_told else logging.DEBUG, line, by=record.name)


def announce(sentence: str) -> None:
    """Announce on stderr that the program starts, works or ends, at any log level: as plain text to
    a person, otherwise as a log line."""
    if _format == "console":
        print(sentence, file=sys.stderr, flush=True)  # noqa: T201
        return
    _set_up()
    import structlog

    structlog.get_logger().info(sentence)


def configure_logging(level: str, format: Format = "auto") -> None:
    """Log one line per event to stderr; retries are logged at debug only.

    ``auto`` means ``console`` on a terminal, otherwise ``logfmt``.
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
    """Hide user names and passwords in addresses; a structlog processor."""
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
            hide_credentials,  # after the processor that formats tracebacks
            _renderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),  # ``Log`` filters
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
