"""Background work of the listeners: ephemeral messages, slow commands, retries of storing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
import stamina
from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.slack.calls import Calls, Json, Refusal
from adapters.slack.format import escaped
from adapters.slack.incoming import by_core
from bot.core.errors import (
    FootnoteError,
    PlatformUnavailable,
    PostRefused,
    StorageUnavailable,
    sentence_for,
)
from bot.core.logs import get_logger
from bot.core.texts import Texts
from bot.service.background import BackgroundTasks

PATIENCE_SECONDS = 60.0  # a private message that arrives later would only confuse
LAST_SECONDS = 1.0  # time for unsent ephemeral messages when Footnote ends
# Errors of places where no ephemeral message is possible: https://docs.slack.dev/reference/methods/chat.postEphemeral
CLOSED_PLACES = frozenset(
    {"channel_not_found", "not_in_channel", "user_not_in_channel", "is_archived"}
)

log = get_logger()


@dataclass(frozen=True, slots=True)
class Recipient:
    """The recipient of an ephemeral message.

    ``thread`` is the timestamp that identifies a thread, or "". With a ``response_url`` the message
    also reaches channels that Footnote is not a member of, and can ``replace`` the message that it
    responds to.
    """

    channel: str
    user: str
    thread: str = ""
    direct: bool = False
    response_url: str = ""
    replace: bool = False


class EphemeralMessages:
    """Sends ephemeral messages in the background. Close it with ``aclose``."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._background = BackgroundTasks("slack")

    async def aclose(self) -> None:
        await self._background.aclose(LAST_SECONDS)

    def say(self, recipient: Recipient, text: str, blocks: Sequence[Json] = ()) -> None:
        """Send one person ``text``, which is plain text; ``blocks`` are shown in its place."""
        self.later(tell(self._calls, recipient, escaped(text), blocks))

    def later(self, work: Coroutine[Any, Any, object]) -> None:
        """Run ``work`` in the background; its errors are logged."""
        self._background.later(work)


async def tell(calls: Calls, recipient: Recipient, text: str, blocks: Sequence[Json] = ()) -> None:
    """Send one person ``text``, in Slack's markup, or ``blocks`` in its place.

    The message goes to the response URL, which works five times within half an hour; if that fails,
    to the place where they are; if that is not possible, in a direct message.

    Raises ``PostRefused`` and ``PlatformUnavailable``.
    """
    if recipient.response_url:
        try:
            await _respond(calls, recipient, text, blocks)
        except (PlatformUnavailable, PostRefused) as error:
            log.info("response URL refused", error=str(error))
        else:
            return
    said: Json = {"patience": PATIENCE_SECONDS, "repeat": False, "text": text, **_shown(blocks)}
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


def _shown(blocks: Sequence[Json]) -> Json:
    return {"blocks": [*blocks]} if blocks else {}


async def _respond(calls: Calls, recipient: Recipient, text: str, blocks: Sequence[Json]) -> None:
    """https://docs.slack.dev/interactivity/handling-user-interaction#message_responses"""
    client = calls.client
    webhook = AsyncWebhookClient(
        recipient.response_url, session=client.session, logger=client.logger, retry_handlers=[]
    )
    webhook.proxy = client.proxy  # instead of the proxy that the SDK finds in the environment
    body: Json = {
        "text": text,
        "response_type": "ephemeral",
        "replace_original": recipient.replace,
        **_shown(blocks),
    }
    try:
        answer = await webhook.send_dict(body)
    except (aiohttp.ClientError, OSError) as error:
        raise PlatformUnavailable("Slack does not answer.", detail=repr(error)) from error
    if answer.status_code != 200:
        detail = f"{answer.status_code} {answer.body[:80]}"
        raise PostRefused("Slack took no response.", detail=detail)


ACK_SECONDS = 2.5  # Slack shows a failure after 3
LAST_WORK_SECONDS = 3.0  # time for work in progress when Footnote ends

Doing = Coroutine[Any, Any, str | None]  # returns the text for the asker, or None


class SlowWork:
    """Finishes work that takes longer than Slack waits for a response.

    Slack delivers a command or a press only once and expects a quick acknowledgement. Cancelling
    the work could interrupt a commit, and the asker would not know whether to ask again. Close it
    with ``aclose``, before the ephemeral messages.
    """

    def __init__(self, ephemeral: EphemeralMessages) -> None:
        self._ephemeral = ephemeral
        self._background = BackgroundTasks("slack")

    async def aclose(self) -> None:
        """Give work in progress a moment to finish, and cancel the rest."""
        await self._background.aclose(LAST_WORK_SECONDS)

    async def run(
        self, doing: Doing, recipient: Recipient, texts: Texts, *, meanwhile: str | None
    ) -> str | None:
        """Return the text for the asker after at most ``ACK_SECONDS``, or None for none.

        If ``doing`` takes longer, the text is ``meanwhile``, and the result is sent later as an
        ephemeral message, unless it is the same. A ``FootnoteError`` becomes its sentence; other
        errors are raised (``CoreBroke`` for those that look like a malformed payload).
        """
        ended = asyncio.get_running_loop().create_future()
        self._background.later(self._follow(doing, ended, recipient, texts, meanwhile))
        try:
            async with asyncio.timeout(ACK_SECONDS):
                result: str | None = await ended  # a timeout cancels it, and ``_follow`` notices
        except TimeoutError:
            return meanwhile
        return result

    async def _follow(
        self,
        doing: Doing,
        ended: asyncio.Future[str | None],
        recipient: Recipient,
        texts: Texts,
        meanwhile: str | None,
    ) -> None:
        try:
            result = await _sentence(doing, texts)
        except Exception as error:
            if ended.done():
                self._ephemeral.say(recipient, texts("try-again"))
                raise
            ended.set_exception(error)
            return
        if not ended.done():
            ended.set_result(result)
        elif result is not None and result != meanwhile:
            self._ephemeral.say(recipient, result)


async def _sentence(doing: Doing, texts: Texts) -> str | None:
    try:
        return await by_core(doing)
    except StorageUnavailable:
        return texts("try-again")
    except FootnoteError as error:
        return sentence_for(error, texts)


# Shorter than the time until Slack's last delivery. If that fails too, the asker is notified.
RETRY_SECONDS = 240.0
FIRST_SECONDS, LONGEST_SECONDS = 0.1, 1.0  # between two tries
MOST_IN_HAND = 1_000  # messages in the queue


class RetryQueue:
    """Retries messages that could not be stored, in order, as soon as the database works again.

    Slack delivers unacknowledged events again at once, after one minute and after five
    (https://docs.slack.dev/apis/events-api#retries), which is late for someone who waits for an
    answer. Whichever comes first, Slack or this queue, stores the message, and the other finds it
    stored. The messages in the queue are not acknowledged, so none is lost if the process dies.
    """

    def __init__(self, ephemeral: EphemeralMessages) -> None:
        self._ephemeral = ephemeral
        self._in_hand: set[str] = set()
        self._turn = asyncio.Lock()  # granted in the order of the requests

    def keep(self, id: str, take: Callable[[], Awaitable[None]]) -> None:
        """Call ``take`` in the background until it no longer raises ``StorageUnavailable``."""
        if id not in self._in_hand and len(self._in_hand) < MOST_IN_HAND:
            self._in_hand.add(id)
            self._ephemeral.later(self._retake(id, take))

    async def _retake(self, id: str, take: Callable[[], Awaitable[None]]) -> None:
        try:
            async with asyncio.timeout(RETRY_SECONDS), self._turn:
                await _until_kept(take)
        except (TimeoutError, StorageUnavailable) as error:
            log.info("message left to Slack", message=id, error=repr(error))
        finally:
            self._in_hand.discard(id)


async def _until_kept(take: Callable[[], Awaitable[None]]) -> None:
    async for attempt in stamina.retry_context(
        on=_may_pass,
        attempts=None,
        timeout=None,
        wait_initial=FIRST_SECONDS,
        wait_max=LONGEST_SECONDS,
        wait_jitter=FIRST_SECONDS,
    ):
        with attempt:
            await take()


def _may_pass(error: Exception) -> bool:
    return isinstance(error, StorageUnavailable) and error.kind != "wrong"
