"""SQL expressions of moments, which SQLite and PostgreSQL write differently."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from bot.storage.tables import runs


class day_of(FunctionElement[Any]):
    """The day of a moment, as text like 2026-11-21, on clocks that are so many minutes ahead of
    UTC."""

    type = sa.Text()
    inherit_cache = True


@compiles(day_of, "sqlite")
def _sqlite_day(element: Any, compiler: Any, **kw: Any) -> str:
    moment, minutes = (compiler.process(each, **kw) for each in element.clauses)
    return f"date({moment}, ({minutes}) || ' minutes')"


@compiles(day_of, "postgresql")
def _postgres_day(element: Any, compiler: Any, **kw: Any) -> str:
    moment, minutes = (compiler.process(each, **kw) for each in element.clauses)
    there = f"{moment} AT TIME ZONE 'UTC' + make_interval(mins => ({minutes}))"
    return f"to_char({there}, 'YYYY-MM-DD')"


class _seconds_between(FunctionElement[Any]):
    """The seconds from the first moment to the second; 0 where a clock that is behind says that it
    was before: a question is accepted in one process and ends in another."""

    type = sa.Float()
    inherit_cache = True


@compiles(_seconds_between, "sqlite")
def _sqlite_seconds(element: Any, compiler: Any, **kw: Any) -> str:
    first, second = (compiler.process(each, **kw) for each in element.clauses)
    return f"max(0.0, (julianday({second}) - julianday({first})) * 86400.0)"


@compiles(_seconds_between, "postgresql")
def _postgres_seconds(element: Any, compiler: Any, **kw: Any) -> str:
    first, second = (compiler.process(each, **kw) for each in element.clauses)
    took = f"CAST(EXTRACT(EPOCH FROM ({second} - {first})) AS double precision)"
    return f"CASE WHEN {second} < {first} THEN 0.0 ELSE {took} END"


def took() -> sa.ColumnElement[Any]:
    """Seconds from when a run was accepted to its end."""
    return _seconds_between(runs.c.accepted_at, runs.c.ended_at)
