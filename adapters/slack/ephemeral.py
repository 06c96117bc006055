"""Ephemeral messages to one person: why a question is refused, that something stopped."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.slack.calls import Calls, Json, Refusal
from adapters.slack.format import escaped
from bot.conversing.background_tasks import BackgroundTasks
from bot.errors import PlatformUnavailable, PostRefused
from bot.logs import get_logger

PATIENCE_SECONDS = 60.0  # a private message that comes later than that only confuses
LAST_SECONDS = 1.0  # that ephemeral get when Footnote ends
# Errors where no ephemeral message is possible: https://docs.slack.dev/reference/methods/chat.postEphemeral
CLOSED_PLACES = frozenset(
    {"channel_not_found", "not_in_channel", "user_not_in_channel", "is_archived"}
)

log = get_logger()


@dataclass(frozen=True, slots=True)
class Recipient:
    """The recipient of an ephemeral message.

    ``thread`` is the timestamp a thread is known by, or empty. With a ``response_url`` the message
    reaches places that Footnote is no member of.
    """

    channel: str
    user: str
    thread: str = ""
    direct: bool = False
    response_url: str = ""


class EphemeralMessages:
    """Says things later, so that no event waits for it. Close it with ``aclose``."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._background = BackgroundTasks("slack")

    async def aclose(self) -> None:
        await self._background.aclose(LAST_SECONDS)

    def say(self, recipient: Recipient, text: str) -> None:
        """Tell one person ``text``, which is plain."""
        self.later(tell(self._calls, recipient, escaped(text)))

    def later(self, work: Coroutine[Any, Any, object]) -> None:
        """Do something an event need not wait for; what goes wrong is logged."""
        self._background.later(work)


async def tell(calls: Calls, recipient: Recipient, text: str) -> None:
    """Tell one person ``text``, in Slack's markup: by the response URL, which is good for half an
    hour and five times, else where they are, else in a direct message.

    Raises ``PostRefused`` and ``PlatformUnavailable``.
    """
    if recipient.response_url:
        try:
            await _respond(calls, recipient.response_url, text)
        except (PlatformUnavailable, PostRefused) as error:
            log.info("response not taken", error=str(error))
        else:
            return
    said: Json = {"patience": PATIENCE_SECONDS, "repeat": False, "text": text}
    where: Json = {
        "channel": recipient.channel,
        **({"thread_ts": recipient.thread} if recipient.thread else {}),
    }
    try:
        if recipient.direct:
            await calls.patiently("chat.postMessage", **where, **said)
        else:
            await calls.patiently("chat.postEphemeral", user=recipient.user, **where, **said)
    except Refusal as refusal:
        if refusal.code not in CLOSED_PLACES:
            raise
        await calls.patiently("chat.postMessage", channel=recipient.user, **said)


async def _respond(calls: Calls, url: str, text: str) -> None:
    """https://docs.slack.dev/interactivity/handling-user-interaction#message_responses"""
    client = calls.client
    webhook = AsyncWebhookClient(
        url, session=client.session, logger=client.logger, retry_handlers=[]
    )
    body: Json = {"text": text, "response_type": "ephemeral", "replace_original": False}
    try:
        answer = await webhook.send_dict(body)
    except (aiohttp.ClientError, OSError) as error:
        raise PlatformUnavailable("Slack does not answer.", detail=repr(error)) from error
    if answer.status_code != 200:
        detail = f"{answer.status_code} {answer.body[:80]}"
        raise PostRefused("Slack took no response.", detail=detail)
