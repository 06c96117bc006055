"""Installs the app in workspaces: the scopes it requests, bolt's OAuth flow, and the stored
installations, whose secrets are encrypted.

https://docs.slack.dev/authentication/installing-with-oauth,
https://docs.slack.dev/tools/python-slack-sdk/oauth
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urljoin

import sqlalchemy as sa
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.request.internals import extract_enterprise_id, extract_team_id
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.sqlalchemy import (
    AsyncSQLAlchemyInstallationStore,
    SQLAlchemyInstallationStore,
)
from slack_sdk.oauth.state_store.sqlalchemy import AsyncSQLAlchemyOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.slack.calls import FAILURES, Json, sdk_logger
from adapters.slack.settings import SlackSettings
from bot.core.errors import FootnoteError, InvalidSetting
from bot.core.logs import get_logger
from bot.operation.console_access import console_address
from bot.search.registry import searches_conversations
from bot.storage.database import Database, database_of
from bot.storage.encryption import Seal, Sealed
from bot.storage.tables import slack_bots, slack_installations, slack_oauth_states

ORGANISATION = "E"  # first letter of an organisation's id; a workspace's id begins with T

# The scope to search each kind of channel, and files. They are optional:
# https://docs.slack.dev/reference/methods/assistant.search.context
PUBLIC, FILES = "search:read.public", "search:read.files"
SEARCHED: Mapping[str, str] = {
    "public_channel": PUBLIC,
    "private_channel": "search:read.private",
    "mpim": "search:read.mpim",
    "im": "search:read.im",
}
SEARCH_SCOPES = (*SEARCHED.values(), FILES)
# For the descriptions of public channels, private ones and group messages.
CHANNELS = "channels:read"
READERS = (CHANNELS, "groups:read", "mpim:read")
FOR_USER_GROUPS = "usergroups:read"  # used only if collections name user groups
# The scopes that ``adapters/slack/manifest.yaml`` requests. Slack's page of each method and event
# names its scope: https://docs.slack.dev/reference/methods, https://docs.slack.dev/reference/events.
SCOPES = frozenset(
    [
        *READERS,
        *("channels:history", "groups:history", "im:history", "mpim:history"),
        *("app_mentions:read", "assistant:write", "chat:write", "commands", "files:read"),
        *("im:write", "links:read", "links:write", "reactions:read", "users:read", FOR_USER_GROUPS),
    ]
)


def asked_for(settings: SlackSettings) -> frozenset[str]:
    """Return the scopes requested from a workspace. The search scopes are included only if the
    operator enabled the search of messages, since Slack refuses apps that do not have them."""
    searches = "conversations" in settings.model_fields_set and searches_conversations(settings)
    return SCOPES.union(SEARCH_SCOPES if searches else ())


INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"
STATE_SECONDS = 600  # time to approve the installation in Slack

# Events that end an installation; https://docs.slack.dev/reference/events/tokens_revoked
UNINSTALLED, REVOKED = "app_uninstalled", "tokens_revoked"
ENDINGS = (UNINSTALLED, REVOKED)

# Shown to people in a workspace where the app is not installed.
NOT_HERE = (
    "Footnote is not installed in this workspace any more: one of its admins can install it again."
)

log = get_logger()


def install_url(settings: SlackSettings) -> str:
    """Return the URL at which an admin starts the installation, derived from the settings."""
    return f"{console_address(settings)}{INSTALL_PATH}"


def redirect_url(settings: SlackSettings) -> str:
    """Return the URL to which Slack redirects them; it must be among the app's "Redirect URLs"."""
    return f"{console_address(settings)}{REDIRECT_PATH}"


class Flow(AsyncOAuthFlow):
    """Logs the outcome of an installation, even where bolt does not."""

    async def run_installation(self, code: str) -> Installation | None:
        try:
            return await super().run_installation(code)
        except FAILURES as error:
            log.warning("Slack app not installed: Slack does not answer", error=repr(error))
            return None

    async def store_installation(
        self, request: AsyncBoltRequest, installation: Installation
    ) -> None:
        try:
            await super().store_installation(request, installation)
        except FootnoteError as error:
            log.error("Slack app not installed: it could not be stored", error=str(error))
            raise BoltError(error.sentence) from error
        workspace = workspace_of(
            installation.is_enterprise_install, installation.enterprise_id, installation.team_id
        )
        log.info("Slack app installed", workspace=workspace, by=installation.user_id)


def oauth_flow(
    settings: SlackSettings, client: AsyncWebClient, installations: Installations, states: States
) -> AsyncOAuthFlow:
    """Return bolt's OAuth flow; ``client`` has no token."""
    assert settings.slack_client_secret is not None  # noqa: S101
    return Flow(
        client=client,
        logger=sdk_logger(),
        settings=AsyncOAuthSettings(
            client_id=settings.slack_client_id,
            client_secret=settings.slack_client_secret.get_secret_value(),
            scopes=sorted(asked_for(settings)),
            user_scopes=[],
            # Without it, Slack uses the first of the app's redirect URLs.
            redirect_uri=redirect_url(settings) if settings.public_url else None,
            install_path=INSTALL_PATH,
            install_page_rendering_enabled=False,
            redirect_uri_path=REDIRECT_PATH,
            authorization_url=urljoin(settings.slack_api_url, "/oauth/v2/authorize"),
            installation_store=installations,
            installation_store_bot_only=True,
            state_store=states,
            state_expiration_seconds=STATE_SECONDS,
            logger=sdk_logger(),
        ),
    )


def workspace_of(whole: bool | None, enterprise_id: str | None, team_id: str | None) -> str:
    """Return the id that threads name: the organisation's if all of it installed the app
    (``whole``), or else the team's."""
    return str((enterprise_id if whole or not team_id else team_id) or "")


async def handle_uninstall(installations: Installations, body: Json) -> str:
    """Handle ``app_uninstalled`` and ``tokens_revoked``; return the workspace that lost its
    installation, or "".

    These events come without an authorization and may not say whether a whole organisation is
    meant.
    """
    event = body["event"]
    tokens: Any = event.get("tokens") or {}
    if event["type"] == REVOKED and not tokens.get("bot"):
        return ""  # a person's token, which this app does not use
    # Event times are in whole seconds; no one reinstalls the app within a second.
    at = datetime.fromtimestamp(int(body["event_time"]) + 1, UTC)
    for workspace in filter(None, (extract_team_id(body), extract_enterprise_id(body))):
        if await installations.uninstall(workspace, at):
            log.info("Slack app uninstalled", workspace=workspace)
            return workspace
    return ""


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
    async with database_of(settings) as database:
        yield installations_of(settings, database)


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
