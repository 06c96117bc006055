"""Exports the audit log as JSON lines, and replays deletions after a restore."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TextIO

from adapters.terminal.records import forgetter_of, open_records
from bot.errors import Invalid
from bot.settings import Settings
from bot.storage.audit import Audit, AuditFilter, Entry
from bot.storage.conversations import Conversations
from bot.storage.removal import NOTHING_REMOVED, Removed
from bot.storage.replaying import Forgotten, missing_forgettings
from bot.storage.store import Store
from bot.storage.subjects import Subject

NAMES = tuple(each.name for each in fields(Entry) if each.name != "text")


def moment(text: str, option: str) -> datetime:
    """Parse a date or time in ISO 8601, in UTC unless it names a zone. Raises ``Invalid``."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(
            f"{option} {text} is no date: write it like 2026-11-21 or 2026-11-21T14:30:00+01:00."
        ) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


async def export_audit(settings: Settings, wanted: AuditFilter, output: Path | None) -> None:
    """Write the rows as JSON lines to standard output, or to a file that only its owner may read.

    Raises ``Invalid`` if the file cannot be written, and ``StorageUnavailable``.
    """
    async with open_records(settings) as store:
        audit = Audit(store.database)
        await audit.note("exported", "audit")
        with _written(output) as lines:
            async for entry in audit.entries(wanted):
                lines.write(json.dumps(line_of(entry), ensure_ascii=False) + "\n")


def line_of(entry: Entry) -> dict[str, object]:
    """Return a row in the documented form of ``footnote audit export``."""
    line = {name: getattr(entry, name) for name in NAMES}
    line["at"] = entry.at.astimezone(UTC).isoformat()
    return {**line, "text": entry.text} if entry.text else line


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


# ---------------------------------------------------------------- forgetting again


@dataclass(frozen=True, slots=True)
class Replayed:
    """The outcome of a replay: ``in_log`` deletions are in the log, ``repeated`` of them were done
    now, and ``foreign`` could not be, because they use pseudonyms of another database."""

    in_log: int
    repeated: int
    foreign: int
    removed: Removed


async def replay_forgettings(
    settings: Settings,
    lines: TextIO,
    uninstalled: Callable[[Store, Subject], Awaitable[Removed]],
) -> Replayed:
    """Repeat the deletions in a log that this database does not have.

    Raises ``Invalid`` for lines that are not from such a log, and ``StorageUnavailable``.
    """
    told = _forgettings(lines)
    removed = NOTHING_REMOVED
    async with open_records(settings) as store:
        due = await missing_forgettings(store.database, told)
        for subject, at in due.subjects.items():
            removed += await forgetter_of(store).forget_again(subject, at)
            removed += await uninstalled(store, subject)
        gone = 0
        for platform, event_id in due.messages:
            gone += await _delete(store, platform, event_id)
    done = len(due.subjects) + gone
    return Replayed(len(told), done, due.foreign, removed + Removed(messages=gone))


async def _delete(store: Store, platform: str, event_id: str) -> bool:
    """Delete a message, if it exists; `footnote serve` deletes its reply."""
    conversations = Conversations(store.database)
    if not await conversations.knows(platform, event_id):
        return False
    await conversations.remove(platform, event_id, datetime.now(UTC), owner=None, lease=timedelta())
    return True


def _forgettings(lines: TextIO) -> dict[Forgotten, datetime]:
    """Return the deletions in an exported log, each with its latest time."""
    found: dict[Forgotten, datetime] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if row["deed"] != "forgot":
                continue
            what = str(row["kind"]), str(row["object"])
            at = datetime.fromisoformat(row["at"])
        except (ValueError, KeyError, TypeError):
            raise Invalid(
                f"Line {number} is none of an audit log: give a file that `footnote audit export` "
                "wrote."
            ) from None
        found[what] = max(at, found.get(what, at))
    return found
