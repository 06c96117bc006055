"""The desk as messages: what the loop sends, written so that a later desk only appends.

Everything that a turn added is rendered from that turn alone, so the messages of desk n are the
beginning of the messages of desk n+1, but for where ``cache_control`` stands. That keeps the
prompt cache warm, and newer models refuse a thinking block whose past has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.reasoning.claude_text import (
    clean,
    element,
    line,
    middle_out,
    passage_lines,
    site,
)
from bot.reasoning.desks import (
    Desk,
    DeskTurn,
    NumberedHit,
    Outcome,
    QueryResult,
    ReadResult,
    Search,
)
from bot.reasoning.evidence import Finding, Source
from bot.reasoning.questions import SubQuestion

Block = dict[str, Any]

TITLE = 200  # characters
SNIPPET = 300  # characters
QUESTION = 8_000  # characters
CACHED: Block = {"type": "ephemeral"}
UNPARSED = "unparsed"  # our own key on a tool_use whose input was no JSON; never sent
NO_WORDS = "(no reply)"  # stands for a turn in which the model said nothing that can be sent back
NOT_DONE = "This call was not carried out."


def loop_messages(question: SubQuestion, desk: Desk, now: datetime) -> list[Block]:
    """The conversation so far: the question and what was given, then each turn and its results.

    The last two user messages are marked for the cache: the newest for the next turn, the one
    before because that is where the previous turn's entry ends.
    """
    left = desk.searches_left + sum(_searches(turn) for turn in desk.turns)
    messages: list[Block] = [{"role": "user", "content": _opening(question, desk, now, left)}]
    for turn in desk.turns:
        left -= _searches(turn)
        messages.append({"role": "assistant", "content": said(turn.turn.said)})
        messages.append({"role": "user", "content": _results(turn, left)})
    for message in [m for m in messages if m["role"] == "user"][-2:]:
        message["content"][-1]["cache_control"] = CACHED
    return messages


def said(content: Any) -> list[Block]:
    """The assistant's blocks as they came, word for word.

    A turn without words or calls gets a placeholder: the API takes neither an empty message nor
    one that ends in thinking.
    """
    blocks = [{k: v for k, v in block.items() if k != UNPARSED} for block in content or ()]
    blocks = [b for b in blocks if b["type"] != "text" or b["text"].strip()]
    if not blocks or blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        blocks.append({"type": "text", "text": NO_WORDS})
    return blocks


def today(now: datetime) -> str:
    """``Today is Thursday, 15 January 2026.``, in English whatever the locale."""
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    months = (
        *("January", "February", "March", "April", "May", "June", "July", "August"),
        *("September", "October", "November", "December"),
    )
    return f"Today is {days[now.weekday()]}, {now.day} {months[now.month - 1]} {now.year}."


def findings_lines(findings: Sequence[Finding], titles: dict[int, str]) -> str:
    """One line a finding, with the pages that show it."""
    lines = []
    for finding in findings:
        pages = [f"page {n}" + (f": {titles[n]}" if n in titles else "") for n in finding.sources]
        lines.append(
            f"- {clean(finding.text).strip()}" + (f" ({'; '.join(pages)})" if pages else "")
        )
    return "\n".join(lines)


# ---------------------------------------------------------------- the user's side


def _opening(question: SubQuestion, desk: Desk, now: datetime, searches: int) -> list[Block]:
    asked = clean(middle_out(question.text, QUESTION)).strip()
    parts = [today(now), element("question", asked, language=question.language)]
    if question.known:
        parts.append(element("known", findings_lines(question.known, {})))
    if question.missing:
        gaps = "\n".join(f"- {line(gap, QUESTION)}" for gap in question.missing)
        parts.append(element("missing", gaps))
    if question.queries:
        queries = "\n".join(f"- {line(query, TITLE)}" for query in question.queries)
        parts.append(element("suggested_queries", queries))
    parts.append(f"You may search {searches} {'time' if searches == 1 else 'times'}.")
    blocks = [_text("\n\n".join(parts))]
    given = "\n\n".join(_outcome(outcome) for outcome in desk.given)
    if given:
        blocks.append(_text(f"This is on your desk already:\n\n{given}"))
    return blocks


def _results(turn: DeskTurn, searches_left: int) -> list[Block]:
    """The answer to a turn: one tool_result per call, in the order of the calls, then remarks."""
    outcomes = {outcome.action: outcome for outcome in turn.outcomes}
    blocks: list[Block] = []
    for block in turn.turn.said or ():
        if block["type"] == "tool_use":
            blocks.append(_tool_result(block["id"], outcomes.get(block["id"])))
    remarks = []
    if _searches(turn):
        remarks.append(f"Searches left: {searches_left}.")
    if turn.nudge:
        remarks.append(turn.nudge)
    if remarks:
        blocks.append(_text(" ".join(remarks)))
    return blocks or [_text("Go on.")]


def _tool_result(id: str, outcome: Outcome | None) -> Block:
    problem = outcome.problem if outcome is not None else NOT_DONE
    if outcome is None or problem:
        return {"type": "tool_result", "tool_use_id": id, "is_error": True, "content": problem}
    content = [_text(_outcome(outcome) or "Nothing came back.")]
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def _outcome(outcome: Outcome) -> str:
    if outcome.problem:
        return clean(outcome.problem)
    results = [*map(_query, outcome.queries), *map(_read, outcome.reads)]
    return "\n\n".join(results)


def _query(result: QueryResult) -> str:
    lines = [_hit(hit) for hit in result.hits]
    if result.note:
        lines.append(f"note: {line(result.note, 500)}")
    if not lines:
        lines.append("note: Nothing was found.")
    return element("results", "\n".join(lines), query=result.query)


def _hit(numbered: NumberedHit) -> str:
    """Two lines: number, title and site; the snippet, unless the hit was shown before."""
    hit = numbered.hit
    if numbered.page is not None:
        state = f" (read, page {numbered.page})"
    else:
        state = " (seen before)" if numbered.seen else ""
    title = line(hit.title, TITLE) or line(hit.url, TITLE)
    first = f"hit {numbered.number}{state}: {title} — {line(site(hit.url), 100)}"
    snippet = "" if state else line(hit.snippet, SNIPPET)
    return f"{first}\n  {snippet}" if snippet else first


def _read(result: ReadResult) -> str:
    if result.source is None:
        where = f"Hit {result.number}" if result.number else "A link of the asker"
        return f"{where} gave no page: {line(result.note, 500)}"
    page = _page(result.source)
    if result.number:
        page = f"Hit {result.number} is page {result.source.number}.\n{page}"
    return f"{page}\nnote: {line(result.note, 500)}" if result.note else page


def _page(source: Source) -> str:
    if not source.passages:
        body = "(No passage of this page fits the question.)"
    else:
        body = passage_lines(source.passages)
    return page_element(source, body)


def page_element(source: Source, body: str) -> str:
    """A page and its (cleaned) text, with where and when it was read."""
    return element(
        "page",
        body,
        number=source.number,
        title=source.title or source.url,
        site=site(source.url),
        read=source.fetched_at.date().isoformat(),
    )


def _searches(turn: DeskTurn) -> int:
    """How many searches of the turn were carried out: the refused ones have a problem."""
    refused = {outcome.action for outcome in turn.outcomes if outcome.problem}
    return sum(isinstance(a, Search) and a.id not in refused for a in turn.turn.actions)


def _text(words: str) -> Block:
    return {"type": "text", "text": words}
