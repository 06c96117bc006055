"""Turns as HTML, whole and in the parts that change while a reply is worked on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.web.console import Console
from adapters.web.parts import being_done, plan_html
from adapters.web.templating import Templates
from adapters.web.turns import Turn
from adapters.web.views import reply_of, writing
from adapters.web.visitors import Visitor
from bot.rendering.lines import shortened
from bot.rendering.texts import Texts

TITLE = 80  # characters of a thread's name in the list


@dataclass(frozen=True, slots=True)
class Link:
    """A thread in the list."""

    name: str
    title: str
    questions: int
    last_at: datetime


async def listed(console: Console, visitor: Visitor, limit: int) -> list[Link]:
    """The visitor's threads, the latest first."""
    channel = None if visitor.operator else visitor.channel
    found = await console.archive.threads("web", limit, channel=channel)
    return [
        Link(each.thread.thread, shortened(each.begins, TITLE), each.questions, each.last_at)
        for each in found
        if each.begins
    ]


def turn_html(templates: Templates, texts: Texts, turn: Turn, visitor: Visitor) -> str:
    """A whole turn."""
    return templates.fragment(
        "turn.html",
        texts,
        turn=turn,
        visitor=visitor,
        reply=reply_html(templates, texts, turn, visitor),
    )


def reply_html(templates: Templates, texts: Texts, turn: Turn, visitor: Visitor) -> str:
    """The reply below a question."""
    if turn.shown.answer is not None:
        reply = reply_of(turn.shown.answer, texts, turn.dates, turn.collections, templates.root)
        return templates.fragment("answer.html", texts, turn=turn, reply=reply, visitor=visitor)
    return templates.fragment(
        "working.html",
        texts,
        turn=turn,
        visitor=visitor,
        now=being_done(turn.shown, texts) or texts("working"),
        plan=plan_html(templates, texts, turn.run, turn.shown),
        text=writing(turn.run, turn.shown, templates.root),
    )


def cursor_of(turns: Sequence[Turn]) -> str:
    """The state that a page has: the last run, the marks of unfinished runs, and a tally of the
    others."""
    if not turns:
        return ""
    live = ",".join(f"{turn.run}={turn.shown.mark}" for turn in turns if not turn.over)
    return f"{turns[-1].run};{live};{tally({t.run: t.attempt for t in turns if t.over})}"


def tally(held: Mapping[str, int]) -> str:
    """Tells whether a page has the same finished replies (run → its attempt) as another time."""
    said = ",".join(f"{run}={attempt}" for run, attempt in sorted(held.items()))
    return hashlib.sha256(said.encode()).hexdigest()[:12]
