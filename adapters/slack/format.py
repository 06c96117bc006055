"""How answers and plans look in Slack: blocks, chunks and Markdown. Pure: values in, JSON out.

What comes from a model, a page or a person goes into ``rich_text`` and ``plain_text``, where
nothing is markup, or into Markdown made harmless before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from adapters.slack import actions
from adapters.slack.limits import (
    BUTTON_CHARACTERS,
    CONTAINER_BLOCKS,
    CONTAINER_TITLE_CHARACTERS,
    CONTEXT_CHARACTERS,
    CONTEXT_ELEMENTS,
    FOLLOW_UPS,
    HEADINGS_CHARACTERS,
    MARKDOWN_CHARACTERS,
    NOTIFICATION_CHARACTERS,
    PART_CHARACTERS,
    QUOTE_CHARACTERS,
    QUOTES_CHARACTERS,
    SOURCES,
    TABLE_WIDTH,
)
from adapters.slack.plan import Task, plain
from adapters.slack.rich import (
    link_element,
    packed,
    preformatted,
    quote,
    rich_text,
    section,
    text_element,
)
from bot.answers import Answer, Status
from bot.messages import Depth
from bot.rendering.blocks import split
from bot.rendering.excerpts import joined
from bot.rendering.footnotes import SourceView, link_target, linked, reachable, sources
from bot.rendering.lines import shortened
from bot.rendering.remarks import remarks, summary
from bot.rendering.safety import WORD_JOINER, without_autolinks, without_pings
from bot.rendering.tables import table_text
from bot.rendering.texts import Texts
from bot.research.links import addresses
from bot.research.marks import ESCAPE, code_spans
from bot.research.verbatim import as_words

Json = dict[str, Any]

# https://docs.slack.dev/reference/block-kit/blocks/markdown-block: what it takes a backslash before
_SLACK_ESCAPES = frozenset("\\`*_{}[]()#+-.!")
_SPECIAL = re.compile(
    rf"{ESCAPE.pattern[:2]}(?P<escaped>{ESCAPE.pattern[2:]})"
    r"|\]\((?:<[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*)\)|https?://\S+"  # addresses stay
    r"|:(?=[a-z0-9_+'-]*[a-z1][a-z0-9_+'-]*:)"
)

_MARKS: Mapping[str, str] = {
    "pending": "○",
    "in_progress": "◌",
    "complete": "✓",
    "error": "✗",
}
_ASK_AGAIN: frozenset[Status] = frozenset({"answered", "partial", "not_found", "stopped"})


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
    allowed = addresses(target for url in urls.values() if (target := link_target(url)))
    sources_only = without_autolinks(without_pings(text), allowed)
    shown = linked(sources_only, urls, lambda number, url: f"[[{number}]]({url})")
    out: list[str] = []
    end = 0
    for start, stop in code_spans(shown):
        out += [_as_slack_reads(shown, end, start), shown[start:stop]]
        end = stop
    return "".join([*out, _as_slack_reads(shown, end, len(shown))])


def _as_slack_reads(text: str, start: int, end: int) -> str:
    """``text[start:end]``, which is no code, for Slack's Markdown.

    It names the characters that it takes a backslash before. Others that mean something are parted
    from what they mean it with by something invisible, as are colons around the name of an emoji.
    """

    def shown(match: re.Match[str]) -> str:
        whole = match.group()
        if whole == ":":
            return f":{WORD_JOINER}"
        if match["escaped"] is None or match["escaped"] in _SLACK_ESCAPES:
            return whole
        character: str = match["escaped"]
        if character == "|" and text[text.rfind("\n", 0, match.start()) + 1 :].lstrip()[:1] == "|":
            return whole  # within a cell
        before, after = character in "~=>", character in "<&"
        return f"{WORD_JOINER * before}{character}{WORD_JOINER * after}"

    pieces: list[str] = []
    for match in _SPECIAL.finditer(text, start, end):
        pieces += [text[start : match.start()], shown(match)]
        start = match.end()
    return "".join([*pieces, text[start:end]])


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


def final(
    answer: Answer, texts: Texts, *, depth: Depth, page: str = "", folds: bool = True
) -> Final:
    """The answer with all that stands under it; ``depth`` is what its run was asked for, ``page``
    where a browser shows how it came about, ``folds`` whether Slack takes containers there."""
    below = closing(answer, texts, depth=depth, page=page)
    return Final(
        text=markdown(answer.text, reachable(answer, page)) or "…",
        closing=tuple(below if folds else unfolded(below)),
        title=answer.question,
        plain=as_words(answer.text),
    )


def failure(answer: Answer, sentence: str, texts: Texts, *, page: str = "") -> Final:
    """What is shown instead of an answer."""
    text = _harmless(texts("failed", reason=sentence))
    closing = (_numbers(answer, texts, page),)
    return Final(text=text, closing=closing, title=answer.question, plain=text)


def closing(answer: Answer, texts: Texts, *, depth: Depth, page: str = "") -> list[Json]:
    """Further reading, doubts and notes, sources, suggestions, buttons, the line of numbers."""
    blocks = further(answer, texts, page)
    if noted := remarks(answer, texts):
        blocks.append(_context(noted))
    if answer.citations:
        blocks += source_blocks(answer, texts, page)
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


def source_blocks(answer: Answer, texts: Texts, page: str = "") -> list[Json]:
    """The numbered sources: linked title, domain, section, and the words that are quoted, unless
    the answer quotes them itself."""
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
    """The further reading, folded."""
    if not answer.more:
        return []
    title = _plain_text(texts("more-heading"), CONTAINER_TITLE_CHARACTERS)
    inside = packed([element] for element in rich_text(answer.more, reachable(answer, page)))
    return [
        {
            "type": "container",
            "title": title,
            "child_blocks": inside[start : start + CONTAINER_BLOCKS],
            "is_collapsible": True,
            "default_collapsed": True,
        }
        for start in range(0, len(inside), CONTAINER_BLOCKS)
    ]


def unfolded(blocks: Sequence[Json]) -> list[Json]:
    """The blocks without containers: what was in them stands below their title."""
    shown: list[Json] = []
    for block in blocks:
        if block["type"] != "container":
            shown.append(block)
            continue
        heading = section([text_element(block["title"]["text"], "bold")])
        shown += [{"type": "rich_text", "elements": [heading]}, *block["child_blocks"]]
    return shown


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
    return without_autolinks(without_pings(text), {})


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
