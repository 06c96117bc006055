"""The pane beside the conversation: prompts to begin with, and the thread's title.

The only module that calls ``assistant.threads.*``, which is to retire in 2027. Apps made with
``assistant_view`` are told of ``assistant_thread_started``; with ``agent_view``, its successor,
opening the messages tab is told instead and prompts belong to the conversation
(https://docs.slack.dev/ai/migrating-to-agent-messaging).
"""

from __future__ import annotations

from cachetools import LRUCache

from adapters.slack.calls import Calls, Json
from adapters.slack.limits import SESSION_TITLE_CHARACTERS
from adapters.slack.people import People
from bot.errors import FootnoteError
from bot.logs import get_logger
from bot.rendering.texts import texts_for

PROMPTS = ("compare", "explain", "summarize")
THREADS_REMEMBERED = 1_000

log = get_logger()


class Pane:
    """Its methods tell Slack something an event need not wait for."""

    def __init__(self, calls: Calls, people: People) -> None:
        self._calls = calls
        self._people = people
        self._untitled: LRUCache[tuple[str, str], None] = LRUCache(THREADS_REMEMBERED)

    async def thread_started(self, event: Json) -> None:
        """``assistant_thread_started``"""
        thread = event["assistant_thread"]
        channel, ts = str(thread["channel_id"]), str(thread["thread_ts"])
        self._untitled[channel, ts] = None
        await self._prompt(str(thread["user_id"]), channel, ts)
        texts = texts_for(await self._locale(str(thread["user_id"])))
        await self._title(channel, ts, texts("pane-title"))

    async def opened(self, event: Json) -> None:
        """``app_home_opened`` of the messages tab"""
        await self._prompt(str(event["user"]), str(event["channel"]), None)

    async def asked(self, channel: str, thread: str, question: str) -> None:
        """Name a thread that began in the pane after its first question."""
        if (channel, thread) in self._untitled:
            del self._untitled[channel, thread]
            await self._title(channel, thread, question)

    async def _prompt(self, user: str, channel: str, ts: str | None) -> None:
        texts = texts_for(await self._locale(user))
        where: Json = {"channel_id": channel}
        if ts is not None:
            where["thread_ts"] = ts
        prompts = [
            {"title": texts(f"prompt-{name}"), "message": texts(f"prompt-{name}-message")}
            for name in PROMPTS
        ]
        await self._calls.patiently(
            "assistant.threads.setSuggestedPrompts",
            patience=10.0,
            title=texts("prompts-title"),
            prompts=prompts,
            **where,
        )

    async def _title(self, channel: str, ts: str, title: str) -> None:
        title = " ".join(title.split())
        if len(title) > SESSION_TITLE_CHARACTERS:
            title = title[: SESSION_TITLE_CHARACTERS - 1].rstrip() + "…"
        await self._calls.patiently(
            "assistant.threads.setTitle",
            patience=10.0,
            channel_id=channel,
            thread_ts=ts,
            title=title,
        )

    async def _locale(self, user: str) -> str:
        try:
            return (await self._people.person(user)).locale
        except FootnoteError as error:
            log.debug("locale not known", user=user, error=str(error))
            return ""
