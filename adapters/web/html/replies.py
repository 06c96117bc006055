"""Renders turns of a conversation as HTML: questions, answers and unfinished replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from markupsafe import Markup

from adapters.web.access.gate import Visitor
from adapters.web.html.closest import Passage, is_closest, lacking, passages, with_words
from adapters.web.html.markdown import answer_html, inline_html
from adapters.web.html.plans import Plan, being_done, plan_html, plan_of, writing
from adapters.web.html.sources import (
    HEADINGS,
    TITLE,
    AnswerPlaces,
    Dates,
    Source,
    copies_of,
    source_cards,
)
from adapters.web.templating import Templates
from adapters.web.turns import Turn
from bot.core.messages import Answer, PlanView
from bot.core.texts import Texts
from bot.rendering.footnotes import sources
from bot.rendering.remarks import remarks, spent
from bot.rendering.safety import portable, without_pings, without_tags
from bot.rendering.verbatim import inline
from bot.storage.workspaces import REASONS

NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished answer in the forms that its template shows; ``closest`` if it is none."""

    answer: Answer
    html: Markup
    sources: tuple[Source, ...]
    closest: tuple[Passage, ...]
    lacking: tuple[str, ...]
    remarks: tuple[Markup, ...]
    summary: str
    markdown: str
    work: Plan


def reply_of(
    answer: Answer,
    texts: Texts,
    dates: Dates,
    collections: Mapping[str, str] = NONE,
    root: str = "",
) -> Reply:
    """Convert an answer for its template. ``collections`` are the names of its documents'
    collections, by URL; ``root`` precedes the paths of links."""
    places = AnswerPlaces(answer, root)
    html = answer_html(answer.text, answer.targets, copies_of(answer.run, root), places)
    answer = with_words(answer) if is_closest(answer) else answer
    cards = source_cards(answer, texts, dates, collections, root)
    closest = tuple(passages(answer, cards)) if is_closest(answer) else ()
    return Reply(
        answer=answer,
        html=Markup(html),  # noqa: S704  (sanitized there)
        sources=cards,
        closest=closest,
        lacking=lacking(answer.question, closest),
        remarks=tuple(
            Markup(inline_html(one))  # noqa: S704  (sanitized there)
            for one in remarks(answer, texts, lambda words: words)
        ),
        summary=spent(answer, texts),
        markdown=markdown_of(answer),
        work=plan_of(PlanView("", answer.steps), texts, answer.run),
    )


def markdown_of(answer: Answer) -> str:
    """Return the answer with its sources as Markdown, for copying."""
    listed = [
        f"[{view.number}] {inline(', '.join((view.title, *view.headings[:HEADINGS])))}, {view.url}"
        for view in sources(answer, 0, TITLE)
    ]
    said = portable(answer.text, answer.targets.values())
    return "\n\n".join(filter(None, (said, without_tags(without_pings("\n".join(listed))))))


def turn_html(
    templates: Templates, texts: Texts, turn: Turn, visitor: Visitor, *, read_only: bool = False
) -> str:
    """Render a whole turn; ``read_only`` leaves out the controls."""
    return templates.fragment(
        "conversation_turn.html",
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
            "conversation_answer.html",
            texts,
            turn=turn,
            reply=reply,
            visitor=visitor,
            read_only=read_only,
            reasons=REASONS,
        )
    return templates.fragment(
        "conversation_working.html",
        texts,
        turn=turn,
        visitor=visitor,
        now=being_done(turn.reply_state, texts) or texts("working"),
        plan=plan_html(templates, texts, turn.run, turn.reply_state),
        text=writing(turn.run, turn.reply_state, templates.root),
        seconds=max(0, int((datetime.now(UTC) - turn.begun_at).total_seconds())),
    )
