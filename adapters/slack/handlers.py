"""Maps events, commands and shortcuts to their handlers; ``deploy/slack-manifest.yaml`` lists
them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from adapters.slack.agent import Pane
from adapters.slack.buttons import RESEARCH_THIS, Buttons
from adapters.slack.calls import Json
from adapters.slack.commands import ASK, FOOTNOTE, Commands
from adapters.slack.home import Home
from adapters.slack.incoming import unescape
from adapters.slack.listener import Listener

# What Slack tells of; each is handled by the ``Handlers`` of its workspace.
EVENTS = (
    "app_mention",
    "message",
    "agent_session_stopped",
    "reaction_added",
    "assistant_thread_started",
    "app_home_opened",
)
COMMANDS = (ASK, FOOTNOTE)
SHORTCUTS = (RESEARCH_THIS,)

EventHandler = Callable[[Json, int], Awaitable[None]]


class Handlers:
    """The handlers of one workspace, by what they handle."""

    def __init__(
        self, listener: Listener, commands: Commands, buttons: Buttons, pane: Pane, home: Home
    ) -> None:
        self._listener = listener
        self._commands = commands
        self._pane = pane
        self._home = home
        self.events: Mapping[str, EventHandler] = {
            "app_mention": listener.mentioned,
            "message": self._said,
            "agent_session_stopped": _once(listener.session_stopped),
            "reaction_added": _once(listener.reacted),
            "assistant_thread_started": _once(self._thread_started),
            "app_home_opened": _once(self._app_opened),
        }
        self.commands: Mapping[str, Callable[[Json], Awaitable[str]]] = {
            ASK: commands.ask,
            FOOTNOTE: self._footnote,
        }
        self.shortcuts: Mapping[str, Callable[[Json], Awaitable[None]]] = {
            RESEARCH_THIS: buttons.research
        }
        self.pressed = buttons.pressed

    # ------------------------------------------------------------ two at once

    async def _said(self, event: Json, retry: int) -> None:
        await self._listener.said(event, retry)
        if event.get("channel_type") == "im" and event.get("thread_ts") and event.get("text"):
            title = unescape(event["text"], {})
            asked = self._pane.asked(event["channel"], event["thread_ts"], title)
            self._listener.ephemeral.later(asked)

    async def _thread_started(self, event: Json) -> None:
        self._listener.ephemeral.later(self._pane.thread_started(event))

    async def _app_opened(self, event: Json) -> None:
        opened = self._home.opened if event.get("tab") == "home" else self._pane.opened
        self._listener.ephemeral.later(opened(event))

    async def _footnote(self, command: Json) -> str:
        self._listener.ephemeral.later(self._commands.footnote(command))
        return ""


def _once(handler: Callable[[Json], Awaitable[None]]) -> EventHandler:
    async def handle(event: Json, retry: int) -> None:
        await handler(event)

    return handle
