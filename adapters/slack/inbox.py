"""Everything that listens in one workspace."""

from __future__ import annotations

from adapters.slack.agent import Pane
from adapters.slack.buttons import Buttons
from adapters.slack.commands import Commands
from adapters.slack.ephemeral import EphemeralMessages
from adapters.slack.handlers import Handlers
from adapters.slack.home import Home
from adapters.slack.listener import Listener, Me
from adapters.slack.slow_work import SlowWork
from adapters.slack.teams import Team
from bot.conversing.reception import Reception
from bot.search.registry import configured_names
from bot.settings import Settings


class Inbox:
    """Close it with ``aclose``."""

    def __init__(self, me: Me, team: Team, reception: Reception, settings: Settings) -> None:
        self.me = me
        self.team = team
        self._ephemeral = EphemeralMessages(team.calls)
        self._slow_work = SlowWork(self._ephemeral)
        listener = Listener(me, reception, team.calls, team.people, self._ephemeral)
        self.handlers = Handlers(
            listener,
            Commands(listener, self._slow_work, configured_names(settings)),
            Buttons(listener, self._slow_work, team.calls),
            Pane(team.calls, team.people),
            Home(me.team, settings, reception, team.calls, team.people),
        )

    async def aclose(self) -> None:
        await self._slow_work.aclose()
        await self._ephemeral.aclose()
