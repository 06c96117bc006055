"""Formats plans, answers and their details for Discord: the components of messages. No network, no
state.

Text of models and pages becomes harmless: no pings, no unknown links, no previews.
``bot.rendering.safety`` has what all platforms share; here is what is special to Discord: link
previews (it shows none for a URL in angle brackets) and its own Markdown
(https://support.discord.com/hc/en-us/articles/210298617).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import discord
from discord import ui

from adapters.discord import limits
from bot.core.lines import label, one_line, shortened
from bot.core.messages import Answer, PlanView, StepView, unquoted
from bot.core.texts import Texts
from bot.rendering.footnotes import SourceView, link_target, linked, reachable, sources
from bot.rendering.markdown_parts import split
from bot.rendering.markdown_tables import table_text, with_plain_tables
from bot.rendering.marks import outside_code
from bot.rendering.remarks import (
    Branch,
    SourceLabel,
    branches,
    cautions,
    named,
    remarks,
    source_line,
    summary,
    title_of,
    work,
)
from bot.rendering.safety import WORD_JOINER, addresses, without_autolinks, without_pings
from bot.text.terms import without_controls

COLOUR = discord.Colour(0x4A6FA5)
MARKS = {"waiting": "▫️", "running": "⏳", "done": "✅", "failed": "⚠️"}
TABLE_WIDTH = 60  # columns of a monospaced block on a laptop; a phone wraps it
STEPS_SHOWN = 12  # the latest steps of a plan; the earlier ones are only counted
STEP_TITLE = 120  # characters
PLAN = 1_500  # characters of a plan, which leaves room for the text above it
STEPS_TOGETHER = PLAN - 200  # the rest is for its heading and small print

Row = ui.ActionRow[ui.LayoutView]


@dataclass(frozen=True, slots=True)
class Look:
    """The content of one message, without its buttons: a text, and below it the texts of a card."""

    text: str = ""
    card: tuple[str, ...] = ()

    @property
    def written(self) -> str:
        return "\n".join(filter(None, (self.text, *self.card)))

    def layout(self, rows: Iterable[Row] = ()) -> ui.LayoutView:
        """Return the message's components; ``rows`` are its buttons and menus."""
        view = ui.LayoutView(timeout=None)
        if self.text:
            view.add_item(ui.TextDisplay(self.text))
        if self.card:
            view.add_item(ui.Container(*map(ui.TextDisplay, self.card), accent_colour=COLOUR))
        for row in rows:
            view.add_item(row)
        view.stop()  # so that discord.py does not keep it: a control's id says all that it means
        return view


def written_in(components: Iterable[Mapping[str, Any]]) -> str:
    """Return ``Look.written`` of a message's components as Discord sends them."""
    texts = (
        str(part["content"]) if part.get("content") else written_in(part.get("components") or ())
        for part in components
    )
    return "\n".join(filter(None, texts))


# ---------------------------------------------------------------- while it works


def working(
    plan: PlanView,
    text: str,
    texts: Texts,
    *,
    run: str,
    seconds: float,
    title: str = "",
    opening: str = "",
) -> Look:
    """Format the plan with its states, and as much of the text so far as fits into one message.

    ``seconds`` is the elapsed time; ``title`` names the work, if it is not answering a new
    question; ``opening`` is the beginning of the message.
    """
    heading = f"**{title or texts('working')}**"
    footer = f"-# {texts('elapsed', seconds=int(seconds))} · {run}"
    room = limits.PART - PLAN - len(opening)
    written = _beginning(text, dict(plan.numbered), room)
    plain = "\n".join([heading, *plan_lines(plan.steps, texts), footer])
    return Look("\n\n".join(filter(None, (opening, written))), (plain,))


def plan_lines(steps: Sequence[StepView], texts: Texts) -> list[str]:
    """Return one line per step, for the latest ones; the earlier ones are only counted.

    A sub-question or paragraph has a line even while it waits, with the work done for it.
    """
    known = branches(steps)
    shown = [b for b in known if b.line.state != "waiting" or b.is_part] or list(known)
    latest = [_step_line(branch, texts) for branch in shown[-STEPS_SHOWN:]]
    lines = _fitting(latest[::-1], STEPS_TOGETHER)[::-1]
    hidden = len(shown) - len(lines)
    earlier = [f"-# {texts('more-steps', count=hidden)}"] if hidden > 0 else []
    return earlier + lines


def _step_line(branch: Branch, texts: Texts) -> str:
    step = branch.line
    title = words(shortened(title_of(step), STEP_TITLE))
    line = f"{MARKS[step.state]} {named(step, title, texts)}"
    if done := work(branch, texts):
        line = f"{line} · {done}"
    return f"{line} — {words(shortened(label(step.detail), STEP_TITLE))}" if step.detail else line


def _beginning(text: str, urls: Mapping[int, str], room: int) -> str:
    """Return the first part of an unfinished text, as complete Markdown.

    It does not change while the rest is written, so that people can read it.
    """
    parts = split(as_markdown(text, urls), room) if text.strip() else []
    return "\n\n".join(parts[:1] + ["…"] * (len(parts) > 1))


# ---------------------------------------------------------------- the answer


def format_answer(
    answer: Answer,
    texts: Texts,
    *,
    gaps: Iterable[str] = (),
    opening: str = "",
    page: str = "",
) -> tuple[Look, ...]:
    """Format the messages of an answer, in order, at least one. In small print below the text are
    cautions and, on one line, the sources.

    ``gaps`` are text ids of what Footnote may not do there; ``opening`` precedes the text; ``page``
    is the URL of the run page, or "".
    """
    small = [*(texts(gap) for gap in gaps), *cautions(answer, texts, words)]
    if answer.status == "failed":
        small.append(summary(answer, texts))
    noted = "\n".join(f"-# {line}" for line in small)
    body = "\n\n".join(filter(None, (opening, answer_text(answer, texts, page), noted)))
    parts = split(body, limits.PART) or ["…"]
    lines = _source_lines(answer, texts, page)
    fitting = [line for line in lines if len(parts[-1]) + len(line) < limits.PART]
    if fitting:
        parts[-1] += f"\n{fitting[0]}"
    elif lines:
        parts.append(next((line for line in lines if len(line) < limits.PART), lines[-1]))
    return tuple(Look(part) for part in parts)


def _source_lines(answer: Answer, texts: Texts, page: str) -> list[str]:
    """Return the line of sources with links and, in case the URLs do not fit, without."""
    line = source_line(answer, page)
    if not line.labels:
        return []
    more = [texts("more-sources", count=line.more)] if line.more else []
    linked = [_labelled(label, link_target(label.href)) for label in line.labels]
    named = [_labelled(label, "") for label in line.labels]
    return [f"-# {' · '.join((*labels, *more))}" for labels in (linked, named)]


def _labelled(label: SourceLabel, target: str) -> str:
    title = words(label.words)
    return f"\\[{label.number}\\] " + (f"[{title}](<{target}>)" if target else title)


def answer_text(answer: Answer, texts: Texts, page: str = "") -> str:
    """Format the answer as Discord's Markdown: footnotes are the only links."""
    if answer.status == "failed":
        return f"⚠️ {texts('failed', reason=harmless(answer.text))}"
    return as_markdown(answer.text, reachable(answer, page))


# A wrapped line and the next one: Discord shows each line break.
_WRAPPED = re.compile(
    r"(?m)^(?![ \t]*[#>])([^|\n]{49,}[^|\s\\.!?:;])\n[ \t]*(?=[^\W\d_])(?![\u2e80-\uffef])"
)


def as_markdown(text: str, urls: Mapping[int, str]) -> str:
    # A local file is shown by name, without its path on the server.
    text = harmless(text, frozenset(url for url in urls.values() if link_target(url)))
    # Tables first: a link in a cell would distort the width and not work in a code block.
    text = with_plain_tables(text, TABLE_WIDTH)
    text = outside_code(text, lambda part: _WRAPPED.sub(r"\1 ", part))
    return linked(text, urls, lambda number, url: f"[[{number}]](<{url}>)")


# ---------------------------------------------------------------- small things


def echo(question: str, name: str, texts: Texts) -> str:
    """Format the question of a command as a message from which its thread is made."""
    asked = texts("question-of", name=words(label(name)))
    text = f"**{asked}**\n\n> {words(question)}"
    return text if len(text) <= ECHO else text[: ECHO - 1] + "…"


def thread_name(question: str) -> str:
    return shortened(unquoted(question), limits.THREAD_NAME) or "Footnote"


ECHO = 2_000  # characters of a repeated question
REMARKS = 3_000  # characters of doubts and notes
SUGGESTION = 300  # characters
SUGGESTIONS = 1_000  # characters of all suggestions
TITLE = 150  # characters of a source's title
HEADINGS = 150  # characters of the headings above its quotes
SEARCHED = 300  # characters of the list of searches
SOURCES = 25  # shown; the others are counted
SOURCE = 1_024  # characters of a source with its quotes
MESSAGES = 1 + limits.FOLLOW_UPS_ELSEWHERE
QUOTES = (300, 200, 120, 60, 0)  # characters of a quote, shorter the more sources there are
QUOTES_TOGETHER = 600  # characters of all quotes of a source


def details(answer: Answer, texts: Texts, *, page: str = "") -> tuple[Look, ...]:
    """Format an answer's details as one to ``MESSAGES`` messages: doubts, notes and the searches,
    sources with quotes, suggestions, time and cost; the more sources, the shorter the quotes.

    ``page`` is the URL of the run page, or "".
    """
    for quote in QUOTES:
        looks = _packed(_detail_texts(answer, texts, quote, page))
        if len(looks) <= MESSAGES:
            break
    return looks


def _packed(told: Iterable[str]) -> tuple[Look, ...]:
    """Put texts into as few messages as hold them, in order."""
    cards: list[tuple[str, ...]] = [()]
    for text in filter(None, told):
        if sum(map(len, cards[-1])) + len(text) > limits.PART:
            cards.append(())
        cards[-1] += (text,)
    return tuple(Look(card=card) for card in cards)


def _detail_texts(answer: Answer, texts: Texts, quote: int, page: str) -> Iterator[str]:
    small = [*remarks(answer, texts, words)]
    if answer.queries:
        queries = shortened(texts("report-separator").join(answer.queries), SEARCHED)
        small.append(texts("searched-for", queries=words(queries)))
    yield "\n".join(_fitting(small, REMARKS))
    views = sources(answer, quote, TITLE, longest_source=QUOTES_TOGETHER, run_page=page)
    if views:
        yield f"**{texts('sources-heading')}**"
    for view in views[:SOURCES]:
        yield _source_text(view, texts)
    if len(views) > SOURCES:
        yield texts("more-sources", count=len(views) - SOURCES)
    if any(len(suggestion) > limits.OPTION_LABEL for suggestion in answer.suggestions):
        # The menu shows only the beginnings.
        listed = [f"- {words(shortened(each, SUGGESTION))}" for each in answer.suggestions]
        heading = f"**{texts('follow-ups-heading')}**"
        yield "\n".join([heading, *_fitting(listed, SUGGESTIONS)])
    yield f"-# {summary(answer, texts)}"


def _source_text(view: SourceView, texts: Texts) -> str:
    title, target = f"**{words(view.title)}**", link_target(view.href)
    linked = f"[{title}](<{target}>)" if target and len(target) < SOURCE // 2 else title
    named = " · ".join(filter(None, (f"\\[{view.number}\\] {linked}", words(view.domain))))
    return "\n".join(_fitting([named, *_where(view, texts), *_quote_lines(view)], SOURCE))


def _where(view: SourceView, texts: Texts) -> list[str]:
    lines = [shortened(" · ".join(view.headings), HEADINGS)]
    if view.via:
        lines.append(shortened(texts("text-given-by", name=view.via), HEADINGS))
    return [f"-# {words(line)}" for line in lines if line]


def _quote_lines(view: SourceView) -> Iterator[str]:
    """Yield the quotes of a source: running text as a block quote, tables and code unchanged."""
    for quote in view.quotes:
        for piece in quote.pieces:
            if piece.kind == "text":
                yield f"> {emphasised(piece.runs())}"
            else:
                is_table = piece.kind == "table"
                yield fenced(table_text(piece.text, TABLE_WIDTH) if is_table else piece.text)


def _fitting(lines: Iterable[str], longest: int) -> list[str]:
    """Return the first lines that together have at most ``longest`` characters."""
    kept: list[str] = []
    for line in lines:
        if sum(map(len, kept)) + len(kept) + len(line) > longest:
            break
        kept.append(line)
    return kept


# ---------------------------------------------------------------- harmless text

_LINKED = re.compile(
    r"(?P<before>\]\()\s*(?P<target>https?://(?:[^\s<>()]|\([^\s<>()]*\))+)(?P<after>\s*\))"
    r"|(?P<bare>(?<![<(])https?://(?:[^\s<>()|*]|\([^\s<>()]*\))*[^\s<>()|*.,;:!?'\"\]])",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^([ \t>]*+)#{4,6}[ \t]++((?:[ \t#]*+[^ \t#\n]++)*+)[ \t#]*+$", re.MULTILINE
)  # Discord has three
_MARKDOWN = re.compile(r"([\\*_~|`\[\]<])|(?<=:)(//)|^([#>+-])")


def harmless(text: str, sources: Collection[str] = ()) -> str:
    """Return Markdown with no live links except those to ``sources`` (URLs), and no previews.

    Other links keep their words and lose their target.
    """
    text = without_pings(without_autolinks(without_controls(text), addresses(sources)))
    return outside_code(text, _as_discord_reads)


def words(text: str) -> str:
    """Return plain text as Markdown that shows it letter by letter, on one line."""
    return without_pings(_MARKDOWN.sub(_escaped, one_line(text)))


def emphasised(runs: Iterable[tuple[str, bool]]) -> str:
    """Escape pieces of text as ``words`` does; those with True are bold."""
    shown = []
    for text, is_strong in runs:
        before = " " * text.startswith(" ")
        after = " " * (text.endswith(" ") and bool(text.strip()))
        shown.append(f"**{words(text)}**" if is_strong else f"{before}{words(text)}{after}")
    return without_pings("".join(shown))


def fenced(text: str) -> str:
    """Return lines as a code block, which Discord shows unchanged."""
    return f"```\n{without_pings(text).replace('```', f'``{WORD_JOINER}`')}\n```"


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match.group()}"


def _as_discord_reads(text: str) -> str:
    text = _HEADING.sub(r"\1**\2**", text)
    return _LINKED.sub(_without_preview, text)


def _without_preview(link: re.Match[str]) -> str:
    if link["bare"]:
        return f"<{link['bare']}>"
    return f"](<{link['target']}>)"
