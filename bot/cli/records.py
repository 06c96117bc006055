"""Stored data as commands open and remove it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict

from adapters.terminal.messages import this_user
from bot.cli.output import print_all, table
from bot.core.errors import Invalid
from bot.core.messages import TERMINAL
from bot.core.settings import Settings
from bot.service.deletion import Forgetter
from bot.storage.audit_log import Actor, act_as
from bot.storage.database import database_of
from bot.storage.removal import Removed
from bot.storage.store import Store

TITLES = {
    "threads": "threads",
    "messages": "messages",
    "runs": "runs with their answers",
    "steps": "steps",
    "pages": "pages that nothing else rests on",
    "feedback": "verdicts on answers",
    "spending": "daily sums of spending",
    "rules": "channel rules",
    "facts": "facts about the workspace",
    "installations": "installations",
    "audit": "rows of the audit log",
    "pseudonyms": "rows of the audit log in which a pseudonym takes the person's place",
}


@asynccontextmanager
async def open_records(settings: Settings) -> AsyncIterator[Store]:
    """Open the store for the block. Raises ``StorageUnavailable``."""
    act_as(this_person())
    async with database_of(settings) as database:
        yield Store(database)


def this_person() -> Actor:
    return Actor(TERMINAL, "local", this_user())


def forgetter_of(store: Store) -> Forgetter:
    """Return a forgetter for a process that does not work on runs; those that do find in the store
    which runs to stop."""
    return Forgetter(store.database, store.request_stop)


def print_removed(removed: Removed, title: str) -> None:
    """Print the numbers of rows that were, or would be, deleted."""
    print(title)  # noqa: T201
    counts = [(f"{count:,}", TITLES[kind]) for kind, count in asdict(removed).items() if count]
    print_all([table(("", ""), counts)])


def platform_and_id(given: str) -> tuple[str, str]:
    """Split an argument such as ``slack:U0123ABC``. Raises ``Invalid``."""
    platform, _, id = given.partition(":")
    if not id:
        raise Invalid(f"{given} is not a platform and id: write it like slack:U0123ABC.")
    return platform, id
