"""The workspaces Footnote is in: what it takes to speak in one of them."""

from __future__ import annotations

from typing import Protocol

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import Calls, Timing
from adapters.slack.identity import Identity
from adapters.slack.people import People
from adapters.slack.user_groups import UserGroups
from bot.errors import FootnoteError, PostRefused
from bot.messages import Message

ORGANISATION = "E"  # how the id of a whole organisation begins; a workspace's begins with T


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
        self.identity = Identity(self.calls)
        self.people = People(self.calls)
        self.user_groups = UserGroups(self.calls)

    async def aclose(self) -> None:
        await self.people.aclose()

    async def home_of(self, message: Message) -> str:
        """The id of the workspace that a message's author belongs to."""
        workspace = message.thread.workspace
        if not workspace.startswith(ORGANISATION):
            return workspace
        try:
            return (await self.people.person(message.author.id)).team or workspace
        except FootnoteError:
            return workspace


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
