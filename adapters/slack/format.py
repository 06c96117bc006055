"""Formats answers and plans for Slack: blocks, chunks and Markdown. Pure: values in, JSON out.

Text from a model, a page or a person goes into ``rich_text`` and ``plain_text``, which have no
markup, or into Markdown after it was escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from adapters.slack.limits import (
    BUTTON_CHARACTERS,
    CONFIRM_BUTTON_CHARACTERS,
    CONFIRM_TEXT_CHARACTERS,
    CONFIRM_TITLE_CHARACTERS,
    CONTEXT_CHARACTERS,
    CONTEXT_ELEMENTS,
    FOLLOW_UPS,
    MARKDOWN_CHARACTERS,
    MESSAGE_BLOCKS,
    NOTIFICATION_CHARACTERS,
    OPTION_CHARACTERS,
    PART_CHARACTERS,
    PLACEHOLDER_CHARACTERS,
    SECTION_CHARACTERS,
    TABLE_CHARACTERS,
    TABLE_COLUMNS,
    TABLE_ROWS,
    TASK_FIELD_CHARACTERS,
    TASK_SOURCES,
    TASK_TITLE_CHARACTERS,
    TASKS,
    URL_CHARACTERS,
)
from bot.core.lines import label, shortened
from bot.core.messages import Answer, Depth, PlanView, Status, StepView
from bot.core.texts import Texts
from bot.pages.urls import domain
from bot.rendering.footnotes import link_target, linked, reachable
from bot.rendering.markdown_parts import split
from bot.rendering.markdown_tables import Table, plain_lines, runs, tables_in
from bot.rendering.marks import ESCAPE, code_spans, numbers_in
from bot.rendering.remarks import (
    PARTS,
    Branch,
    cautions,
    named,
    source_line,
    summary,
    title_of,
    work,
)
from bot.rendering.safety import WORD_JOINER, addresses, without_autolinks, without_pings
from bot.rendering.verbatim import as_label
from bot.service.buttons import ASK_WHY
from bot.storage.workspaces import REASONS

Json = dict[str, Any]
TaskState = Literal["pending", "in_progress", "complete", "error"]

_BRACKETS = str.maketrans({"<": "‹", ">": "›"})


@dataclass(frozen=True, slots=True)
class Link:
    """A page that a task read."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """One line of the plan. ``details`` are shown once, when the task has ended."""

    id: str
    title: str
    state: TaskState
    details: str = ""
    links: tuple[Link, ...] = ()


def tasks(plan: PlanView, texts: Texts, *, ended: bool = False) -> tuple[Task, ...]:
    """Return the plan's tasks in order, at most ``TASKS``; the last says how many more there are.

    Reading and thinking steps belong to the search before them; steps with a parent belong to the
    parent. ``ended`` tells that the run has ended, so that no task stays open.
    """
    groups = _groups(plan.steps)
    titles = {url: title_of(s) for s in plan.steps if s.kind == "read" for url in s.sources}
    shown = [
        _task(group, texts, titles, last=number == len(groups) - 1, ended=ended)
        for number, group in enumerate(groups)
    ]
    if len(shown) <= TASKS:
        return tuple(shown)
    rest = shown[TASKS - 1 :]
    more = texts("more-steps", count=len(rest))
    return (*shown[: TASKS - 1], Task("more", more, rest[-1].state))


def heading(title: str) -> str:
    """Return a plan's title as plain text."""
    return plain(label(title), TASK_TITLE_CHARACTERS)


def plain(text: str, longest: int) -> str:
    """Return foreign text as plain text for Slack, on one line and without markup."""
    return shortened(without_pings(text.translate(_BRACKETS)), longest)


def _groups(steps: Sequence[StepView]) -> list[list[StepView]]:
    """Group the steps that form one task, which is named after the first."""
    groups: list[list[StepView]] = []
    by_id: dict[str, list[StepView]] = {}
    for step in steps:
        group = by_id.get(step.parent) if step.parent else None
        if group is None and groups and _continues(groups[-1], step):
            group = groups[-1]
        if group is None:
            group = []
            groups.append(group)
        group.append(step)
        by_id[step.id] = group
    return groups


def _continues(group: Sequence[StepView], step: StepView) -> bool:
    """Return True if a step belongs to the task before it."""
    if group[0].kind in PARTS:
        return False
    kinds = {one.kind for one in group}
    match step.kind:
        case "think":
            return True
        case "read":
            return bool(kinds & {"search", "read"})
        case "search":
            return kinds == {"search"}  # one round; a search after reading begins a new round
    return False


def _task(
    steps: Sequence[StepView], texts: Texts, titles: Mapping[str, str], *, last: bool, ended: bool
) -> Task:
    first = next((step for step in steps if step.kind != "think"), steps[0])
    same = [step for step in steps if step.kind == first.kind and not step.parent]
    title = first.kind
    if first.title:
        title = named(first, shortened(title_of(first), 100), texts)
    if len(same) > 1:
        title += f" · {texts('more-steps', count=len(same) - 1)}"
    if first.kind in PARTS:  # a sub-question or a paragraph, whose own line shows its progress
        state = _state({first.state}, ended=ended)
        details = [work(Branch(first, tuple(steps[1:])), texts), label(first.detail)]
    else:
        state = _state({step.state for step in steps}, ended=ended)
        if state == "complete" and last and not ended:
            state = "in_progress"  # more steps may follow
        details = [*map(title_of, same[1:]), *(label(step.detail) for step in steps)]
    told = plain(" · ".join(dict.fromkeys(filter(None, details))), TASK_FIELD_CHARACTERS)
    return Task(
        id=first.id or "step",
        title=plain(title, TASK_TITLE_CHARACTERS) or first.kind,
        state=state,
        details=told if state in ("complete", "error") else "",
        links=_links(steps, titles),
    )


def _state(states: Collection[str], *, ended: bool) -> TaskState:
    if not ended and "running" in states:
        return "in_progress"
    if not ended and states == {"waiting"}:
        return "pending"
    return "error" if states == {"failed"} else "complete"


def _links(steps: Sequence[StepView], titles: Mapping[str, str]) -> tuple[Link, ...]:
    """Return the pages that were read, each once."""
    found: dict[str, Link] = {}
    for step in steps:
        if step.state != "done":
            continue
        for url in step.sources:
            target = link_target(url)
            if 0 < len(target) <= URL_CHARACTERS:
                title = titles.get(url, "")
                text = title if title != url else domain(url)
                found.setdefault(target, Link(target, plain(text, 80) or domain(url) or target))
    return tuple(found.values())[:TASK_SOURCES]


def task_chunk(task: Task, *, details: str, links: Sequence[Link]) -> dict[str, Any]:
    """Return the chunk that updates a task in a stream."""
    chunk: dict[str, Any] = {
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


def text_chunks(text: str, *, tabled: bool) -> list[Json]:
    """Return the chunks that append Markdown to a stream, which is ``tabled`` if it has a table."""
    return [
        {"type": "markdown_text", "text": block["text"]}
        if block["type"] == "markdown"
        else {"type": "blocks", "blocks": [block]}
        for block in ([markdown_block(text)] if tabled else text_blocks(text))
    ]


def without_open_table(text: str) -> str:
    """Return whole lines of Markdown without a table at their end, which may get more rows."""
    lines = text.splitlines(keepends=True)
    while lines and lines[-1].startswith("|"):
        lines.pop()
    return "".join(lines)


def chunk_characters(chunk: dict[str, Any]) -> int:
    """Return how many characters of a stream's limit a chunk uses."""
    own = sum(len(chunk.get(key, "")) for key in ("text", "title", "details", "output"))
    own += sum(map(characters, chunk.get("blocks", ())))
    return own + sum(len(link["url"]) + len(link["text"]) for link in chunk.get("sources", ()))


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def ready(text: str, known: Collection[int]) -> str:
    """Return the part of a growing text that will not change: whole lines, outside code.

    The last line is left out, because footnotes may still be added to it, and so are lines from the
    first mark on whose source is not known yet, because it could not be linked.
    """
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
    end = kept = 0
    fence = ""
    for line in lines:
        end += len(line)
        fence = _fence_after(line, fence)
        if not fence and any(number not in known for number in numbers_in(line)):
            break
        if not fence:
            kept = end
    # The last line may still grow until a line with words follows it.
    return text[:kept] if text[kept:].strip() else _without_last_line(text[:kept])


def cut_before(text: str, room: int) -> int:
    """Return the last position after a blank line outside code with at most ``room`` characters of
    Markdown before it, or 0."""
    fence = ""
    end = cut = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if end > room:
            break
        fence = _fence_after(line, fence)
        if not fence and not line.strip():
            cut = end
    return cut


def _fence_after(line: str, fence: str) -> str:
    """Return the fence of the code block that is open after a line, or ""; ``fence`` is the one
    open before it."""
    found = _FENCE.match(line)
    if found and not fence:
        return found[1]
    closes = found and found[1].startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence


def _without_last_line(text: str) -> str:
    lines = text.splitlines(keepends=True)
    while lines and not lines[-1].strip():
        lines.pop()
    return "".join(lines[:-1])


# https://docs.slack.dev/reference/block-kit/blocks/markdown-block: characters that can be escaped
_SLACK_ESCAPES = frozenset("\\`*_{}[]()#+-.!")
_SPECIAL = re.compile(
    rf"{ESCAPE.pattern[:2]}(?P<escaped>{ESCAPE.pattern[2:]})"
    r"|\]\((?:<[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*)\)|https?://\S+"  # addresses stay
    r"|:(?=[02-9_+'-]*+[a-z1][a-z0-9_+'-]*+:)"
)

# Slack returns the ``action_id`` and ``value`` of a pressed control; a value always names its run,
# so a control works after a restart and in any process.
FOLLOW_UP = "footnote_follow-ups"
FEEDBACK = "footnote_feedback"
DELETE = "footnote_delete"
REASON = "footnote_reason"
DEEPER = "footnote_deeper"
RETRY = "footnote_retry"
DETAILS = "footnote_details"
WATCH = "footnote_watch"
RETRACT = "footnote_retract"
STOP = "footnote_stop"

_MARKS: Mapping[str, str] = {
    "pending": "○",
    "in_progress": "◌",
    "complete": "✓",
    "error": "✗",
}
_BETWEEN = " · "  # the separator in the line of sources
_ASK_AGAIN: frozenset[Status] = frozenset({"answered", "partial", "not_found", "stopped"})


@dataclass(frozen=True, slots=True)
class Final:
    """A formatted answer: its Markdown, the blocks under it, its plan's title, and its text without
    links."""

    text: str
    closing: tuple[Json, ...]
    title: str
    plain: str


@dataclass(frozen=True, slots=True)
class Part:
    """A whole message of a reply: its blocks, its text for notifications, and the Markdown that a
    table among the blocks comes from."""

    blocks: tuple[Json, ...]
    text: str
    markdown: str = ""


# ---------------------------------------------------------------- Markdown


def markdown(text: str, urls: Mapping[int, str]) -> str:
    """Return an answer's text with footnotes as links, and with no other links or mentions."""
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
    """Escape ``text[start:end]``, which is not code, for Slack's Markdown.

    Slack lists the characters that a backslash escapes. Other special characters, and colons around
    the name of an emoji, are separated from their neighbours by an invisible word joiner.
    """

    def shown(match: re.Match[str]) -> str:
        whole = match.group()
        if whole == ":":
            return f":{WORD_JOINER}"
        if match["escaped"] is None or match["escaped"] in _SLACK_ESCAPES:
            return whole
        character: str = match["escaped"]
        if character == "|" and text[text.rfind("\n", 0, match.start()) + 1 :].lstrip()[:1] == "|":
            return whole  # inside a table cell
        before, after = character in "~=>", character in "<&"
        return f"{WORD_JOINER * before}{character}{WORD_JOINER * after}"

    pieces: list[str] = []
    for match in _SPECIAL.finditer(text, start, end):
        pieces += [text[start : match.start()], shown(match)]
        start = match.end()
    return "".join([*pieces, text[start:end]])


def parts(text: str, limit: int = PART_CHARACTERS) -> list[str]:
    """Split the text into parts that fit into one message each: at least one, none of them
    empty."""
    return split(text, limit) or ["…"]


def escaped(text: str) -> str:
    """Escape plain text for mrkdwn: https://docs.slack.dev/messaging/formatting-message-text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def notification(text: str) -> str:
    """Return the notification text for a message that has blocks."""
    return escaped(plain(text, NOTIFICATION_CHARACTERS)) or "…"


def block_characters(part: Part) -> int:
    """Return how many characters of Slack's limit for the blocks of a message a part uses."""
    return len(json.dumps(part.blocks, ensure_ascii=False))


def markdown_block(text: str) -> Json:
    return {"type": "markdown", "text": text}


def text_blocks(text: str) -> list[Json]:
    """Return Markdown as blocks: the first table that fits as a ``table``, the rest unchanged."""
    lines = text.split("\n")
    for table, start, end in tables_in(text) if "|" in text and "\r" not in text else ():
        if lines[start].startswith("|") and (block := _table(table)):
            around = ("\n".join(lines[:start]), "\n".join(lines[end:]))
            before, after = ([markdown_block(each)] if each.strip() else [] for each in around)
            return [*before, block, *after]
    return [markdown_block(text)]


def _table(table: Table) -> Json | None:
    """Format a table; None if it is too large."""
    rows = (table.header, *table.rows)
    if len(rows) > TABLE_ROWS or len(table.header) > TABLE_COLUMNS:
        return None
    columns: list[Json] = [{"is_wrapped": True} for _ in table.header]
    for align, numbered in (("right", table.right), ("center", table.center)):
        for number in numbered:
            columns[number]["align"] = align
    cells = [[_cell(cell) for cell in row] for row in rows]
    block: Json = {"type": "table", "rows": cells, "column_settings": columns}
    return block if characters(block) <= TABLE_CHARACTERS else None


_STYLES = {"strong": "bold", "em": "italic", "code": "code"}


def _cell(cell: str) -> Json:
    elements = [
        link_element(url, words) if url else text_element(words, *map(_STYLES.__getitem__, styles))
        for words, styles, url in runs(cell)
    ]
    if not elements:
        return {"type": "raw_text", "text": " "}  # no cell may be empty
    return {"type": "rich_text", "elements": [section(elements)]}


def characters(node: Any) -> int:
    """Return the number of characters in rich text, or in a table of it."""
    if isinstance(node, list):
        return sum(map(characters, node))
    own = len(node.get("text", "")) + len(node.get("url", ""))
    return own + sum(characters(node.get(inside, [])) for inside in ("rows", "elements"))


# ---------------------------------------------------------------- an answer


def final(answer: Answer, texts: Texts, *, depth: Depth, page: str = "", asker: str = "") -> Final:
    """Format an answer and the blocks under it; ``depth`` is the depth of its run, ``page`` the URL
    of the run page, ``asker`` the id of the person who asked."""
    return Final(
        text=markdown(answer.text, reachable(answer, page)) or "…",
        closing=tuple(closing(answer, texts, depth=depth, page=page, asker=asker)),
        title=answer.question,
        plain=_harmless(" ".join(plain_lines(answer.text))),
    )


def failure(answer: Answer, texts: Texts, *, page: str = "") -> Final:
    """Format the text shown instead of an answer, with a button to try again."""
    text = _harmless(texts("failed", reason=answer.text))
    retry = {"type": "actions", "elements": [button(texts("retry-button"), RETRY, answer.run)]}
    closing = (retry, numbers(answer, texts, page))
    return Final(text=text, closing=closing, title=answer.question, plain=text)


def numbers(answer: Answer, texts: Texts, page: str) -> Json:
    """Format the time and cost of an answer, and the link to its run page."""
    block = context([summary(answer, texts)])
    block["elements"] += _link(page, texts("web-how"))
    return block


def _link(address: str, words: str) -> list[Json]:
    """Return a context element that links to one of our pages; none for ""."""
    target = link_target(address) if address else ""
    link = f"<{escaped(target)}|{escaped(words)}>"
    return [{"type": "mrkdwn", "text": link, "verbatim": True}] if target else []


def closing(
    answer: Answer, texts: Texts, *, depth: Depth, page: str = "", asker: str = ""
) -> list[Json]:
    """Format the end of an answer: cautions, the line of sources, the controls, the feedback."""
    blocks = [context(told)] if (told := cautions(answer, texts)) else []
    blocks += _source_line(answer, texts, page)
    if answer.status in _ASK_AGAIN:
        if controls := _controls(answer, texts, depth=depth):
            blocks.append({"type": "actions", "elements": controls})
        blocks.append(_feedback(answer.run, texts, asker))
    return blocks


def _is_researched(answer: Answer) -> bool:
    """Return True if an answer needed research; greetings, for example, do not."""
    return bool(answer.citations or answer.queries)


def _source_line(answer: Answer, texts: Texts, page: str) -> list[Json]:
    """Format the sources of the text, numbered and linked, on one line."""
    line = source_line(answer, page)
    if not line.labels:
        return []
    elements: list[Json] = []
    for one in line.labels:
        if elements:
            elements.append(text_element(_BETWEEN))
        elements.append(link_element(one.href, without_pings(f"[{one.number}] {one.words}")))
    if line.more:
        elements.append(text_element(f"{_BETWEEN}{texts('more-sources', count=line.more)}"))
    return [{"type": "rich_text", "elements": [section(elements)]}]


def _controls(answer: Answer, texts: Texts, *, depth: Depth) -> list[Json]:
    """Format one row: a button to dig deeper, one for the details, one to watch, and a menu of
    follow-up questions."""
    run = answer.run
    elements: list[Json] = []
    if _is_researched(answer):
        if depth not in ("deep", "exhaustive"):
            label = texts("dig-deeper")
            elements.append(button(label, DEEPER, run))
        elements.append(button(texts("details-button"), DETAILS, run))
        elements.append(button(texts("watch-button"), WATCH, run))
    if answer.corrects:
        elements.append(button(texts("correction-remove"), RETRACT, run))
    if options := _follow_ups(answer):
        elements.append(
            {
                "type": "static_select",
                "action_id": FOLLOW_UP,
                "placeholder": plain_text(texts("follow-ups-heading"), PLACEHOLDER_CHARACTERS),
                "options": options,
            }
        )
    return elements


def _feedback(run: str, texts: Texts, asker: str) -> Json:
    """Format the thumbs, of which Slack shows the one that a person chose, and a trash can that
    only the asker sees. It has no ``block_id``: an updated message needs a new one each time."""
    thumbs = {
        "type": "feedback_buttons",
        "action_id": FEEDBACK,
        "positive_button": _thumb("👍", texts("feedback-good"), f"good:{run}"),
        "negative_button": _thumb("👎", texts("feedback-bad"), f"bad:{run}"),
    }
    trash = {
        "type": "icon_button",
        "icon": "trash",
        "text": plain_text(texts("delete-answer"), BUTTON_CHARACTERS),
        "action_id": DELETE,
        "value": run,
        "visible_to_user_ids": [asker],
        "confirm": {
            "title": plain_text(texts("delete-answer"), CONFIRM_TITLE_CHARACTERS),
            "text": plain_text(texts("delete-answer-ask"), CONFIRM_TEXT_CHARACTERS),
            "confirm": plain_text(texts("delete-answer-yes"), CONFIRM_BUTTON_CHARACTERS),
            "deny": plain_text(texts("delete-answer-no"), CONFIRM_BUTTON_CHARACTERS),
            "style": "danger",
        },
    }
    return {"type": "context_actions", "elements": [thumbs, trash] if asker else [thumbs]}


def reason_blocks(run: str, texts: Texts) -> list[Json]:
    """Format the private question why an answer did not help: a button for each reason."""
    buttons = [
        button(
            texts(f"feedback-{reason.replace('_', '-')}"), f"{REASON}_{reason}", f"{reason}:{run}"
        )
        for reason in REASONS
    ]
    return [
        {"type": "rich_text", "elements": [section([text_element(texts(ASK_WHY))])]},
        {"type": "actions", "elements": buttons},
    ]


def _thumb(sign: str, meaning: str, value: str) -> Json:
    label = plain(meaning, BUTTON_CHARACTERS)
    return {
        "text": plain_text(sign, BUTTON_CHARACTERS),
        "accessibility_label": label,
        "value": value,
    }


def _follow_ups(answer: Answer) -> list[Json]:
    return [
        {"text": plain_text(suggestion, OPTION_CHARACTERS), "value": f"{answer.run}:{number}"}
        for number, suggestion in enumerate(answer.suggestions[:FOLLOW_UPS])
    ]


# ---------------------------------------------------------------- while it works


def working_blocks(
    tasks: Sequence[Task], text: str, texts: Texts, *, stop: str = "", note: str = ""
) -> list[Json]:
    """Format an unfinished reply that cannot be streamed.

    ``text`` is Markdown as ``markdown`` returns it; ``stop`` is the run that a button stops.
    """
    lines = [
        f"{_MARKS[task.state]} {task.title}" + (f" · {task.details}" if task.details else "")
        for task in tasks
    ]
    blocks = [context([note or texts("working"), *_joined(lines)])]
    if text:
        room = PART_CHARACTERS - len(json.dumps(blocks, ensure_ascii=False))
        blocks.append(markdown_block(parts(text, max(room, PART_CHARACTERS // 8))[0]))
    if stop:
        stopping = button(texts("stop-button"), STOP, stop)
        blocks.append({"type": "actions", "elements": [stopping]})
    return blocks


def question_text(name: str, question: str, texts: Texts) -> str:
    """Format the first message of a slash command's thread; text too long for it ends in "…"."""
    room = PART_CHARACTERS
    asker = as_label(plain(label(name), 80))
    asker = _as_slack_reads(asker, 0, len(asker))
    while True:
        first, *rest = parts(question, room)
        shown = f"{first} …" if rest else first
        text = _harmless(texts("asked-by", name=asker, question=shown))
        if len(json.dumps(text, ensure_ascii=False)) <= MARKDOWN_CHARACTERS:
            return text
        room //= 2  # escaping makes the text longer


# ---------------------------------------------------------------- small pieces


def text_element(words: str, *styles: str) -> Json:
    """Return an element that shows the words unchanged."""
    element: Json = {"type": "text", "text": words}
    return {**element, "style": dict.fromkeys(styles, True)} if styles else element


def link_element(url: str, words: str) -> Json:
    """Return a link, or only its words if Slack would not accept the URL."""
    target = link_target(url)
    if not 0 < len(target) <= URL_CHARACTERS:
        return text_element(words)
    return {"type": "link", "url": target, "text": words}


def section(elements: list[Json]) -> Json:
    return {"type": "rich_text_section", "elements": elements}


def _harmless(text: str) -> str:
    """Escape our own text with foreign words in it as Markdown without links and mentions."""
    return without_autolinks(without_pings(text), {})


def _joined(lines: Sequence[str]) -> list[str]:
    """Join lines into at most as many texts as a context block allows."""
    joined: list[str] = []
    for line in lines:
        if joined and len(joined[-1]) + len(line) < CONTEXT_CHARACTERS:
            joined[-1] += f"\n{line}"
        elif len(joined) < CONTEXT_ELEMENTS - 1:
            joined.append(line)
    return joined


def context(said: Sequence[str]) -> Json:
    """Format small print: plain texts, one under the other."""
    lines = [plain(one, 600) if "\n" not in one else one for one in said]
    shown = _joined([line for line in lines if line]) or ["…"]
    return {
        "type": "context",
        "elements": [
            {"type": "plain_text", "text": text[:CONTEXT_CHARACTERS], "emoji": False}
            for text in shown
        ],
    }


def plain_text(text: str, longest: int) -> Json:
    return {"type": "plain_text", "text": plain(text, longest) or "…", "emoji": False}


def button(text: str, action_id: str, value: str) -> Json:
    return {
        "type": "button",
        "text": plain_text(text, BUTTON_CHARACTERS),
        "action_id": action_id,
        "value": value,
    }


# ---------------------------------------------------------------- what Slack refuses

_CONTROL_BLOCKS = frozenset({"actions", "context_actions"})


def simpler(part: Part) -> Part | None:
    """Return the same text in simpler blocks: first without a table, then without controls, then as
    plain text.

    None if it cannot be simpler. A plain answer is better than none.
    """
    if any(block["type"] == "table" for block in part.blocks):
        rest = [block for block in part.blocks if block["type"] not in ("markdown", "table")]
        return Part((markdown_block(part.markdown), *rest), part.text)
    without_controls = tuple(block for block in part.blocks if block["type"] not in _CONTROL_BLOCKS)
    if without_controls != part.blocks:
        return Part(without_controls, part.text)
    if all(block["type"] == "section" for block in part.blocks):
        return None
    words = "\n\n".join(filter(None, map(_words, part.blocks)))
    sections = [
        {
            "type": "section",
            "text": {"type": "plain_text", "text": piece, "emoji": False},
        }
        for piece in _pieces(words)
    ]
    return Part(tuple(sections[:MESSAGE_BLOCKS]), part.text)


def _words(node: object) -> str:
    """Return the readable text of blocks; a link's URL follows its words."""
    if isinstance(node, list | tuple):
        return "".join(map(_words, node))
    if not isinstance(node, dict):
        return ""
    if node.get("type") == "link":
        return f"{node.get('text', '')} {node['url']}".strip()
    text = node.get("text")
    own = text if isinstance(text, str) else _words(text)
    inside = "\n" if node.get("type") in ("rich_text", "context") else ""
    return own + inside.join(filter(None, map(_words, node.get("elements") or ())))


def _pieces(text: str) -> list[str]:
    """Split the text between lines into pieces that fit into one section each."""
    pieces: list[str] = []
    while text.strip():
        cut = text.rfind("\n", 1, SECTION_CHARACTERS) if len(text) > SECTION_CHARACTERS else -1
        cut = cut if cut > 0 else SECTION_CHARACTERS
        pieces.append(text[:cut].strip() or "…")
        text = text[cut:]
    return pieces
