"""Formats plans and answers for Discord: message texts and embeds. No network, no state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import discord

from adapters.discord import limits
from adapters.discord.safety import harmless, words
from bot.answers import Answer, PlanView, StepView
from bot.rendering.blocks import split
from bot.rendering.footnotes import link_target, linked, reachable
from bot.rendering.lines import shortened
from bot.rendering.plan import Branch, branches, work
from bot.rendering.remarks import SourceLabel, cautions, source_line, summary
from bot.rendering.tables import with_plain_tables
from bot.rendering.texts import Texts

COLOUR = discord.Colour(0x4A6FA5)
MARKS = {"waiting": "▫️", "running": "⏳", "done": "✅", "failed": "⚠️"}
NAMED_STEPS = frozenset(
    ("rewrite", "search", "read", "think", "plan", "draft", "revise", "write", "check")
)
TABLE_WIDTH = 60  # columns of a monospaced block on a laptop; a phone wraps it
STEPS_SHOWN = 12  # of a plan; the earlier ones are counted
STEP_TITLE = 120  # characters


@dataclass(frozen=True, slots=True)
class Look:
    """The content of one message, buttons aside."""

    content: str = ""
    embeds: tuple[discord.Embed, ...] = ()


# ---------------------------------------------------------------- while it works


def working(
    plan: PlanView,
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
    lines = plan_lines(plan.steps, texts)
    footer = f"{texts('elapsed', seconds=int(seconds))} · {run}"
    title = title or texts("working")
    written = _beginning(text, dict(plan.numbered))
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
    parts = split(as_markdown(text, urls), limits.PART) if text.strip() else []
    return "\n\n".join(parts[:1] + ["…"] * (len(parts) > 1))


# ---------------------------------------------------------------- the answer


def answered(
    answer: Answer,
    texts: Texts,
    *,
    gaps: Iterable[str] = (),
    opening: str = "",
    page: str = "",
) -> tuple[Look, ...]:
    """The messages of an answer, in order, at least one; in small print below the text stand what a
    reader has to know and, on one line, the sources.

    ``gaps`` are text ids of what Footnote may not do there; ``opening`` stands before the text;
    ``page`` is where a browser shows how the answer came about, or "".
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
    """The line of sources as links and, for where there is no room for addresses, without."""
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
    """The answer as Discord's Markdown: footnotes are links, all else is harmless."""
    if answer.status == "failed":
        return f"⚠️ {texts('failed', reason=harmless(answer.text))}"
    return as_markdown(answer.text, reachable(answer, page))


def as_markdown(text: str, urls: Mapping[int, str]) -> str:
    # A local file is named; its path on the server is not shown.
    text = harmless(text, frozenset(url for url in urls.values() if link_target(url)))
    # Tables first: a link in a cell would count as its letters, and do nothing in a fence.
    text = with_plain_tables(text, TABLE_WIDTH)
    return linked(text, urls, lambda number, url: f"[[{number}]](<{url}>)")


# ---------------------------------------------------------------- small things


def echo(question: str, name: str, texts: Texts) -> str:
    """The question of a command as a message that its thread can start from."""
    asked = texts("question-of", name=words(name))
    quoted = words(shortened(question, limits.PART - 400))
    return _within(limits.CONTENT, f"**{asked}**", f"> {quoted}")


def thread_name(question: str) -> str:
    """A thread's name: the question, as far as it fits."""
    return shortened(question, limits.THREAD_NAME) or "Footnote"


def _within(longest: int, *parts: str) -> str:
    """The parts below each other, the last one cut where there is no room for it."""
    text = "\n\n".join(part for part in parts if part)
    return text if len(text) <= longest else text[: longest - 1] + "…"
