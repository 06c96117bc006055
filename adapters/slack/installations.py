"""Installations of the app in Footnote's database: slack_sdk's own stores, with encrypted secrets.

https://docs.slack.dev/tools/python-slack-sdk/oauth
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import sqlalchemy as sa
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.installation_store.sqlalchemy import (
    AsyncSQLAlchemyInstallationStore,
    SQLAlchemyInstallationStore,
)
from slack_sdk.oauth.state_store.sqlalchemy import AsyncSQLAlchemyOAuthStateStore
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.slack.calls import sdk_logger
from adapters.slack.people import ORGANISATION
from adapters.slack.settings import SlackSettings
from bot.core.errors import InvalidSetting
from bot.storage.database import Database, open_database
from bot.storage.encryption import Seal, Sealed
from bot.storage.postgres import Connecting
from bot.storage.tables import slack_bots, slack_installations, slack_oauth_states

# The columns that are encrypted in the database.
SECRETS = frozenset(
    [
        *("bot_token", "bot_refresh_token", "user_token", "user_refresh_token"),
        "incoming_webhook_url",
    ]
)


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace or organisation with the app: the id that threads use, and its display name."""

    id: str
    name: str


class _Doors:
    """The part of an ``AsyncEngine`` that slack_sdk's stores use, backed by Footnote's database."""

    def __init__(self, database: Database) -> None:
        self.begin = database.urgent_write  # because a browser or an event is waiting
        self.connect = database.read


class Installations(AsyncSQLAlchemyInstallationStore):
    """Stores installations. Methods raise ``StorageUnavailable``, and ``InvalidSetting`` if no key
    decrypts a secret."""

    def __init__(self, client_id: str, database: Database, seal: Seal) -> None:
        super().__init__(
            client_id=client_id,
            engine=cast(AsyncEngine, _Doors(database)),
            logger=sdk_logger(),
        )
        self._database = database
        self._seal = seal
        for table in (self.bots, self.installations):
            for column in table.c:
                if column.name in SECRETS:
                    column.type = Sealed(seal)

    @classmethod
    def build_bots_table(cls, metadata: sa.MetaData, table_name: str) -> sa.Table:
        return slack_bots.to_metadata(metadata)

    @classmethod
    def build_installations_table(cls, metadata: sa.MetaData, table_name: str) -> sa.Table:
        return slack_installations.to_metadata(metadata)

    async def bot_of(self, workspace: str) -> Bot | None:
        """Return the bot of a workspace (T…), or of an organisation that installed the app (E…)."""
        query = (
            self.bots.select()
            .where(self._in(workspace, self.bots), self.bots.c.bot_token.is_not(None))
            .order_by(self.bots.c.installed_at.desc())
            .limit(1)
        )
        async with self._database.read() as db:
            row = (await db.execute(query)).mappings().first()
        return None if row is None else SQLAlchemyInstallationStore.build_bot_entity(row)

    async def places(self) -> Sequence[Place]:
        """Return the workspaces that have the app now, sorted by name."""
        c = slack_bots.c
        query = sa.select(c.enterprise_id, c.enterprise_name, c.team_id, c.team_name).where(
            c.client_id == self.client_id
        )
        async with self._database.read() as db:
            rows = (await db.execute(query.order_by(c.installed_at))).all()
        found = {
            row.team_id or row.enterprise_id: row.team_name or row.enterprise_name for row in rows
        }
        places = [Place(str(id), str(name or id)) for id, name in found.items() if id]
        return sorted(places, key=lambda place: (place.name.casefold(), place.id))

    async def uninstall(self, workspace: str, at: datetime) -> bool:
        """Delete an installation made before ``at``; return False if there is none.

        So a late event about an earlier installation does not delete a newer one.
        """
        bot = await self.bot_of(workspace)
        if bot is not None and bot.installed_at >= at.timestamp():
            return False
        for table in (self.bots, self.installations):
            async with self._database.urgent_write() as db:
                await db.execute(sa.delete(table).where(self._in(workspace, table)))
        return bot is not None

    async def reseal(self) -> None:
        """Encrypt every secret with the first key, so that the other keys can be removed.

        Raises ``InvalidSetting`` if no key decrypts a secret.
        """
        for table in (slack_bots, slack_installations):
            async with self._database.write() as db:
                for id, secrets in await self._secrets(db, table):
                    stale = {
                        name: self._seal.close(self._seal.open(closed))
                        for name, closed in secrets.items()
                        if not self._seal.is_first(closed)
                    }
                    if stale:
                        await db.execute(sa.update(table).where(table.c.id == id).values(stale))

    async def forget_unreadable(self) -> int:
        """Delete the rows that no key decrypts; return how many installed bots that were."""
        forgotten = 0
        for table in (slack_bots, slack_installations):
            async with self._database.write() as db:
                for id, secrets in await self._secrets(db, table):
                    if not all(map(self._opens, secrets.values())):
                        await db.execute(sa.delete(table).where(table.c.id == id))
                        forgotten += table is slack_bots
        return forgotten

    def _opens(self, closed: str) -> bool:
        try:
            self._seal.open(closed)
        except InvalidSetting:
            return False
        return True

    async def _secrets(self, db: Any, table: sa.Table) -> list[tuple[int, dict[str, str]]]:
        """Return the encrypted secrets of each row, by the row's id."""
        columns = [column for column in table.c if column.name in SECRETS]
        query = sa.select(table.c.id, *columns).where(table.c.client_id == self.client_id)
        rows = (await db.execute(query)).mappings().all()
        return [
            (row["id"], {n: row[n] for n in SECRETS if n in row and row[n] is not None})
            for row in rows
        ]

    def _in(self, workspace: str, table: sa.Table) -> sa.ColumnElement[bool]:
        return sa.and_(table.c.client_id == self.client_id, _is_in(workspace, table))


def installations_of(settings: SlackSettings, database: Database) -> Installations:
    """Return the store. Raises ``InvalidSetting`` without an encryption key, or the app's id."""
    if settings.slack_client_id is None:
        raise InvalidSetting("SLACK_CLIENT_ID is not set: only apps with it are installed here.")
    return Installations(settings.slack_client_id, database, Seal(settings.encryption_keys))


@asynccontextmanager
async def open_installations(settings: SlackSettings) -> AsyncIterator[Installations]:
    """Open the installations for a command that needs nothing else from the database."""
    database = await open_database(settings.database, connecting=Connecting.of(settings))
    try:
        yield installations_of(settings, database)
    finally:
        await database.close()


class StoredInstallations:
    """The installations of all apps in the database; see ``bot.service.platform.Installations``."""

    async def count(self, database: Database, workspace: str) -> int:
        """Count the rows that ``forget`` would delete."""
        async with database.read() as db:
            counted = [
                await db.scalar(
                    sa.select(sa.func.count()).select_from(table).where(_is_in(workspace, table))
                )
                for table in (slack_bots, slack_installations)
            ]
        return sum(int(number or 0) for number in counted)

    async def forget(self, database: Database, workspace: str) -> int:
        """Delete a workspace's installations, whichever key encrypted them; return the number of
        rows."""
        async with database.urgent_write() as db:
            gone = [
                await db.execute(sa.delete(table).where(_is_in(workspace, table)))
                for table in (slack_bots, slack_installations)
            ]
        return sum(result.rowcount for result in gone)

    async def forget_unreadable(self, settings: SlackSettings) -> int:
        """See ``Installations.forget_unreadable``."""
        async with open_installations(settings) as installations:
            return await installations.forget_unreadable()


def _is_in(workspace: str, table: sa.Table) -> sa.ColumnElement[bool]:
    if workspace.startswith(ORGANISATION):
        return sa.and_(table.c.enterprise_id == workspace, table.c.team_id.is_(None))
    return table.c.team_id == workspace


class States(AsyncSQLAlchemyOAuthStateStore):
    """OAuth states issued to browsers: each is valid once, for ``seconds``."""

    def __init__(self, seconds: int, database: Database) -> None:
        super().__init__(
            expiration_seconds=seconds,
            engine=cast(AsyncEngine, _Doors(database)),
            logger=sdk_logger(),
        )
        self._database = database

    @classmethod
    def build_oauth_states_table(cls, metadata: sa.MetaData, table_name: str) -> sa.Table:
        return slack_oauth_states.to_metadata(metadata)

    async def async_issue(self, *args: Any, **kwargs: Any) -> str:
        late = self.oauth_states.c.expire_at <= _now()
        async with self._database.urgent_write() as db:  # deletes the expired states too
            await db.execute(self.oauth_states.delete().where(late))
        return await super().async_issue(*args, **kwargs)

    async def async_consume(self, state: str) -> bool:
        """Use up a state, in one statement, so that two browsers cannot both use it."""
        c = self.oauth_states.c
        used = self.oauth_states.delete().where(c.state == state, c.expire_at > _now())
        async with self._database.urgent_write() as db:
            return (await db.execute(used.returning(c.id))).first() is not None


def _now() -> datetime:
    """Return the time as slack_sdk stores it: naive, in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)
