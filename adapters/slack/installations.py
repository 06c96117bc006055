"""Installations of the app in Footnote's database: slack_sdk's own stores, with every secret
encrypted.

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
from bot.errors import InvalidSetting
from bot.storage.connecting import Connecting
from bot.storage.database import Database, open_database
from bot.storage.encryption import Seal, Sealed
from bot.storage.installations import slack_bots, slack_installations, slack_oauth_states

# The columns nobody may read in the database.
SECRETS = frozenset(
    [
        *("bot_token", "bot_refresh_token", "user_token", "user_refresh_token"),
        "incoming_webhook_url",
    ]
)


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace or organisation with the app: the id that threads name, and the name people
    know."""

    id: str
    name: str


class _Doors:
    """The part of an ``AsyncEngine`` that slack_sdk's stores use, backed by Footnote's database."""

    def __init__(self, database: Database) -> None:
        self.begin = database.urgent_write  # a browser or an event waits for it
        self.connect = database.read


class Installations(AsyncSQLAlchemyInstallationStore):
    """Methods raise ``StorageUnavailable``, and ``InvalidSetting`` for what no key opens."""

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
        """The bot of a workspace (T…), or of an organisation that installed the app (E…)."""
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
        """The workspaces that have the app now, by name."""
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
        """Delete an installation that was made before ``at``; False where there is none.

        What Slack tells late of an earlier installation leaves a newer one alone.
        """
        bot = await self.bot_of(workspace)
        if bot is not None and bot.installed_at >= at.timestamp():
            return False
        for table in (self.bots, self.installations):
            async with self._database.urgent_write() as db:
                await db.execute(sa.delete(table).where(self._in(workspace, table)))
        return bot is not None

    async def reseal(self) -> None:
        """Close every secret with the first key, so that the other keys can be given up.

        Raises ``InvalidSetting`` for a secret that no key opens.
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
        """Delete what no key opens; how many installed bots that were."""
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
        """The secrets of each row, as they are stored; by the row's id."""
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
    """Raises ``InvalidSetting`` without a key, or without the app's id."""
    if settings.slack_client_id is None:
        raise InvalidSetting("SLACK_CLIENT_ID is not set: only apps with it are installed here.")
    return Installations(settings.slack_client_id, database, Seal(settings.encryption_keys))


@asynccontextmanager
async def opened(settings: SlackSettings) -> AsyncIterator[Installations]:
    """The installations, for a command that needs nothing else of the database."""
    database = await open_database(settings.database, connecting=Connecting.of(settings))
    try:
        yield installations_of(settings, database)
    finally:
        await database.close()


class StoredInstallations:
    """Every app's installations in the database; see ``bot.platform.Installations``."""

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
        """Delete the installations in a workspace, whatever key sealed them; how many rows."""
        async with database.urgent_write() as db:
            gone = [
                await db.execute(sa.delete(table).where(_is_in(workspace, table)))
                for table in (slack_bots, slack_installations)
            ]
        return sum(result.rowcount for result in gone)

    async def forget_unreadable(self, settings: SlackSettings) -> int:
        """See ``Installations.forget_unreadable``."""
        async with opened(settings) as installations:
            return await installations.forget_unreadable()


def _is_in(workspace: str, table: sa.Table) -> sa.ColumnElement[bool]:
    if workspace.startswith(ORGANISATION):
        return sa.and_(table.c.enterprise_id == workspace, table.c.team_id.is_(None))
    return table.c.team_id == workspace


class States(AsyncSQLAlchemyOAuthStateStore):
    """OAuth states that were issued to browsers: each is valid once, for ``seconds``."""

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
        async with self._database.urgent_write() as db:  # or they would pile up
            await db.execute(self.oauth_states.delete().where(late))
        return await super().async_issue(*args, **kwargs)

    async def async_consume(self, state: str) -> bool:
        """In one statement, so that two browsers at once cannot both use it."""
        c = self.oauth_states.c
        used = self.oauth_states.delete().where(c.state == state, c.expire_at > _now())
        async with self._database.urgent_write() as db:
            return (await db.execute(used.returning(c.id))).first() is not None


def _now() -> datetime:
    """As slack_sdk writes moments: in UTC, without saying so."""
    return datetime.now(UTC).replace(tzinfo=None)
