"""Logging set-up, in a module that loads quickly."""

from __future__ import annotations

import logging
import sys

import stamina
import structlog


def configure_logging(level: str) -> None:
    """One line an event, on stderr; retries are only told about in detail."""
    level_number = logging.getLevelNamesMapping()[level.upper()]
    if level_number > logging.DEBUG:
        stamina.instrumentation.set_on_retry_hooks([])
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.LogfmtRenderer(bool_as_flag=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level_number),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
