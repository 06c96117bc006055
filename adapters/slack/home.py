"""The app's home tab: how to ask, what is connected, this month's use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.slack.calls import Calls, Json
from adapters.slack.format import escaped
from adapters.slack.listener import PLATFORM
from adapters.slack.people import People
from bot.conversing.reception import Reception
from bot.errors import FootnoteError, StorageUnavailable
from bot.reasoning.declaration import who_answers
from bot.rendering.texts import Texts, texts_for
from bot.search.registry import configured_names
from bot.settings import Settings
from bot.storage.workspaces import Use

HOW = ("mention", "direct", "follow-up", "command", "shortcut", "stop")


@dataclass(frozen=True, slots=True)
class Connected:
    """The connected sources; ``documents`` is None where there are none."""

    reasoner: str
    providers: tuple[str, ...]
    documents: int | None


class Home:
    """Publishes the tab when someone opens it."""

    def __init__(
        self, team: str, settings: Settings, reception: Reception, calls: Calls, people: People
    ) -> None:
        self._team = team
        self._settings = settings
        self._reception = reception
        self._calls = calls
        self._people = people

    async def opened(self, event: Json) -> None:
        """``app_home_opened`` of the home tab. Raises ``FootnoteError``."""
        user = str(event["user"])
        people = await self._people.quickly([user])
        texts = texts_for(people[user].locale if user in people else "")
        try:
            use = await self._reception.use_this_month(PLATFORM, self._team)
        except StorageUnavailable:
            use = None
        view = home_view(await connected(self._settings), use, texts)
        await self._calls.patiently("views.publish", patience=20.0, user_id=user, view=view)


async def connected(settings: Settings) -> Connected:
    """The sources that the settings connect; counting the documents is one cheap query."""
    providers = configured_names(settings)
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
