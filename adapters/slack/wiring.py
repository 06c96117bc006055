"""Which event, command, shortcut and button goes where; ``deploy/slack-manifest.yaml`` lists them.

Bolt runs a listener to its end before it answers (``process_before_response``): what raises is
answered with 500, or by Socket Mode not at all, and so is delivered again by Slack. What cannot be
read is acknowledged: it would come again as it is.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import actions
from adapters.slack.agent import Pane
from adapters.slack.buttons import RESEARCH_THIS, Buttons
from adapters.slack.calls import Json
from adapters.slack.client import sdk_logger
from adapters.slack.commands import ASK, FOOTNOTE, Commands
from adapters.slack.format import escaped
from adapters.slack.home import Home
from adapters.slack.incoming import unescape
from adapters.slack.listener import Listener
from adapters.slack.malformed import MALFORMED, note
from bot.errors import FootnoteError

RETRY_HEADER = "x-slack-retry-num"

EventHandler = Callable[[Json, int], Awaitable[None]]

log = structlog.get_logger(__name__)


class Wiring:
    """The handlers by what they handle, and the bolt app that calls them."""

    def __init__(
        self, listener: Listener, commands: Commands, buttons: Buttons, pane: Pane, home: Home
    ) -> None:
        self._listener = listener
        self._commands = commands
        self._buttons = buttons
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

    def app(self, client: AsyncWebClient, signing_secret: str, bot: AuthorizeResult) -> AsyncApp:
        """Bolt with every listener; ``bot`` is what auth.test told at the start."""

        async def authorize() -> AuthorizeResult:
            return bot  # asking Slack again would be on the way of an acknowledgement

        app = AsyncApp(
            name="footnote",
            logger=sdk_logger(),
            # Without its token, which bolt is given by ``authorize``.
            client=AsyncWebClient(
                base_url=client.base_url, session=client.session, logger=client.logger
            ),
            signing_secret=signing_secret,
            authorize=authorize,
            process_before_response=True,
            raise_error_for_unhandled_request=True,
            attaching_function_token_enabled=False,
            attaching_conversation_kwargs_enabled=False,
        )
        for name, handler in self.events.items():
            app.event(name)(self._event_listener(handler))
        # What was subscribed to beyond the manifest is acknowledged, or it would come again.
        app.event(re.compile(".*"))(_ignored)
        for name, answer in self.commands.items():
            app.command(name)(self._command_listener(answer))
        for name, take in self.shortcuts.items():
            app.message_shortcut(name)(self._press_listener(take))
        app.action(actions.ANY)(self._press_listener(self._buttons.pressed))
        app.error(_failed)
        return app

    def _event_listener(self, handler: EventHandler) -> Callable[..., Awaitable[None]]:
        async def listen(event: dict[str, Any], request: Any) -> None:
            retry = (request.headers.get(RETRY_HEADER) or ["0"])[0]
            await handler(event, int(retry) if retry.isdecimal() else 0)

        return listen

    def _command_listener(
        self, answer: Callable[[Json], Awaitable[str]]
    ) -> Callable[..., Awaitable[None]]:
        async def listen(command: dict[str, Any], ack: Any) -> None:
            text = await answer(command)
            if text:
                await ack(text=escaped(text), response_type="ephemeral")
            else:
                await ack()

        return listen

    def _press_listener(
        self, take: Callable[[Json], Awaitable[None]]
    ) -> Callable[..., Awaitable[None]]:
        async def listen(body: dict[str, Any], ack: Any) -> None:
            await take(body)
            await ack()

        return listen

    # ------------------------------------------------------------ two at once

    async def _said(self, event: Json, retry: int) -> None:
        await self._listener.said(event, retry)
        if event.get("channel_type") == "im" and event.get("thread_ts") and event.get("text"):
            title = unescape(event["text"], {})
            asked = self._pane.asked(event["channel"], event["thread_ts"], title)
            self._listener.whispers.later(asked)

    async def _thread_started(self, event: Json) -> None:
        self._listener.whispers.later(self._pane.thread_started(event))

    async def _app_opened(self, event: Json) -> None:
        opened = self._home.opened if event.get("tab") == "home" else self._pane.opened
        self._listener.whispers.later(opened(event))

    async def _footnote(self, command: Json) -> str:
        self._listener.whispers.later(self._commands.footnote(command))
        return ""


def _once(handler: Callable[[Json], Awaitable[None]]) -> EventHandler:
    async def handle(event: Json, retry: int) -> None:
        await handler(event)

    return handle


async def _ignored() -> None:
    """An event nobody listens to."""


async def _failed(error: Exception) -> BoltResponse | None:
    """The log, and the acknowledgement of what cannot be read; else bolt answers 500 by itself."""
    if isinstance(error, (*MALFORMED, BoltUnhandledRequestError)):
        note(error)
        return BoltResponse(status=200, body="")
    if isinstance(error, FootnoteError):
        log.warning("Slack event not taken, it will come again", error=str(error))
    else:
        log.error("Slack event broke", error=repr(error))
        log.debug("Slack event broke here", exc_info=error)
    return None
