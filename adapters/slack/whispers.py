"""What only one person is told: why a question is not taken, that something stopped."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.slack.calls import Calls, Json
from adapters.slack.format import escaped
from bot.conversing.background_tasks import BackgroundTasks
from bot.errors import PlatformUnavailable, PostRefused

PATIENCE_SECONDS = 60.0  # a whisper that comes later than that only confuses
LAST_SECONDS = 1.0  # that whispers get when Footnote ends


@dataclass(frozen=True, slots=True)
class Ear:
    """Where one person hears a whisper.

    ``thread`` is the timestamp a thread is known by, or empty. With a ``response_url`` the whisper
    reaches places that Footnote is no member of.
    """

    channel: str
    user: str
    thread: str = ""
    direct: bool = False
    response_url: str = ""


class Whispers:
    """Says things later, so that no event waits for it. Close it with ``aclose``."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._background = BackgroundTasks("slack")

    async def aclose(self) -> None:
        await self._background.aclose(LAST_SECONDS)

    def say(self, ear: Ear, text: str) -> None:
        """Tell one person ``text``, which is plain."""
        self.later(self._say(ear, escaped(text)))

    def later(self, work: Coroutine[Any, Any, object]) -> None:
        """Do something an event need not wait for; what goes wrong is logged."""
        self._background.later(work)

    async def _say(self, ear: Ear, text: str) -> None:
        if ear.response_url:
            await self._respond(ear.response_url, text)
            return
        where = {"channel": ear.channel, "text": text}
        if ear.thread:
            where["thread_ts"] = ear.thread
        method = "chat.postMessage" if ear.direct else "chat.postEphemeral"
        if not ear.direct:
            where["user"] = ear.user
        await self._calls.patiently(method, patience=PATIENCE_SECONDS, repeat=False, **where)

    async def _respond(self, url: str, text: str) -> None:
        """https://docs.slack.dev/interactivity/handling-user-interaction#message_responses"""
        client = self._calls.client
        webhook = AsyncWebhookClient(
            url, session=client.session, logger=client.logger, retry_handlers=[]
        )
        body: Json = {"text": text, "response_type": "ephemeral", "replace_original": False}
        try:
            answer = await webhook.send_dict(body)
        except (aiohttp.ClientError, OSError) as error:
            raise PlatformUnavailable("Slack does not answer.", detail=repr(error)) from error
        if answer.status_code != 200:
            raise PostRefused("Slack took no response.", detail=f"{answer.status_code}")
