"""The details of an answer: its quotes, and how it was found. No network, no state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import discord

from adapters.discord import limits
from adapters.discord.format import COLOUR, TABLE_WIDTH, Look, as_markdown
from adapters.discord.safety import emphasised, fenced, words
from bot.answers import Answer
from bot.rendering.blocks import split
from bot.rendering.footnotes import SourceView, link_target, reachable, sources
from bot.rendering.lines import shortened
from bot.rendering.remarks import remarks, summary
from bot.rendering.tables import table_text
from bot.rendering.texts import Texts

REMARKS = 1_500  # characters of doubts and notes in the embed
SUGGESTION = 300  # characters
TITLE = 150  # characters of a source's title
HEADINGS = 150  # characters of what its quotes stand under
FURTHER = 4_000  # characters of further reading in one embed
SEARCHED = 300  # characters of what was searched
MESSAGES = 1 + limits.FOLLOW_UPS_ELSEWHERE
QUOTES = (300, 200, 120, 60, 0)  # characters of a quote, shorter the more sources there are
QUOTES_TOGETHER = 600  # characters of all quotes of a source


def details(answer: Answer, texts: Texts, *, embeds: bool, page: str = "") -> tuple[Look, ...]:
    """The messages that tell it, at least one and at most ``MESSAGES``: sources with their quotes,
    doubts and notes, what was searched and what it took; then the further reading.

    ``embeds`` tells whether they may have some; ``page`` is where a browser shows how the answer
    came about, or "".
    """
    further = as_markdown(answer.more, reachable(answer, page)) if answer.more else ""
    heading = texts("more-heading")
    if embeds:
        looks = [Look(embeds=(_within_limits(answer, texts, page),))]
        for number, part in enumerate(split(further, FURTHER)):
            title = "" if number else heading
            embed = discord.Embed(title=title or None, description=part, colour=COLOUR)
            looks.append(Look(embeds=(embed,)))
        return tuple(looks[:MESSAGES])
    small = [*_small(answer, texts), texts("cannot-embed"), summary(answer, texts)]
    told = [*_source_text(answer, texts, page), *(f"-# {line}" for line in small)]
    parts = split("\n".join(told), limits.PART)
    if further:
        parts += split(f"**{heading}**\n\n{further}", limits.PART)
    return tuple(Look(part) for part in parts[:MESSAGES])


def _small(answer: Answer, texts: Texts) -> list[str]:
    """Doubts and notes, and what was searched."""
    lines = [*remarks(answer, texts, words)]
    if answer.queries:
        queries = shortened(texts("report-separator").join(answer.queries), SEARCHED)
        lines.append(texts("searched-for", queries=words(queries)))
    return lines


def _within_limits(answer: Answer, texts: Texts, page: str) -> discord.Embed:
    """The embed, with shorter quotes the more sources there are."""
    for quote in QUOTES:
        embed = _embed(answer, texts, quote, page)
        if len(embed) <= limits.EMBED_TOTAL:
            break
    while len(embed) > limits.EMBED_TOTAL:
        embed.remove_field(-2)  # the last source; what follows counts what is not shown
    return embed


def _embed(answer: Answer, texts: Texts, quote: int, page: str) -> discord.Embed:
    description = _fitting(_small(answer, texts), REMARKS)
    views = sources(answer, quote, TITLE, longest_source=QUOTES_TOGETHER, run_page=page)
    embed = discord.Embed(
        title=texts("sources-heading") if views else None,
        description=description or None,
        colour=COLOUR,
    )
    long = any(len(suggestion) > limits.OPTION_LABEL for suggestion in answer.suggestions)
    room = limits.EMBED_FIELDS - (1 if long else 0)
    shown = views if len(views) <= room else views[: room - 1]
    for view in shown:
        embed.add_field(name=_field_name(view), value=_field_value(view, texts), inline=False)
    if len(shown) < len(views):
        more = texts("more-sources", count=len(views) - len(shown))
        embed.add_field(name="…", value=more, inline=False)
    if long:  # the menu shows only the beginning
        listed = _fitting(
            [f"- {words(shortened(s, SUGGESTION))}" for s in answer.suggestions], 1000
        )
        embed.add_field(name=texts("follow-ups-heading"), value=listed, inline=False)
    embed.set_footer(text=shortened(summary(answer, texts), limits.EMBED_FOOTER))
    return embed


def _field_name(view: SourceView) -> str:
    return shortened(f"[{view.number}] {view.domain}", limits.EMBED_FIELD_NAME)


def _field_value(view: SourceView, texts: Texts) -> str:
    title = _titled(view)
    lines = [title] if len(title) <= limits.EMBED_FIELD_VALUE else [f"**{words(view.title)}**"]
    for line in (*_where(view, texts), *_quote_lines(view)):
        if sum(map(len, lines)) + len(lines) + len(line) > limits.EMBED_FIELD_VALUE:
            break
        lines.append(line)
    return "\n".join(lines)


def _where(view: SourceView, texts: Texts) -> list[str]:
    """The headings above a source's quotes, and who else gave its text, in small print."""
    lines = [shortened(" · ".join(view.headings), HEADINGS)]
    if view.via:
        lines.append(shortened(texts("text-given-by", name=view.via), HEADINGS))
    return [f"-# {words(line)}" for line in lines if line]


def _quote_lines(view: SourceView) -> Iterator[str]:
    """The words of a source: running text as a quote, tables and code as they stand."""
    for quote in view.quotes:
        for piece in quote.pieces:
            if piece.kind == "text":
                yield f"> {emphasised(piece.runs())}"
            else:
                is_table = piece.kind == "table"
                yield fenced(table_text(piece.text, TABLE_WIDTH) if is_table else piece.text)


def _titled(view: SourceView) -> str:
    target = link_target(view.href)
    title = words(view.title)
    return f"[**{title}**](<{target}>)" if target else f"**{title}**"


def _source_text(answer: Answer, texts: Texts, page: str) -> list[str]:
    """The sources as text, where embeds are not allowed."""
    views = sources(answer, QUOTES[1], TITLE, longest_source=QUOTES_TOGETHER, run_page=page)
    lines = [f"**{texts('sources-heading')}**"] if views else []
    for view in views:
        lines.append(f"\\[{view.number}\\] {_titled(view)}")
        lines += [*_where(view, texts), *_quote_lines(view)]
    return lines


def _fitting(lines: Sequence[str], longest: int) -> str:
    """As many whole lines as there is room for."""
    kept: list[str] = []
    for line in lines:
        if sum(map(len, kept)) + len(kept) + len(line) > longest:
            break
        kept.append(line)
    return "\n".join(kept)
