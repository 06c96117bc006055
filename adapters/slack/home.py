"""The app's home tab, and the prompts and titles of the assistant pane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from adapters.slack.calls import Calls, Json
from adapters.slack.format import escaped
from adapters.slack.limits import SESSION_TITLE_CHARACTERS
from adapters.slack.listener import PLATFORM
from adapters.slack.people import People
from bot.core.errors import FootnoteError, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.settings import Settings
from bot.core.texts import Texts, texts_for
from bot.reasoning.reasoner import who_answers
from bot.search.registry import configured_names
from bot.service.reception import Reception
from bot.storage.workspaces import Use

HOW = ("mention", "direct", "follow-up", "command", "shortcut", "stop")


@dataclass(frozen=True, slots=True)
class Connected:
    """The connected sources; ``documents`` is None if there are no documents."""

    reasoner: str
    providers: tuple[str, ...]
    documents: int | None


class Home:
    """Publishes the home tab when someone opens it."""

    def __init__(
        self, team: str, settings: Settings, reception: Reception, calls: Calls, people: People
    ) -> None:
        self._team = team
        self._settings = settings
        self._reception = reception
        self._calls = calls
        self._people = people

    async def home_opened(self, event: Json) -> None:
        """Handle ``app_home_opened`` of the home tab. Raises ``FootnoteError``."""
        user = str(event["user"])
        people = await self._people.quickly([user])
        texts = texts_for(people[user].locale if user in people else "")
        try:
            use = await self._reception.use_this_month(PLATFORM, self._team)
        except StorageUnavailable:
            use = None
        view = home_view(await connected_sources(self._settings), use, texts)
        await self._calls.patiently("views.publish", patience=20.0, user_id=user, view=view)


async def connected_sources(settings: Settings) -> Connected:
    """Return the sources that the settings connect; counting documents is one cheap query."""
    # The name of a server that only some people may use must not be shown to the others.
    hidden = {each.name for each in settings.mcp if not each.everybody}
    providers = tuple(name for name in configured_names(settings) if name not in hidden)
    return Connected(
        who_answers(settings),
        providers,
        await _documents(settings) if "local" in providers else None,
    )


async def _documents(settings: Settings) -> int | None:
    from bot.search.local import LocalDocuments

    documents = LocalDocuments(settings.index_path, settings.docs)
    try:
        return await documents.count()
    except FootnoteError:  # not indexed yet
        return None
    finally:
        await documents.aclose()


def home_view(connected: Connected, use: Use | None, texts: Texts) -> Json:
    """https://docs.slack.dev/reference/views/home-tab-views"""
    facts = [
        texts("home-reasoner", name=connected.reasoner),
        texts("home-providers", names=", ".join(connected.providers)),
    ]
    if connected.documents is not None:
        facts.append(texts("home-documents", count=connected.documents))
    blocks = [
        _header(texts("home-title")),
        _section([texts("home-intro")]),
        _header(texts("home-how")),
        _section([f"• {texts(f'home-how-{way}')}" for way in HOW]),
        _header(texts("home-connected")),
        _section(facts),
    ]
    if use is not None:
        counted = [
            texts("home-questions", count=use.questions),
            texts("home-answered", count=use.answered),
            texts("home-cost", cost=use.usd),
        ]
        blocks += [_header(texts("home-usage")), _section([" · ".join(counted)])]
    return {"type": "home", "blocks": blocks}


def _header(text: str) -> Json:
    return {"type": "header", "text": {"type": "plain_text", "text": text[:150], "emoji": False}}


def _section(lines: Sequence[str]) -> Json:
    text = escaped("\n".join(lines))
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[:3_000], "verbatim": True}}


PROMPTS = ("compare", "explain", "summarize")
THREADS_REMEMBERED = 1_000

log = get_logger()


class Pane:
    """Sets the suggested prompts and the thread titles of the assistant pane.

    Only this class calls ``assistant.threads.*``, which Slack will retire in 2027. Apps made with
    ``assistant_view`` receive ``assistant_thread_started``; with its successor, ``agent_view``,
    they receive ``app_home_opened`` of the messages tab instead, and prompts belong to the
    conversation (https://docs.slack.dev/ai/migrating-to-agent-messaging).
    """

    def __init__(self, calls: Calls, people: People) -> None:
        self._calls = calls
        self._people = people
        self._untitled: LRUCache[tuple[str, str], None] = LRUCache(THREADS_REMEMBERED)

    async def thread_started(self, event: Json) -> None:
        """Handle ``assistant_thread_started``."""
        thread = event["assistant_thread"]
        channel, ts = str(thread["channel_id"]), str(thread["thread_ts"])
        self._untitled[channel, ts] = None
        await self._prompt(str(thread["user_id"]), channel, ts)
        texts = texts_for(await self._locale(str(thread["user_id"])))
        await self._title(channel, ts, texts("pane-title"))

    async def home_opened(self, event: Json) -> None:
        """Handle ``app_home_opened`` of the messages tab."""
        await self._prompt(str(event["user"]), str(event["channel"]), None)

    async def name_thread(self, channel: str, thread: str, question: str) -> None:
        """Name a thread of the pane after its first question."""
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
