"""Renders turns as HTML, whole and in the parts that change while a reply is unfinished."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from adapters.web.parts import being_done, plan_html
from adapters.web.templating import Templates
from adapters.web.turns import Turn
from adapters.web.views import reply_of, writing
from adapters.web.visitors import Visitor
from bot.core.texts import Texts
from bot.storage.workspaces import REASONS


def turn_html(
    templates: Templates, texts: Texts, turn: Turn, visitor: Visitor, *, read_only: bool = False
) -> str:
    """Render a whole turn; ``read_only`` leaves out the controls."""
    return templates.fragment(
        "turn.html",
        texts,
        turn=turn,
        visitor=visitor,
        read_only=read_only,
        reply=reply_html(templates, texts, turn, visitor, read_only=read_only),
    )


def reply_html(
    templates: Templates, texts: Texts, turn: Turn, visitor: Visitor, *, read_only: bool = False
) -> str:
    """Render the reply below a question."""
    answer = turn.reply_state.answer
    if answer is not None:
        reply = reply_of(answer, texts, turn.dates, turn.collections, templates.root)
        return templates.fragment(
            "answer.html",
            texts,
            turn=turn,
            reply=reply,
            visitor=visitor,
            read_only=read_only,
            reasons=REASONS,
        )
    return templates.fragment(
        "working.html",
        texts,
        turn=turn,
        visitor=visitor,
        now=being_done(turn.reply_state, texts) or texts("working"),
        plan=plan_html(templates, texts, turn.run, turn.reply_state),
        text=writing(turn.run, turn.reply_state, templates.root),
    )


def cursor_of(turns: Sequence[Turn]) -> str:
    """Return a page's cursor: its last run, the marks of unfinished runs, and a tally of the
    others."""
    if not turns:
        return ""
    live = ",".join(f"{turn.run}={turn.reply_state.mark}" for turn in turns if not turn.over)
    return f"{turns[-1].run};{live};{tally({t.run: t.attempt for t in turns if t.over})}"


def tally(held: Mapping[str, int]) -> str:
    """Return a hash of a page's finished replies (run → attempt), to detect changes."""
    said = ",".join(f"{run}={attempt}" for run, attempt in sorted(held.items()))
    return hashlib.sha256(said.encode()).hexdigest()[:12]
