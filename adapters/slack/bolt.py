"""The bolt app: what Slack sends, handed to the handlers of the workspace it came from.

Bolt runs a listener to its end before it answers (``process_before_response``): what raises is
answered with 500, or by Socket Mode not at all, and so is delivered again by Slack. What cannot be
read is acknowledged: it would come again as it is.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import actions
from adapters.slack.client import sdk_logger
from adapters.slack.format import escaped
from adapters.slack.handlers import COMMANDS, EVENTS, SHORTCUTS, Handlers
from adapters.slack.incoming import SHARED
from adapters.slack.malformed import MALFORMED, note
from bot.errors import FootnoteError, StorageUnavailable
from bot.logs import get_logger

RETRY_HEADER = "x-slack-retry-num"

HandlersOf = Callable[[AsyncBoltContext], Awaitable[Handlers]]
Listener = Callable[..., Awaitable[None]]

log = get_logger()


def bolt_app(
    client: AsyncWebClient, signing_secret: str, handlers_of: HandlersOf, **authorizing: Any
) -> AsyncApp:
    """Bolt with every listener; ``authorizing`` are the arguments that say for whom it speaks."""
    app = AsyncApp(
        name="footnote",
        logger=sdk_logger(),
        # Without a token, which bolt is given for each workspace.
        client=AsyncWebClient(
            base_url=client.base_url, session=client.session, logger=client.logger
        ),
        signing_secret=signing_secret,
        process_before_response=True,
        raise_error_for_unhandled_request=True,
        attaching_function_token_enabled=False,
        attaching_conversation_kwargs_enabled=False,
        **authorizing,
    )
    for name in EVENTS:
        app.event(name)(_event_listener(handlers_of, name))
    for name in COMMANDS:
        app.command(name)(_command_listener(handlers_of, name))
    for name in SHORTCUTS:
        app.message_shortcut(name)(_shortcut_listener(handlers_of, name))
    app.action(actions.ANY)(_press_listener(handlers_of))
    app.error(_failed)
    return app


def ignore_the_rest(app: AsyncApp) -> None:
    """Acknowledge what was subscribed to beyond the manifest, or it would come again."""
    app.event(re.compile(".*"))(_ignored)


def _event_listener(handlers_of: HandlersOf, name: str) -> Listener:
    async def listen(
        event: dict[str, Any], body: dict[str, Any], request: Any, context: AsyncBoltContext
    ) -> None:
        retry = (request.headers.get(RETRY_HEADER) or ["0"])[0]
        handlers = await handlers_of(context)
        # The envelope alone tells whether the channel is shared with other organisations.
        told = {**event, SHARED: body[SHARED]} if SHARED in body else event
        await handlers.events[name](told, int(retry) if retry.isdecimal() else 0)

    return listen


def _command_listener(handlers_of: HandlersOf, name: str) -> Listener:
    async def listen(command: dict[str, Any], ack: Any, context: AsyncBoltContext) -> None:
        text = await (await handlers_of(context)).commands[name](command)
        if text:
            await ack(text=escaped(text), response_type="ephemeral")
        else:
            await ack()

    return listen


def _shortcut_listener(handlers_of: HandlersOf, name: str) -> Listener:
    async def listen(body: dict[str, Any], ack: Any, context: AsyncBoltContext) -> None:
        await (await handlers_of(context)).shortcuts[name](body)
        await ack()

    return listen


def _press_listener(handlers_of: HandlersOf) -> Listener:
    async def listen(body: dict[str, Any], ack: Any, context: AsyncBoltContext) -> None:
        await (await handlers_of(context)).pressed(body)
        await ack()

    return listen


async def _ignored() -> None:
    """An event nobody listens to."""


async def _failed(error: Exception) -> BoltResponse | None:
    """The log, and the acknowledgement of what cannot be read; else bolt answers 500 by itself."""
    if isinstance(error, (*MALFORMED, BoltUnhandledRequestError)):
        note(error)
        return BoltResponse(status=200, body="")
    if isinstance(error, StorageUnavailable):  # told by ``Outages``, once for all
        log.info("Slack event not taken, it will come again", error=str(error))
    elif isinstance(error, FootnoteError):
        log.warning("Slack event not taken, it will come again", error=str(error))
    else:
        log.error("Slack event broke", error=repr(error))
        log.debug("Slack event broke here", exc_info=error)
    return None
