"""The app's views and pane: the details of an answer, the Home tab, prompts and titles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markdown_it.token import Token

from adapters.slack.calls import Calls, Json
from adapters.slack.format import (
    context,
    escaped,
    link_element,
    numbers,
    plain_text,
    section,
    text_element,
)
from adapters.slack.incoming import PLATFORM, Opened
from adapters.slack.limits import (
    HEADINGS_CHARACTERS,
    QUOTE_CHARACTERS,
    QUOTES_CHARACTERS,
    RICH_TEXT_CHARACTERS,
    SOURCES,
    TABLE_WIDTH,
    VIEW_BLOCKS,
    VIEW_TITLE_CHARACTERS,
)
from adapters.slack.teams import People
from bot.core.answers import Answer
from bot.core.errors import FootnoteError, StorageUnavailable
from bot.core.lines import shortened
from bot.core.settings import Settings
from bot.core.texts import Texts, texts_for
from bot.reasoning.declaration import who_answers
from bot.rendering.excerpts import joined
from bot.rendering.footnotes import SourceView, link_target, sources
from bot.rendering.remarks import remarks
from bot.rendering.safety import addresses, stored, without_pings
from bot.rendering.tables import table_text
from bot.rendering.verbatim import answer_parser, with_marks
from bot.search.registry import configured_names
from bot.service.reception import Reception
from bot.storage.workspaces import Use

_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
_BULLET = "•"
_GAP = "\n"  # between blocks, which rich text shows without a gap


def rich_text(markdown: str, urls: Mapping[int, str]) -> list[Json]:
    """Convert Markdown to elements of ``rich_text`` blocks, none longer than such a block may be.

    ``urls`` are the only targets that its footnotes and links may have.
    """
    tokens = answer_parser().parse(markdown)
    reader = _Reader(markdown.split("\n"), urls)
    return [piece for element in reader.blocks(tokens) for piece in _cut(element)]


def packed(entries: Iterable[list[Json]]) -> list[Json]:
    """Pack elements into as few ``rich_text`` blocks as their lengths allow; an entry's elements
    stay together."""
    blocks: list[list[Json]] = []
    used = RICH_TEXT_CHARACTERS
    for entry in entries:
        size = sum(map(_size, entry))
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


class _Reader:
    """Converts the tokens of a Markdown text."""

    def __init__(self, lines: Sequence[str], urls: Mapping[int, str]) -> None:
        self._lines = lines
        self._urls = urls
        self._allowed = addresses(urls.values())

    def blocks(self, tokens: Sequence[Token]) -> Iterator[Json]:
        depth = quoted = 0
        marker = ""  # of a list item that has no content yet
        is_heading = in_table = False
        for token in tokens:
            match token.type:
                case "bullet_list_open" | "ordered_list_open":
                    depth += 1
                case "bullet_list_close" | "ordered_list_close":
                    depth -= 1
                case "list_item_open":
                    marker = f"{token.info}{token.markup}" if token.info else _BULLET
                case "blockquote_open" | "blockquote_close":
                    quoted += token.nesting
                case "heading_open" | "heading_close":
                    is_heading = token.nesting > 0
                case "table_open" | "table_close":
                    in_table = token.nesting > 0
                    if in_table and token.map:
                        rows = "\n".join(self._lines[slice(*token.map)])
                        yield preformatted(table_text(rows, TABLE_WIDTH))
                case "fence" | "code_block":
                    yield preformatted(token.content.rstrip("\n"))
                case "hr":
                    yield section([text_element("———")])
                case "inline" if not in_table:
                    words = self._inline(token.children or (), ["bold"] if is_heading else [])
                    if not words:
                        continue
                    if depth:
                        yield _item(words, marker, depth - 1)
                        marker = ""
                    else:
                        yield quote(words) if quoted else section([*words, text_element(_GAP)])

    def _inline(self, children: Sequence[Token], styles: list[str]) -> list[Json]:
        """Convert the words of a paragraph, with styles and links."""
        out: list[Json] = []
        styles, target = list(styles), ""
        for child in with_marks(children, self._urls):
            if isinstance(child, int):
                out.append(link_element(self._urls[child], f"[{child}]"))
                continue
            kind, _, end = child.type.rpartition("_")
            if kind in _STYLES:
                styles = [*styles, _STYLES[kind]] if end == "open" else styles[:-1]
            elif kind == "link":
                target = self._target(str(child.attrs.get("href", ""))) if end == "open" else ""
            else:
                words = "\n" if child.type in ("softbreak", "hardbreak") else child.content
                code = ["code"] if child.type == "code_inline" else []
                if target and words:
                    out.append(link_element(target, words))
                elif words:
                    out.append(text_element(words, *styles, *code))
        return _joined(out)

    def _target(self, href: str) -> str:
        target = link_target(href)
        return stored(target, self._allowed) or "" if target else ""


def _item(words: list[Json], marker: str, indent: int) -> Json:
    """Return a list item. A numbered one is a line of text, because Slack would renumber it."""
    if marker != _BULLET:
        return section([text_element(f"{'    ' * indent}{marker} ".rstrip(" ") + " "), *words])
    found: Json = {"type": "rich_text_list", "style": "bullet", "indent": min(indent, 6)}
    return {**found, "elements": [section(words)]}


def _joined(elements: Sequence[Json]) -> list[Json]:
    """Merge adjacent elements of the same style."""
    out: list[Json] = []
    for element in elements:
        last = out[-1] if out else None
        is_text = last is not None and last["type"] == element["type"] == "text"
        if last is not None and is_text and last.get("style") == element.get("style"):
            out[-1] = {**last, "text": last["text"] + element["text"]}
        else:
            out.append(element)
    return out


def _size(element: Json) -> int:
    own = len(element.get("text", "")) + len(element.get("url", ""))
    return own + sum(map(_size, element.get("elements", ())))


def _cut(element: Json) -> Iterator[Json]:
    """Split an element into pieces that fit into a block; code is split between lines."""
    if _size(element) <= RICH_TEXT_CHARACTERS:
        yield element
    elif element["type"] == "rich_text_list":
        yield from ({**element, "elements": [piece]} for piece in _cut(element["elements"][0]))
    else:
        kept: list[Json] = []
        for each in element["elements"]:
            for piece in _short(each):
                if kept and sum(map(_size, kept)) + _size(piece) > RICH_TEXT_CHARACTERS:
                    yield {**element, "elements": kept}
                    kept = []
                kept.append(piece)
        yield {**element, "elements": kept}


def _short(element: Json) -> Iterator[Json]:
    text = element.get("text", "")
    while _size(element) > RICH_TEXT_CHARACTERS:
        room = RICH_TEXT_CHARACTERS - len(element.get("url", ""))
        at = max(text.rfind("\n", 0, room), text.rfind(" ", 0, room)) + 1 or room
        yield {**element, "text": text[:at]}
        text = text[at:]
        element = {**element, "text": text}
    yield element


PROMPTS = ("compare", "explain", "summarize")
HOW = ("mention", "direct", "follow-up", "command", "shortcut", "stop")


@dataclass(frozen=True, slots=True)
class Connected:
    """The connected sources; ``documents`` is None if there are no documents."""

    reasoner: str
    providers: tuple[str, ...]
    documents: int | None


class Home:
    """Publishes the Home tab, and suggests prompts in the messages tab, when someone opens it.

    Only this class calls ``assistant.threads.*``, which Slack will retire in 2027. In an
    ``agent_view`` the prompts belong to the conversation
    (https://docs.slack.dev/ai/migrating-to-agent-messaging).
    """

    def __init__(
        self, team: str, settings: Settings, reception: Reception, calls: Calls, people: People
    ) -> None:
        self._team = team
        self._settings = settings
        self._reception = reception
        self._calls = calls
        self._people = people

    async def opened(self, tab: Opened) -> None:
        """Raises ``FootnoteError``."""
        people = await self._people.quickly([tab.user])
        texts = texts_for(people[tab.user].locale if tab.user in people else "")
        if tab.is_home:
            await self._publish(tab.user, texts)
        else:
            await self._suggest(tab.channel, texts)

    async def _publish(self, user: str, texts: Texts) -> None:
        try:
            use = await self._reception.use_this_month(PLATFORM, self._team)
        except StorageUnavailable:
            use = None
        view = home_view(await connected_sources(self._settings), use, texts)
        await self._calls.patiently("views.publish", patience=20.0, user_id=user, view=view)

    async def _suggest(self, channel: str, texts: Texts) -> None:
        prompts = [
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
