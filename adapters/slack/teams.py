"""The workspaces Footnote is in: what it takes to speak in one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Protocol

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import Calls, Json, Timing
from adapters.slack.guests import ORGANISATION, Home
from adapters.slack.people import People
from adapters.slack.user_groups import UserGroups
from bot.errors import FootnoteError, PostRefused
from bot.messages import Message


class NotInstalled(PostRefused):
    """The app is not, or no longer, installed there."""

    def __init__(self, workspace: str) -> None:
        super().__init__(
            "Footnote is not installed in that Slack workspace: one of its admins can install it.",
            detail=workspace,
        )


class Team:
    """One workspace, or an organisation that installed the app for all of its workspaces.

    What was learned there, and the pace of its calls, is shared by all who speak in it. Close it
    with ``aclose``.
    """

    def __init__(self, client: AsyncWebClient, timing: Timing) -> None:
        self.calls = Calls(client, timing)
        self.people = People(self.calls)
        self.user_groups = UserGroups(self.calls)
        self._identity: Json = {}  # the bot's own, once it is known

    async def aclose(self) -> None:
        await self.people.aclose()

    async def bot_user(self, *, patience: float | None = None) -> str:
        """The bot's own user id. Raises as ``Calls.patiently`` does."""
        return str((await self._told(patience))["user_id"])

    async def _home(self) -> Home:
        """The workspace in which Footnote is installed."""
        told = await self._told(self.calls.timing.reading)
        enterprise = str(told.get("enterprise_id") or "")
        whole = bool(told.get("is_enterprise_install"))
        return Home(enterprise if whole else str(told["team_id"]), enterprise)

    async def _told(self, patience: float | None) -> Json:
        if not self._identity:
            self._identity = await self.calls.patiently("auth.test", patience=patience)
        return self._identity

    async def workspace_of_author(self, message: Message) -> str:
        """The id of the workspace that a message's author belongs to, which need not be where
        Footnote is installed; that one where Slack does not tell in time."""
        installed = message.thread.workspace
        try:
            async with asyncio.timeout(self.calls.timing.first_sign):
                return (await self.people.person(message.author.id)).team or installed
        except (FootnoteError, TimeoutError):
            return installed

    async def groups_of_author(self, message: Message, among: Collection[str]) -> frozenset[str]:
        """The user groups among ``among`` to which a message's author belongs."""
        within = ""
        if message.thread.workspace.startswith(ORGANISATION):
            within = await self.workspace_of_author(message)
        return await self.user_groups.held(message.author.id, among, within)

    async def is_guest(self, message: Message) -> bool:
        """Whether a message's author comes from outside. Raises ``PlatformUnavailable``."""
        try:
            home = await self._home()
            return bool(home.is_guest(await self.people.person(message.author.id)))
        except PostRefused:
            return True  # somebody whom Slack does not show


class Teams(Protocol):
    """Every workspace that there is. Close it with ``aclose``."""

    async def of(self, workspace: str) -> Team:
        """The one whose threads name ``workspace``.

        Raises ``NotInstalled``, ``PlatformUnavailable`` and ``StorageUnavailable``.
        """
        ...

    async def aclose(self) -> None: ...


class OneTeam:
    """The only workspace: that of SLACK_BOT_TOKEN."""

    def __init__(self, client: AsyncWebClient, timing: Timing) -> None:
        self.team = Team(client, timing)

    async def of(self, workspace: str) -> Team:
        return self.team

    async def aclose(self) -> None:
        await self.team.aclose()
