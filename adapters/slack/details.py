"""The details of an answer as a modal: its quotes, and how it was found. Pure.

https://docs.slack.dev/reference/views/modal-views
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from adapters.slack.format import Json, context, numbers, plain_text
from adapters.slack.limits import (
    HEADINGS_CHARACTERS,
    QUOTE_CHARACTERS,
    QUOTES_CHARACTERS,
    SOURCES,
    TABLE_WIDTH,
    VIEW_BLOCKS,
    VIEW_TITLE_CHARACTERS,
)
from adapters.slack.rich import (
    link_element,
    packed,
    preformatted,
    quote,
    rich_text,
    section,
    text_element,
)
from bot.answers import Answer
from bot.rendering.excerpts import joined
from bot.rendering.footnotes import SourceView, reachable, sources
from bot.rendering.lines import shortened
from bot.rendering.remarks import remarks
from bot.rendering.safety import without_pings
from bot.rendering.tables import table_text
from bot.rendering.texts import Texts


def details(answer: Answer, texts: Texts, page: str = "") -> Json:
    """The view: sources with their quotes, doubts and notes, further reading, what was searched and
    what it took; ``page`` is where a browser shows how the answer came about."""
    blocks = source_blocks(answer, texts, page)
    if told := remarks(answer, texts):
        blocks.append(context(told))
    blocks += further(answer, texts, page)
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
    """The numbered sources: linked title, domain, section, and the words that are quoted, unless
    the answer quotes them itself."""
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
    """The words in at most ``room`` characters: running text as a quote, tables and code as they
    stand."""
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


def further(answer: Answer, texts: Texts, page: str = "") -> list[Json]:
    """The further reading."""
    if not answer.more:
        return []
    heading = section([text_element(texts("more-heading"), "bold")])
    elements = rich_text(answer.more, reachable(answer, page))
    return packed([[heading], *([element] for element in elements)])
