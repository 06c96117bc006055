"""How answers and plans look in Slack: blocks, chunks and Markdown. Pure: values in, JSON out.

What comes from a model, a page or a person goes into ``rich_text`` and ``plain_text``, where
nothing is markup, or into Markdown made harmless before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack import actions
from adapters.slack.limits import (
    BUTTON_CHARACTERS,
    CONTEXT_CHARACTERS,
    CONTEXT_ELEMENTS,
    FOLLOW_UPS,
    MARKDOWN_CHARACTERS,
    NOTIFICATION_CHARACTERS,
    PART_CHARACTERS,
    QUOTE_CHARACTERS,
    QUOTES_CHARACTERS,
    RICH_TEXT_CHARACTERS,
    SOURCES,
    URL_CHARACTERS,
)
from adapters.slack.plan import Link, Task, plain
from bot.answers import Answer, Status
from bot.messages import Depth
from bot.pages.urls import dedupe_key
from bot.rendering.blocks import split
from bot.rendering.footnotes import SourceView, link_target, linked, sources
from bot.rendering.lines import shortened
from bot.rendering.remarks import remarks, summary
from bot.rendering.safety import without_autolinks, without_pings
from bot.rendering.texts import Texts

Json = dict[str, Any]

_ELLIPSES = re.compile(r"…(?:\s*…)+")
"""One after the other: of a quote that was cut, of what joins it to the next, of the whole cut."""

_MARKS: Mapping[str, str] = {
    "pending": "○",
    "in_progress": "◌",
    "complete": "✓",
    "error": "✗",
}
_ASK_AGAIN: frozenset[Status] = frozenset({"answered", "not_found", "stopped"})


@dataclass(frozen=True, slots=True)
class Final:
    """An answer ready to be shown: its Markdown, what stands under it, its plan's title, and its
    words without links."""

    text: str
    closing: tuple[Json, ...]
    title: str
    plain: str


# ---------------------------------------------------------------- Markdown


def markdown(text: str, urls: Mapping[int, str]) -> str:
    """An answer's text with its footnotes as links, in which nothing else is live."""
    sources_only = without_autolinks(without_pings(text), _keys(urls.values()))
    return linked(sources_only, urls, lambda number, url: f"[[{number}]]({url})")


def urls_of(answer: Answer) -> dict[int, str]:
    return {citation.number: citation.url for citation in answer.citations}


def parts(text: str, limit: int = PART_CHARACTERS) -> list[str]:
    """The text in parts that one message each takes; at least one, never an empty one."""
    return split(text, limit) or ["…"]


def escaped(text: str) -> str:
    """Plain text as Slack's mrkdwn, https://docs.slack.dev/messaging/formatting-message-text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def notification(text: str) -> str:
    """What a notification shows of a message that has blocks."""
    return escaped(plain(text, NOTIFICATION_CHARACTERS)) or "…"


def markdown_block(text: str) -> Json:
    return {"type": "markdown", "text": text}


# ---------------------------------------------------------------- an answer


def final(answer: Answer, texts: Texts, *, depth: Depth, page: str = "") -> Final:
    """The answer with all that stands under it; ``depth`` is what its run was asked for, ``page``
    where a browser shows how it came about."""
    return Final(
        text=markdown(answer.text, urls_of(answer)) or "…",
        closing=tuple(closing(answer, texts, depth=depth, page=page)),
        title=answer.question,
        plain=answer.text,
    )


def failure(answer: Answer, sentence: str, texts: Texts, *, page: str = "") -> Final:
    """What is shown instead of an answer."""
    text = _harmless(texts("failed", reason=sentence))
    closing = (_numbers(answer, texts, page),)
    return Final(text=text, closing=closing, title=answer.question, plain=text)


def closing(answer: Answer, texts: Texts, *, depth: Depth, page: str = "") -> list[Json]:
    """Doubts and notes, sources, suggestions, buttons, and the line of numbers."""
    blocks: list[Json] = []
    if noted := remarks(answer, texts):
        blocks.append(_context(noted))
    if answer.citations:
        blocks += source_blocks(answer, texts)
    if answer.suggestions:
        blocks += _follow_ups(answer, texts)
    if answer.status in _ASK_AGAIN:
        if depth != "deep" and _is_researched(answer):
            button = _button(texts("dig-deeper"), actions.DEEPER, answer.run)
            blocks.append({"type": "actions", "elements": [button]})
        blocks.append(_feedback(answer.run, texts))
    blocks.append(_numbers(answer, texts, page))
    return blocks


def _numbers(answer: Answer, texts: Texts, page: str) -> Json:
    """What it took, and the link to how it came about."""
    block = _context([summary(answer, texts)])
    target = link_target(page) if page else ""
    if target:
        link = f"<{escaped(target)}|{escaped(texts('web-how'))}>"
        block["elements"].append({"type": "mrkdwn", "text": link, "verbatim": True})
    return block


def _is_researched(answer: Answer) -> bool:
    """Whether there is anything to dig into: greetings are answered without a search."""
    return bool(answer.citations or answer.queries)


def source_blocks(answer: Answer, texts: Texts) -> list[Json]:
    """The numbered sources: linked title, domain, and the words that are quoted."""
    every = sources(answer.citations)
    shown = every[:SOURCES]
    room = max(min(QUOTE_CHARACTERS, QUOTES_CHARACTERS // max(len(shown), 1)), 60)
    heading = _section([_text(texts("sources-heading"), bold=True)])
    entries = [[heading], *(_source(view, room) for view in shown)]
    if len(every) > len(shown):
        more = texts("more-sources", count=len(every) - len(shown))
        entries.append([_section([_text(more)])])
    return [{"type": "rich_text", "elements": part} for part in _packed(entries)]


def _source(view: SourceView, room: int) -> list[Json]:
    target = link_target(view.url)
    title = without_pings(f"[{view.number}] {view.title}")
    linkable = 0 < len(target) <= URL_CHARACTERS
    named: Json = {"type": "link", "url": target, "text": title} if linkable else _text(title)
    line = [named]
    if view.domain and view.domain != view.title:
        line.append(_text(f" ({view.domain})"))
    entry = [_section(line)]
    joined = _ELLIPSES.sub("…", " … ".join(view.quotes))
    quote = without_pings(_ELLIPSES.sub("…", shortened(joined, room)))
    if quote:
        entry.append({"type": "rich_text_quote", "elements": [_text(quote)]})
    return entry


def _packed(entries: Iterable[list[Json]]) -> list[list[Json]]:
    """Entries in as few rich text blocks as their characters allow."""
    packed: list[list[Json]] = []
    used = RICH_TEXT_CHARACTERS
    for entry in entries:
        size = sum(
            len(piece.get("text", "")) + len(piece.get("url", ""))
            for element in entry
            for piece in element["elements"]
        )
        if used + size > RICH_TEXT_CHARACTERS:
            packed.append([])
            used = 0
        packed[-1] += entry
        used += size
    return packed


def _follow_ups(answer: Answer, texts: Texts) -> list[Json]:
    buttons = [
        _button(suggestion, actions.follow_up_action(n), actions.follow_up_value(answer.run, n))
        for n, suggestion in enumerate(answer.suggestions[:FOLLOW_UPS])
    ]
    return [_context([texts("follow-ups-heading")]), {"type": "actions", "elements": buttons}]


def _feedback(run: str, texts: Texts) -> Json:
    return {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": actions.FEEDBACK,
                "positive_button": {
                    "text": _plain_text(texts("feedback-good"), BUTTON_CHARACTERS),
                    "value": actions.feedback_value(run, "good"),
                },
                "negative_button": {
                    "text": _plain_text(texts("feedback-bad"), BUTTON_CHARACTERS),
                    "value": actions.feedback_value(run, "bad"),
                },
            }
        ],
    }


# ---------------------------------------------------------------- while it works


def working_blocks(
    tasks: Sequence[Task], text: str, texts: Texts, *, stop: str = "", note: str = ""
) -> list[Json]:
    """A reply that is not finished, where it cannot be streamed.

    ``text`` is Markdown as ``markdown`` gives it; ``stop`` is the run that a button stops.
    """
    lines = [
        f"{_MARKS[task.state]} {task.title}" + (f" · {task.details}" if task.details else "")
        for task in tasks
    ]
    blocks = [_context([note or texts("working"), *_joined(lines)])]
    if text:
        blocks.append(markdown_block(parts(text)[0]))
    if stop:
        button = _button(texts("stop-button"), actions.STOP, stop)
        blocks.append({"type": "actions", "elements": [button]})
    return blocks


def task_chunk(task: Task, *, details: str, links: Sequence[Link]) -> Json:
    """What is new about a task of a stream."""
    chunk: Json = {
        "type": "task_update",
        "id": task.id,
        "title": task.title,
        "status": task.state,
    }
    if details:
        chunk["details"] = details
    if links:
        chunk["sources"] = [{"type": "url", "url": link.url, "text": link.text} for link in links]
    return chunk


def chunk_characters(chunk: Json) -> int:
    """What a chunk takes of a stream's characters."""
    own = sum(len(chunk.get(key, "")) for key in ("text", "title", "details", "output"))
    return own + sum(len(link["url"]) + len(link["text"]) for link in chunk.get("sources", ()))


def question_text(name: str, question: str, texts: Texts) -> str:
    """What begins a thread for a slash command; what one message does not take ends in "…"."""
    room = PART_CHARACTERS
    while True:
        first, *rest = parts(question, room)
        shown = f"{first} …" if rest else first
        text = _harmless(texts("asked-by", name=plain(name, 80), question=shown))
        if len(text) <= MARKDOWN_CHARACTERS:
            return text
        room //= 2  # what makes foreign words harmless makes them longer


# ---------------------------------------------------------------- small pieces


def _harmless(text: str) -> str:
    """Text of our own with foreign words in it, as Markdown in which nothing is live."""
    return without_autolinks(without_pings(text), frozenset())


def _keys(urls: Iterable[str]) -> frozenset[str]:
    """What tells the sources' addresses from others, however they are written."""
    return frozenset(dedupe_key(target) for url in urls if (target := link_target(url)))


def _joined(lines: Sequence[str]) -> list[str]:
    """Lines as at most as many texts as a context block takes."""
    joined: list[str] = []
    for line in lines:
        if joined and len(joined[-1]) + len(line) < CONTEXT_CHARACTERS:
            joined[-1] += f"\n{line}"
        elif len(joined) < CONTEXT_ELEMENTS - 1:
            joined.append(line)
    return joined


def _context(said: Sequence[str]) -> Json:
    """Small print: plain texts, one under the other."""
    lines = [plain(one, 600) if "\n" not in one else one for one in said]
    shown = _joined([line for line in lines if line]) or ["…"]
    return {
        "type": "context",
        "elements": [
            {"type": "plain_text", "text": text[:CONTEXT_CHARACTERS], "emoji": False}
            for text in shown
        ],
    }


def _plain_text(text: str, longest: int) -> Json:
    return {"type": "plain_text", "text": plain(text, longest) or "…", "emoji": False}


def _button(text: str, action_id: str, value: str) -> Json:
    return {
        "type": "button",
        "text": _plain_text(text, BUTTON_CHARACTERS),
        "action_id": action_id,
        "value": value,
    }


def _section(elements: list[Json]) -> Json:
    return {"type": "rich_text_section", "elements": elements}


def _text(text: str, *, bold: bool = False) -> Json:
    element: Json = {"type": "text", "text": text}
    return {**element, "style": {"bold": True}} if bold else element
