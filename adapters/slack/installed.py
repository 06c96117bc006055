"""The workspaces that installed the app: each with its own token, known from the database only.

So a poster works in any process. What was looked up is used for ``KNOWN_SECONDS``: nobody asks the
database, let alone Slack, on the way of every acknowledgement.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from cachetools import TTLCache
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import FAILURES, Timing
from adapters.slack.installations import Installations
from adapters.slack.teams import NotInstalled, Team
from bot.conversing.background_tasks import BackgroundTasks
from bot.errors import InvalidSetting, PlatformUnavailable
from bot.logs import get_logger

KNOWN_SECONDS = 60.0
WORKSPACES_KNOWN = 10_000
ROTATION_MINUTES = 120  # before a token expires it is exchanged; it lasts twelve hours
URGENT_SECONDS = 300.0  # less than that left: it is exchanged before anything is said with it

log = get_logger()


@dataclass(frozen=True, slots=True)
class Installed:
    """An installation, and the bot's identity there."""

    workspace: str
    bot_user: str
    bot_id: str
    enterprise: str  # of which the workspace is a part, or ""
    team: Team = field(repr=False)


class InstalledTeams:
    """See ``Teams``."""

    def __init__(
        self,
        store: Installations,
        rotator: AsyncTokenRotator,
        client: AsyncWebClient,
        timing: Timing,
        known_seconds: float = KNOWN_SECONDS,
    ) -> None:
        """``client`` has no token: the clients of the workspaces are made like it."""
        self._store = store
        self._rotator = rotator
        self._client = client
        self._timing = timing
        self._known: TTLCache[str, Installed] = TTLCache(WORKSPACES_KNOWN, known_seconds)
        self._teams: dict[str, Team] = {}
        self._looking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._rotating: set[str] = set()
        self._background = BackgroundTasks("slack")

    async def aclose(self) -> None:
        await self._background.aclose()
        for team in self._teams.values():
            await team.aclose()

    async def of(self, workspace: str) -> Team:
        try:
            return (await self.installed(workspace)).team
        except InvalidSetting as error:  # a key is missing: it may be put back
            raise PlatformUnavailable(error.sentence, detail=error.detail) from error

    async def installed(self, workspace: str) -> Installed:
        """Raises as ``of`` does, and ``InvalidSetting`` when its token cannot be opened."""
        known: Installed | None = self._known.get(workspace)
        if known is None:
            lock = self._looking.setdefault(workspace, asyncio.Lock())
            async with lock:
                known = self._known.get(workspace) or await self._look_up(workspace)
        return known

    async def forget(self, workspace: str) -> None:
        """The app was uninstalled there."""
        self._known.pop(workspace, None)
        if (team := self._teams.pop(workspace, None)) is not None:
            await team.aclose()

    async def _look_up(self, workspace: str) -> Installed:
        bot = await self._store.bot_of(workspace)
        if bot is None:
            await self.forget(workspace)
            raise NotInstalled(workspace)
        bot = await self._with_time_left(workspace, bot)
        team = self._teams.get(workspace)
        if team is None:
            team = self._teams[workspace] = Team(self._client, self._timing)
        team.calls.client.token = bot.bot_token
        enterprise = bot.enterprise_id or ""
        known = Installed(workspace, bot.bot_user_id, bot.bot_id, enterprise, team)
        self._known[workspace] = known
        return known

    # ------------------------------------------------------------ tokens that expire

    async def _with_time_left(self, workspace: str, bot: Bot) -> Bot:
        """The bot with a token that is good for a while; a better one is fetched meanwhile.

        https://docs.slack.dev/authentication/using-token-rotation
        """
        if bot.bot_token_expires_at is None or bot.bot_refresh_token is None:
            return bot
        left = bot.bot_token_expires_at - time.time()
        if left > ROTATION_MINUTES * 60 or workspace in self._rotating:
            return bot
        if left > URGENT_SECONDS:
            self._background.later(self._rotate(workspace, bot))
            return bot
        return await self._rotate(workspace, bot)

    async def _rotate(self, workspace: str, bot: Bot) -> Bot:
        """Exchange the token. Raises ``PlatformUnavailable`` and ``StorageUnavailable``."""
        self._rotating.add(workspace)
        try:
            fresh = await self._exchanged(workspace, bot)
        finally:
            self._rotating.discard(workspace)
        if workspace in self._teams:
            self._teams[workspace].calls.client.token = fresh.bot_token
        return fresh

    async def _exchanged(self, workspace: str, bot: Bot) -> Bot:
        try:
            fresh = await self._rotator.perform_bot_token_rotation(
                bot=bot, minutes_before_expiration=ROTATION_MINUTES
            )
        except SlackTokenRotationError as error:
            # A refresh token is good once: another process may have been faster.
            stored = await self._store.bot_of(workspace)
            if stored is None or stored.bot_token == bot.bot_token:
                log.warning("Slack token not refreshed", workspace=workspace, error=_code(error))
            return stored or bot
        except FAILURES as error:
            raise PlatformUnavailable(
                "Slack does not answer: the answer is kept and posted when it does.",
                detail=f"token of {workspace}: {type(error).__name__}",
            ) from error
        if fresh is None:
            return bot
        await self._store.async_save_bot(fresh)
        return fresh


def _code(error: SlackTokenRotationError) -> str:
    told = getattr(error.api_error.response, "data", None)
    return str(told.get("error", "")) if isinstance(told, dict) else ""
