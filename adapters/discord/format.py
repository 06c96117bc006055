"""How plans and answers look in Discord: message texts and embeds. No network, no state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import discord

from adapters.discord import limits
from adapters.discord.safety import emphasised, fenced, harmless, words
from bot.answers import Answer, PlanView, StepView
from bot.rendering.blocks import split
from bot.rendering.footnotes import SourceView, link_target, linked, reachable, sources
from bot.rendering.lines import shortened
from bot.rendering.plan import Branch, branches, work
from bot.rendering.remarks import remarks, summary
from bot.rendering.tables import table_text, with_plain_tables
from bot.rendering.texts import Texts

COLOUR = discord.Colour(0x4A6FA5)
MARKS = {"waiting": "▫️", "running": "⏳", "done": "✅", "failed": "⚠️"}
NAMED_STEPS = frozenset(
    ("rewrite", "search", "read", "think", "plan", "draft", "revise", "write", "check")
)
TABLE_WIDTH = 60  # columns of a monospaced block on a laptop; a phone wraps it
STEPS_SHOWN = 12  # of a plan; the earlier ones are counted
STEP_TITLE = 120  # characters
REMARKS = 1_500  # characters of doubts and notes in the embed
SUGGESTION = 300  # characters
TITLE = 150  # characters of a source's title
HEADINGS = 150  # characters of what its quotes stand under
FURTHER = 3_000  # characters of further reading in an embed; half of what a message's embeds take
QUOTES = (300, 200, 120, 60, 0)  # characters of a quote, shorter the more sources there are
QUOTES_TOGETHER = 600  # characters of all quotes of a source


@dataclass(frozen=True, slots=True)
class Look:
    """What one message shows, buttons aside."""

    content: str = ""
    embeds: tuple[discord.Embed, ...] = ()


# ---------------------------------------------------------------- while it works


def working(
    plan: PlanView | None,
    text: str,
    texts: Texts,
    *,
    run: str,
    seconds: float,
    embeds: bool,
    title: str = "",
    opening: str = "",
) -> Look:
    """The plan with its states, and of the text written so far what fits into one message.

    ``seconds`` is how long it has been going on; ``title`` says what is being done, if it is not
    answering a new question; ``opening`` stands before everything.
    """
    lines = plan_lines(plan.steps if plan else (), texts)
    footer = f"{texts('elapsed', seconds=int(seconds))} · {run}"
    title = title or texts("working")
    written = _beginning(text, dict(plan.numbered) if plan else {})
    if not embeds:
        plain = "\n".join([f"**{title}**", *lines, f"-# {footer}"])
        return Look(_within(limits.CONTENT, opening, written or plain))
    embed = discord.Embed(title=title, description="\n".join(lines) or None, colour=COLOUR)
    embed.set_footer(text=footer)
    return Look(_within(limits.CONTENT, opening, written), (embed,))


def plan_lines(steps: Sequence[StepView], texts: Texts) -> list[str]:
    """One line a step, the latest ones; the others are counted.

    A sub-question or paragraph is a line also while it waits, with what was done for it.
    """
    lines = branches(steps)
    shown = [b for b in lines if b.line.state != "waiting" or b.is_part] or list(lines)
    hidden = len(shown) - STEPS_SHOWN
    earlier = [f"-# {texts('more-steps', count=hidden)}"] if hidden > 0 else []
    return earlier + [_step_line(branch, texts) for branch in shown[-STEPS_SHOWN:]]


def _step_line(branch: Branch, texts: Texts) -> str:
    step = branch.line
    id = f"step-{step.kind}" if step.kind in NAMED_STEPS else "step-other"
    line = f"{MARKS[step.state]} {texts(id, title=words(shortened(step.title, STEP_TITLE)))}"
    if done := work(branch, texts):
        line = f"{line} · {done}"
    return f"{line} — {words(shortened(step.detail, STEP_TITLE))}" if step.detail else line


def _beginning(text: str, urls: Mapping[int, str]) -> str:
    """The first part of a text that is still being written, as Markdown that closes.

    It stays as it is while the rest is written, so that it can be read.
    """
    parts = split(_markdown(text, urls), limits.PART) if text.strip() else []
    return "\n\n".join(parts[:1] + ["…"] * (len(parts) > 1))


# ---------------------------------------------------------------- the answer


def answered(
    answer: Answer,
    texts: Texts,
    *,
    embeds: bool,
    gaps: Iterable[str] = (),
    opening: str = "",
    page: str = "",
) -> tuple[Look, ...]:
    """The messages of an answer, in order, at least one; further reading, sources and summary are
    in the last.

    ``gaps`` are text ids of what Footnote may not do there; ``opening`` stands before the text;
    ``page`` is where a browser shows how the answer came about, or "".
    """
    body = answer_text(answer, texts, page)
    if opening:
        body = f"{opening}\n\n{body}"
    further = _markdown(answer.more, reachable(answer, page)) if answer.more else ""
    small = [*(texts(gap) for gap in gaps), *remarks(answer, texts, words)]
    if further and not (embeds and len(further) <= FURTHER):
        # Discord folds nothing: what has no embed comes last, under a line in small print.
        body, further = f"{body}\n\n-# {texts('more-heading')}\n{further}", ""
    if embeds:
        parts = split(body, limits.PART)
        looks = [Look(part) for part in parts] or [Look("…")]
        last = looks.pop()
        return (*looks, Look(last.content, _below(answer, small, texts, further, page)))
    noted = "\n".join(f"-# {remark}" for remark in small)
    parts = split("\n\n".join(filter(None, (body, noted))), limits.PART) or ["…"]
    under = [*_source_lines(answer, texts, page), f"-# {summary(answer, texts)}"]
    first, *rest = split("\n".join(under), limits.PART)
    if len(parts[-1]) + len(first) < limits.PART:
        first = f"{parts.pop()}\n\n{first}"
    return tuple(Look(part) for part in (*parts, first, *rest))


def answer_text(answer: Answer, texts: Texts, page: str = "") -> str:
    """The answer as Discord's Markdown: footnotes are links, all else is harmless."""
    if answer.status == "failed":
        return f"⚠️ {texts('failed', reason=harmless(answer.text))}"
    return _markdown(answer.text, reachable(answer, page))


def _markdown(text: str, urls: Mapping[int, str]) -> str:
    # A local file is named; its path on the server is not shown.
    text = harmless(text, frozenset(url for url in urls.values() if link_target(url)))
    # Tables first: a link in a cell would count as its letters, and do nothing in a fence.
    text = with_plain_tables(text, TABLE_WIDTH)
    return linked(text, urls, lambda number, url: f"[[{number}]](<{url}>)")


def _below(
    answer: Answer, small: Sequence[str], texts: Texts, further: str, page: str
) -> tuple[discord.Embed, ...]:
    """The embeds below an answer: the further reading, then remarks, sources, follow-ups and
    summary."""
    reading = discord.Embed(title=texts("more-heading"), description=further or None, colour=COLOUR)
    room = limits.EMBED_TOTAL - (len(reading) if further else 0)
    for quote in QUOTES:
        embed = _embed(answer, small, texts, quote, page)
        if len(embed) <= room:
            break
    while len(embed) > room:
        embed.remove_field(-2)  # the last source; what follows counts what is not shown
    return (reading, embed) if further else (embed,)


def _embed(
    answer: Answer, small: Sequence[str], texts: Texts, quote: int, page: str
) -> discord.Embed:
    description = _fitting(small, REMARKS)
    views = sources(answer, quote, TITLE, longest_source=QUOTES_TOGETHER, run_page=page)
    embed = discord.Embed(
        title=texts("sources-heading") if views else None,
        description=description or None,
        colour=COLOUR,
    )
    long = any(len(suggestion) > limits.BUTTON_LABEL for suggestion in answer.suggestions)
    room = limits.EMBED_FIELDS - (1 if long else 0)
    shown = views if len(views) <= room else views[: room - 1]
    for view in shown:
        embed.add_field(name=_field_name(view), value=_field_value(view, texts), inline=False)
    if len(shown) < len(views):
        more = texts("more-sources", count=len(views) - len(shown))
        embed.add_field(name="…", value=more, inline=False)
    if long:  # their buttons show only the beginning
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
    """What on its page the quotes of a source stand under, and who else gave its text, in small
    print."""
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


def _source_lines(answer: Answer, texts: Texts, page: str) -> list[str]:
    """The sources as text, where embeds are not allowed."""
    views = sources(answer, QUOTES[1], TITLE, longest_source=QUOTES_TOGETHER, run_page=page)
    lines = [f"**{texts('sources-heading')}**"] if views else []
    for view in views:
        lines.append(f"\\[{view.number}\\] {_titled(view)}")
        lines += [*_where(view, texts), *_quote_lines(view)]
    return lines


# ---------------------------------------------------------------- small things


def echo(question: str, name: str, texts: Texts) -> str:
    """The question of a command as a message that its thread can start from."""
    asked = texts("question-of", name=words(name))
    quoted = words(shortened(question, limits.PART - 400))
    return _within(limits.CONTENT, f"**{asked}**", f"> {quoted}")


def thread_name(question: str) -> str:
    """A thread's name: the question, as far as it fits."""
    return shortened(question, limits.THREAD_NAME) or "Footnote"


def _fitting(lines: Sequence[str], longest: int) -> str:
    """As many whole lines as there is room for."""
    kept: list[str] = []
    for line in lines:
        if sum(map(len, kept)) + len(kept) + len(line) > longest:
            break
        kept.append(line)
    return "\n".join(kept)


def _within(longest: int, *parts: str) -> str:
    """The parts below each other, the last one cut where there is no room for it."""
    text = "\n\n".join(part for part in parts if part)
    return text if len(text) <= longest else text[: longest - 1] + "…"
