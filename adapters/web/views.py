"""Values for templates: answers with their sources, converted from the core's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from markupsafe import Markup

from adapters.web.markdown import Place, answer_html, inline_html
from adapters.web.places import AnswerPlaces, copies_of
from adapters.web.plans import Plan, plan_of
from adapters.web.reply_state import ReplyState
from adapters.web.sources import HEADINGS, TITLE, Dates, Source, source_cards
from bot.core.messages import Answer, PlanView
from bot.core.texts import Texts
from bot.rendering.footnotes import sources
from bot.rendering.remarks import remarks, spent
from bot.rendering.safety import portable, without_pings, without_tags
from bot.rendering.verbatim import inline

NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished answer. ``corrects`` tells that the message was stored as a correction."""

    status: str
    html: Markup
    sources: tuple[Source, ...]
    remarks: tuple[Markup, ...]
    suggestions: tuple[str, ...]
    summary: str
    markdown: str
    work: Plan
    seconds: float
    corrects: bool


def writing(run: str, now: ReplyState, root: str = "") -> Markup:
    """Render the text of a run's answer so far."""
    targets = dict(now.plan.numbered) if now.plan is not None else {}
    pages = copies_of(run, root)  # nothing is quoted yet
    html = answer_html(now.text, targets, pages, lambda number, _: Place(f"{pages}{number}"))
    return Markup(html)  # noqa: S704  (sanitized there)


def reply_of(
    answer: Answer,
    texts: Texts,
    dates: Dates,
    collections: Mapping[str, str] = NONE,
    root: str = "",
) -> Reply:
    """Convert an answer for its template. ``collections`` are the names of its documents'
    collections, by URL; ``root`` precedes the paths of links."""
    return Reply(
        status=answer.status,
        html=_html(answer.text, answer, root),
        sources=source_cards(answer, texts, dates, collections, root),
        remarks=tuple(
            Markup(inline_html(one))  # noqa: S704  (sanitized there)
            for one in remarks(answer, texts, lambda words: words)
        ),
        suggestions=answer.suggestions,
        summary=spent(answer, texts),
        markdown=markdown_of(answer),
        work=plan_of(PlanView("", answer.steps), texts),
        seconds=answer.usage.seconds,
        corrects=answer.corrects,
    )


def markdown_of(answer: Answer) -> str:
    """Return the answer with its sources as Markdown, for copying."""
    listed = [
        f"[{view.number}] {inline(', '.join((view.title, *view.headings[:HEADINGS])))}, {view.url}"
        for view in sources(answer, 0, TITLE)
    ]
    said = portable(answer.text, answer.targets.values())
    return "\n\n".join(filter(None, (said, without_tags(without_pings("\n".join(listed))))))


def _html(text: str, answer: Answer, root: str) -> Markup:
    places = AnswerPlaces(answer, root)
    html = answer_html(text, answer.targets, copies_of(answer.run, root), places)
    return Markup(html)  # noqa: S704  (sanitized there)
