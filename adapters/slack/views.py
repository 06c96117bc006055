"""The app's views: the details of an answer, the Home tab, and the prompts of the messages tab."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby

from adapters.slack.calls import Calls, Json
from adapters.slack.format import (
    characters,
    context,
    escaped,
    link_element,
    numbers,
    plain,
    plain_text,
    section,
    text_element,
)
from adapters.slack.incoming import PLATFORM, LinkShared, Opened, Place, Viewing
from adapters.slack.limits import (
    HEADINGS_CHARACTERS,
    MOST_PREVIEWS,
    MOST_PROMPTS,
    PREVIEW_CHARACTERS,
    PROMPT_CHARACTERS,
    QUOTE_CHARACTERS,
    QUOTES_CHARACTERS,
    RICH_TEXT_CHARACTERS,
    SOURCES,
    TABLE_WIDTH,
    VIEW_BLOCKS,
    VIEW_TITLE_CHARACTERS,
)
from adapters.slack.listener import Listener
from bot.core.errors import FootnoteError, StorageUnavailable
from bot.core.lines import shortened
from bot.core.messages import Answer, Author, Message, Thread
from bot.core.settings import Settings
from bot.core.texts import Texts, texts_for
from bot.reasoning.reasoner import who_answers
from bot.rendering.footnotes import SourceView, joined, sources
from bot.rendering.markdown_tables import table_text
from bot.rendering.remarks import remarks
from bot.rendering.safety import without_pings
from bot.rendering.verbatim import as_words
from bot.search.registry import configured_names
from bot.storage.workspaces import Use


def packed(entries: Iterable[list[Json]]) -> list[Json]:
    """Pack elements into as few ``rich_text`` blocks as their lengths allow; an entry's elements
    stay together."""
    blocks: list[list[Json]] = []
    used = RICH_TEXT_CHARACTERS
    for entry in entries:
        size = characters(entry)
        if used + size > RICH_TEXT_CHARACTERS:
            blocks.append([])
            used = 0
        blocks[-1] += entry
        used += size
    return [{"type": "rich_text", "elements": elements} for elements in blocks]


def preformatted(code: str) -> Json:
    return {"type": "rich_text_preformatted", "elements": [text_element(code or " ")]}


def quote(elements: list[Json]) -> Json:
    return {"type": "rich_text_quote", "elements": elements}


PROMPTS = ("compare", "explain", "summarize")
HOW = ("mention", "direct", "follow-up", "command", "shortcut", "stop")


class Home:
    """Publishes the Home tab, and suggests prompts in the messages tab, when someone opens it or
    looks at another channel beside it; and shows previews of shared answers.

    Only this class calls ``assistant.threads.*``, which Slack will retire in 2027. In an
    ``agent_view`` the prompts belong to the conversation
    (https://docs.slack.dev/ai/migrating-to-agent-messaging).
    """

    def __init__(self, listener: Listener, calls: Calls) -> None:
        self._listener = listener
        self._reception = listener.reception
        self._team = listener.me.team
        self._calls = calls

    async def opened(self, tab: Opened) -> None:
        """Raises ``FootnoteError``."""
        if tab.is_home:
            _, locale = await self._author(tab.user)
            await self._publish(tab.user, texts_for(locale))
        else:
            await self._suggest(tab.user, tab.channel)

    async def viewed(self, viewing: Viewing) -> None:
        """Suggest prompts that fit the channel someone looks at. Raises ``FootnoteError``."""
        direct = await self._listener.people.direct(viewing.user)
        await self._suggest(viewing.user, direct, viewing.channel)

    async def _author(self, user: str) -> tuple[Author, str]:
        return self._listener.author(user, await self._listener.people.quickly([user]), "")

    def _message(self, author: Author, channel: str) -> Message:
        """Return a message without words, for what its author may see in a channel."""
        return Message(
            event_id=f"{channel}:seen:{author.id}",
            thread=Thread(PLATFORM, self._team, channel, ""),
            author=author,
            text="",
            at=datetime.now(UTC),
            audience=Place.of_id(channel).audience,
        )

    async def preview(self, shared: LinkShared) -> None:
        """Show what the answer or source at each shared address says, if all who read there may see
        it. Raises ``FootnoteError``."""
        author, locale = await self._author(shared.user)
        message = self._message(author, shared.channel)
        where: Json = {"channel": shared.channel, "ts": shared.ts}
        unfurls: Json = {}
        for url in shared.links[:MOST_PREVIEWS]:
            if found := await self._reception.preview(url, message, {**where, "url": url}):
                unfurls[url] = {"blocks": preview_blocks(*found, texts_for(locale))}
        if unfurls:
            await self._calls.patiently("chat.unfurl", patience=20.0, **where, unfurls=unfurls)

    async def _publish(self, user: str, texts: Texts) -> None:
        try:
            use = await self._reception.use_this_month(PLATFORM, self._team)
        except StorageUnavailable:
            use = None
        view = home_view(await connected(self._reception.settings, texts), use, texts)
        await self._calls.patiently("views.publish", patience=20.0, user_id=user, view=view)

    async def _suggest(self, user: str, channel: str, viewed: str = "") -> None:
        """Suggest prompts in a direct conversation: about documents that the person may read, and
        of those what may be searched in the channel ``viewed``; without any, general ones."""
        author, locale = await self._author(user)
        texts = texts_for(locale)
        asked, beside = (self._message(author, place) for place in (channel, viewed))
        titles = await self._reception.titles_for(asked, beside if viewed else None, MOST_PROMPTS)
        shown = [plain(title, PROMPT_CHARACTERS) for title in titles]
        prompts = [
            {"title": title, "message": texts("document-asked-about", title=title)}
            for title in shown
        ] or [
            {"title": texts(f"prompt-{name}"), "message": texts(f"prompt-{name}-message")}
            for name in PROMPTS
        ]
        await self._calls.patiently(
            "assistant.threads.setSuggestedPrompts",
            patience=10.0,
            title=texts("prompts-title"),
            prompts=prompts,
            channel_id=channel,
        )


async def connected(settings: Settings, texts: Texts) -> list[str]:
    """Return a line for each kind of what the settings connect; counting documents is one cheap
    query."""
    # The name of a server that only some people may use must not be shown to the others.
    hidden = {each.name for each in settings.mcp if not each.everybody}
    providers = [name for name in configured_names(settings) if name not in hidden]
    facts = [
        texts("home-reasoner", name=who_answers(settings)),
        texts("home-providers", names=", ".join(providers)),
    ]
    if "local" in providers and (count := await _documents(settings)) is not None:
        facts.append(texts("home-documents", count=count))
    return facts


async def _documents(settings: Settings) -> int | None:
    from bot.search.local_documents import LocalDocuments

    documents = LocalDocuments(settings.index_path, settings.docs)
    try:
        return await documents.count()
    except FootnoteError:  # not indexed yet
        return None
    finally:
        await documents.aclose()


def home_view(facts: Sequence[str], use: Use | None, texts: Texts) -> Json:
    """Return the Home tab: https://docs.slack.dev/reference/views/home-tab-views. ``facts`` say
    what is connected."""
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


def preview_blocks(answer: Answer, number: int, texts: Texts) -> list[Json]:
    """Return the preview of an answer: question, first words and number of sources; with a
    ``number`` that of the source: title and quoted words."""
    cited = [each for each in answer.citations if each.number == number]
    shown = (cited[0].title, cited[0].quote) if cited else (answer.question, answer.text)
    words = (plain_text(as_words(each), PREVIEW_CHARACTERS) for each in shown)
    count = len({each.number for each in answer.citations})
    return [
        *({"type": "section", "text": each} for each in words),
        context([texts("preview-sources", count=count)]),
    ]


def details(answer: Answer, texts: Texts, page: str = "") -> Json:
    """Return the view with sources and quotes, doubts and notes, the searches, and
    time and cost; ``page`` is the URL of the run page."""
    blocks = source_blocks(answer, texts, page)
    if told := remarks(answer, texts):
        blocks.append(context(told))
    last = []
    if answer.queries:
        searched = texts("searched-for", queries=texts("report-separator").join(answer.queries))
        last.append(context([searched]))
    last.append(numbers(answer, texts, page))
    return {
        "type": "modal",
        "title": plain_text(texts("sources-heading"), VIEW_TITLE_CHARACTERS),
        "blocks": blocks[: VIEW_BLOCKS - len(last)] + last,
    }


def source_blocks(answer: Answer, texts: Texts, page: str = "") -> list[Json]:
    """Return the numbered sources: linked title, domain, section, and the quotes that the answer
    does not contain itself."""
    if not answer.citations:
        return []
    count = len({citation.number for citation in answer.citations})
    room = max(min(QUOTE_CHARACTERS, QUOTES_CHARACTERS // max(min(count, SOURCES), 1)), 60)
    every = sources(answer, room, longest_source=room, run_page=page)
    shown = every[:SOURCES]
    heading = section([text_element(texts("sources-heading"), "bold")])
    entries = [[heading], *(_source(view, room, texts) for view in shown)]
    if len(every) > len(shown):
        more = texts("more-sources", count=len(every) - len(shown))
        entries.append([section([text_element(more)])])
    return packed(entries)


def _source(view: SourceView, room: int, texts: Texts) -> list[Json]:
    line = [link_element(view.href, without_pings(f"[{view.number}] {view.title}"))]
    where = f" ({view.domain})" if view.domain and view.domain != view.title else ""
    if view.headings:
        where += f" — {shortened(' · '.join(view.headings), HEADINGS_CHARACTERS)}"
    if view.via:
        given = texts("text-given-by", name=view.via)
        where += f" · {shortened(given, HEADINGS_CHARACTERS)}"
    if where:
        line.append(text_element(without_pings(where)))
    return [section(line), *_quotes(view, room)]


def _quotes(view: SourceView, room: int) -> Iterator[Json]:
    """Yield the quotes, at most ``room`` characters: running text as a quote block, tables and code
    unchanged."""
    pieces = [piece for each in view.quotes for piece in each.pieces]
    for is_text, group in groupby(pieces, key=lambda piece: piece.kind == "text"):
        if is_text:
            said = joined(group)
            yield quote(
                [
                    text_element(without_pings(words), *(("bold",) if is_strong else ()))
                    for words, is_strong in said.runs()
                ]
            )
            room -= len(said.text)
            continue
        for piece in group:
            if len(piece.text) <= room:
                table = piece.kind == "table"
                yield preformatted(table_text(piece.text, TABLE_WIDTH) if table else piece.text)
            room -= len(piece.text)
