"""SQL expressions for dates and durations, which differ between SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from bot.storage.tables import runs


def _written(element: type[FunctionElement[Any]], **forms: str) -> None:
    """Register how each dialect writes a function; {0} and {1} are the function's arguments."""

    def for_dialect(form: str) -> Any:
        def write(call: Any, compiler: Any, **kw: Any) -> str:
            return form.format(*(compiler.process(each, **kw) for each in call.clauses))

        return write

    for dialect, form in forms.items():
        compiles(element, dialect)(for_dialect(form))


class day_of(FunctionElement[Any]):
    """The day of a moment, as text like 2026-11-21, on clocks that many minutes ahead of UTC."""

    type = sa.Text()
    inherit_cache = True


_written(
    day_of,
    sqlite="date({0}, ({1}) || ' minutes')",
    postgresql="to_char({0} AT TIME ZONE 'UTC' + make_interval(mins => ({1})), 'YYYY-MM-DD')",
)


class _seconds_between(FunctionElement[Any]):
    """The seconds from the first moment to the second, at least 0: the process in which a run ends
    may have a slower clock than the one that accepted it."""

    type = sa.Float()
    inherit_cache = True


_written(
    _seconds_between,
    sqlite="max(0.0, (julianday({1}) - julianday({0})) * 86400.0)",
    postgresql="CASE WHEN {1} < {0} THEN 0.0 "
    "ELSE CAST(EXTRACT(EPOCH FROM ({1} - {0})) AS double precision) END",
)


def duration() -> sa.ColumnElement[Any]:
    """The seconds from a run's acceptance to its end."""
    return _seconds_between(runs.c.accepted_at, runs.c.ended_at)
