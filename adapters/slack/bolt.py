"""The bolt app, which passes each of Slack's events to the ``Inbox`` of its workspace.

Bolt waits for a listener to end before it responds (``process_before_response``). If the listener
raises, bolt responds with 500, or in Socket Mode not at all, and Slack delivers the event again. An
unreadable payload is acknowledged, because it would come again unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.buttons import CHECK_FACTS, CONTROLS, RESEARCH_THIS, Buttons
from adapters.slack.calls import Json, sdk_logger
from adapters.slack.commands import ASK, FOOTNOTE, Commands
from adapters.slack.deferred import EphemeralMessages, SlowWork
from adapters.slack.format import escaped
from adapters.slack.home import Home, Pane
from adapters.slack.incoming import MALFORMED, note, unescape
from adapters.slack.listener import Listener, Me
from adapters.slack.places import SHARED
from adapters.slack.teams import Team
from bot.core.errors import FootnoteError, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.settings import Settings
from bot.search.registry import CONVERSATIONS, configured_names
from bot.service.reception import Reception

RETRY_HEADER = "x-slack-retry-num"

# The events of Slack; ``deploy/slack-manifest.yaml`` lists them, an ``Inbox`` handles them.
EVENTS = (
    "app_mention",
    "message",
    "agent_session_stopped",
    "reaction_added",
    "assistant_thread_started",
    "app_home_opened",
)
COMMANDS = (ASK, FOOTNOTE)
SHORTCUTS = (RESEARCH_THIS, CHECK_FACTS)
PRESS = "press"  # a press on a control

EventHandler = Callable[[Json, int], Awaitable[None]]
InboxOf = Callable[[AsyncBoltContext], Awaitable["Inbox"]]

log = get_logger()


class Inbox:
    """The handlers of one workspace, by the name of the event or control they handle.

    Close it with ``aclose``.
    """

    def __init__(self, me: Me, team: Team, reception: Reception, settings: Settings) -> None:
        self.me = me
        self.team = team
        self._ephemeral = EphemeralMessages(team.calls)
        self._slow_work = SlowWork(self._ephemeral)
        self._listener = Listener(me, reception, team.calls, team.people, self._ephemeral)
        self._commands = Commands(
            self._listener, self._slow_work, (*configured_names(settings), CONVERSATIONS)
        )
        buttons = Buttons(self._listener, self._slow_work, team.calls)
        self._pane = Pane(team.calls, team.people)
        self._home = Home(me.team, settings, reception, team.calls, team.people)
        self.events: Mapping[str, EventHandler] = {
            "app_mention": self._listener.handle_mention,
            "message": self._said,
            "agent_session_stopped": _once(self._listener.session_stopped),
            "reaction_added": _once(self._listener.handle_reaction),
            "assistant_thread_started": _once(self._thread_started),
            "app_home_opened": _once(self._app_opened),
        }
        self.commands: Mapping[str, Callable[[Json], Awaitable[str]]] = {
            ASK: self._commands.ask,
            FOOTNOTE: self._footnote,
        }
        self.interactions: Mapping[str, Callable[[Json], Awaitable[None]]] = {
            RESEARCH_THIS: buttons.research,
            CHECK_FACTS: buttons.check,
            PRESS: buttons.pressed,
        }

    async def aclose(self) -> None:
        await self._slow_work.aclose()
        await self._ephemeral.aclose()

    async def _said(self, event: Json, retry: int) -> None:
        await self._listener.handle_message(event, retry)
        if event.get("channel_type") == "im" and event.get("thread_ts") and event.get("text"):
            title = unescape(event["text"], {})
            self._ephemeral.later(
                self._pane.name_thread(event["channel"], event["thread_ts"], title)
            )

    async def _thread_started(self, event: Json) -> None:
        self._ephemeral.later(self._pane.thread_started(event))

    async def _app_opened(self, event: Json) -> None:
        opened = self._home.home_opened if event.get("tab") == "home" else self._pane.home_opened
        self._ephemeral.later(opened(event))

    async def _footnote(self, command: Json) -> str:
        self._ephemeral.later(self._commands.footnote(command))
        return ""


def _once(handler: Callable[[Json], Awaitable[None]]) -> EventHandler:
    async def handle(event: Json, retry: int) -> None:
        await handler(event)

    return handle


# ---------------------------------------------------------------- bolt


def bolt_app(
    client: AsyncWebClient, signing_secret: str, inbox_of: InboxOf, **authorizing: Any
) -> AsyncApp:
    """Return the bolt app with all listeners; ``authorizing`` are bolt's arguments for tokens."""
    client = copy(client)
    client.token = None  # bolt gets a token for each workspace
    app = AsyncApp(
        name="footnote",
        logger=sdk_logger(),
        client=client,
        signing_secret=signing_secret,
        process_before_response=True,
        raise_error_for_unhandled_request=True,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
        **authorizing,
    )
    for name in EVENTS:
        app.event(name)(_event_listener(inbox_of, name))
    for name in COMMANDS:
        app.command(name)(_command_listener(inbox_of, name))
    for name in SHORTCUTS:
        app.message_shortcut(name)(_interaction_listener(inbox_of, name))
    app.action(CONTROLS)(_interaction_listener(inbox_of, PRESS))
    app.error(_failed)
    return app


def ignore_the_rest(app: AsyncApp) -> None:
    """Acknowledge events beyond the manifest, or Slack would deliver them again."""
    app.event(re.compile(".*"))(_ignored)


def _event_listener(inbox_of: InboxOf, name: str) -> Callable[..., Awaitable[None]]:
    async def listen(
        event: dict[str, Any], body: dict[str, Any], request: Any, context: AsyncBoltContext
    ) -> None:
        retry = (request.headers.get(RETRY_HEADER) or ["0"])[0]
        inbox = await inbox_of(context)
        # Only the envelope says whether the channel is shared with other organisations.
        told = {**event, SHARED: body[SHARED]} if SHARED in body else event
        await inbox.events[name](told, int(retry) if retry.isdecimal() else 0)

    return listen


def _command_listener(inbox_of: InboxOf, name: str) -> Callable[..., Awaitable[None]]:
    async def listen(command: dict[str, Any], ack: Any, context: AsyncBoltContext) -> None:
        text = await (await inbox_of(context)).commands[name](command)
        if text:
            await ack(text=escaped(text), response_type="ephemeral")
        else:
            await ack()

    return listen


def _interaction_listener(inbox_of: InboxOf, name: str) -> Callable[..., Awaitable[None]]:
    async def listen(body: dict[str, Any], ack: Any, context: AsyncBoltContext) -> None:
        await (await inbox_of(context)).interactions[name](body)
        await ack()

    return listen


async def _ignored() -> None:
    """Acknowledge an event without a handler."""


async def _failed(error: Exception) -> BoltResponse | None:
    """Log an error. Acknowledge an unreadable payload; for other errors bolt responds with 500."""
    if isinstance(error, (*MALFORMED, BoltUnhandledRequestError)):
        note(error)
        return BoltResponse(status=200, body="")
    if isinstance(error, StorageUnavailable):  # ``Outages`` logs it once for all events
        log.info("Slack event not taken, it will come again", error=str(error))
    elif isinstance(error, FootnoteError):
        log.warning("Slack event not taken, it will come again", error=str(error))
    else:
        log.error("Slack event broke", error=repr(error))
        log.debug("Slack event broke here", exc_info=error)
    return None
