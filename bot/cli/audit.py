"""The command ``footnote audit export``."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TextIO

import typer

from bot.cli.command import command_app, settings_for
from bot.cli.records import open_records, platform_and_id
from bot.core.errors import Invalid
from bot.core.settings import Settings
from bot.storage.audit_log import DEEDS, Audit, AuditFilter, Entry

NAMES = tuple(each.name for each in fields(Entry) if each.name != "text")

app = command_app("The log of who asked, read, shared, exported, forgot and signed in.")


@app.callback()
def _group() -> None:
    """The log of who asked, read, shared, exported, forgot and signed in."""


@app.command()
def export(
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="From this day or moment (UTC).")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="DATE", help="Before this day or moment.")
    ] = None,
    who: Annotated[
        str | None,
        typer.Option(
            "--who", metavar="PLATFORM:ID", help="Only this person, such as slack:U0123ABC."
        ),
    ] = None,
    what: Annotated[
        list[str] | None,
        typer.Option("--what", metavar="DEED", help="Only this, such as asked; repeatable."),
    ] = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="With the questions' texts, as they are stored now.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write to a file that only you may read."),
    ] = None,
) -> None:
    """Print the audit log as JSON lines, oldest first.

    Example:

        footnote audit export --since 2026-11-01 --what read --what exported
    """
    settings = settings_for()
    for deed in what or ():
        if deed not in DEEDS:
            raise Invalid(f"--what {deed} is unknown: choose from {', '.join(DEEDS)}.")
    wanted = AuditFilter(
        None if since is None else moment(since, "--since"),
        None if until is None else moment(until, "--until"),
        None if who is None else platform_and_id(who),
        tuple(what or ()),
        texts,
    )
    asyncio.run(_print(settings, wanted, output))


def moment(text: str, option: str) -> datetime:
    """Parse a date or time in ISO 8601, in UTC unless it names a zone. Raises ``Invalid``."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(
            f"{option} {text} is no date: write it like 2026-11-21 or 2026-11-21T14:30:00+01:00."
        ) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


async def _print(settings: Settings, wanted: AuditFilter, output: Path | None) -> None:
    async with open_records(settings) as store:
        audit = Audit(store.database)
        await audit.note("exported", "audit")
        with _written(output) as lines:
            async for entry in audit.entries(wanted):
                lines.write(json.dumps(line_of(entry), ensure_ascii=False) + "\n")


@contextmanager
def _written(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    try:
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise Invalid(f"{output} cannot be written: {error.strerror}.") from None


def line_of(entry: Entry) -> dict[str, object]:
    """Return a row in the documented form of ``footnote audit export``."""
    line = {name: getattr(entry, name) for name in NAMES}
    line["at"] = entry.at.astimezone(UTC).isoformat()
    return {**line, "text": entry.text} if entry.text else line
