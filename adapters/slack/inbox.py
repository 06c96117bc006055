"""Everything that listens in one workspace."""

from __future__ import annotations

from adapters.slack.agent import Pane
from adapters.slack.buttons import Buttons
from adapters.slack.commands import Commands
from adapters.slack.home import Home
from adapters.slack.listener import Listener, Me
from adapters.slack.patience import Patience
from adapters.slack.teams import Team
from adapters.slack.whispers import Whispers
from adapters.slack.wiring import Wiring
from bot.conversing.reception import Reception
from bot.search.registry import configured_names
from bot.settings import Settings


class Inbox:
    """Close it with ``aclose``."""

    def __init__(self, me: Me, team: Team, reception: Reception, settings: Settings) -> None:
        self.me = me
        self.team = team
        self._whispers = Whispers(team.calls)
        self._patience = Patience(self._whispers)
        listener = Listener(me, reception, team.calls, team.people, self._whispers)
        self.wiring = Wiring(
            listener,
            Commands(listener, self._patience, configured_names(settings)),
            Buttons(listener, self._patience, team.calls),
            Pane(team.calls, team.people),
            Home(me.team, settings, reception, team.calls, team.people),
        )

    async def aclose(self) -> None:
        await self._patience.aclose()
        await self._whispers.aclose()
