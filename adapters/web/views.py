"""Values for templates: answers with their sources, made from the core's values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from markupsafe import Markup, escape

from adapters.web.markdown import answer_html
from adapters.web.plans import Plan, plan_of
from adapters.web.shown import Shown
from bot.answers import Answer, PlanView
from bot.rendering.excerpts import Excerpt
from bot.rendering.footnotes import SourceView, sources
from bot.rendering.remarks import remarks, summary
from bot.rendering.safety import portable, without_pings, without_tags
from bot.rendering.texts import Texts

QUOTE = 400  # characters
TITLE = 200
HEADINGS = 3  # of a source, that its quotes stand under

Dates = Mapping[tuple[str, str], datetime]  # URL and hash of a page → when it was read


@dataclass(frozen=True, slots=True)
class Source:
    """``href`` leads to the page, or to our copy of one that is no web page. ``quotes`` are the
    words it is cited for, for the card over its mark. ``read_at`` is when the quoted copy was
    fetched. ``given`` says who gave the text where that was not the site itself.
    """

    number: int
    href: str
    title: str
    domain: str
    heading: str
    quotes: tuple[Markup, ...]
    read_at: datetime | None
    given: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished answer."""

    status: str
    html: Markup
    more: Markup
    sources: tuple[Source, ...]
    remarks: tuple[str, ...]
    suggestions: tuple[str, ...]
    summary: str
    markdown: str
    work: Plan
    seconds: float


def writing(now: Shown) -> Markup:
    """The answer as far as it has been written."""
    targets = dict(now.plan.numbered) if now.plan is not None else {}
    return Markup(answer_html(now.text, targets))  # noqa: S704  (sanitized there)


def reply_of(answer: Answer, texts: Texts, dates: Dates, root: str = "") -> Reply:
    """An answer for its template; ``root`` goes before the paths of links."""
    return Reply(
        status=answer.status,
        html=_html(answer.text, answer, root),
        more=_html(answer.more, answer, root),
        sources=tuple(
            _source(view, answer, texts, dates)
            for view in sources(
                answer, QUOTE, TITLE, beside=True, run_page=f"{root}/runs/{quote(answer.run)}"
            )
        ),
        remarks=remarks(answer, texts),
        suggestions=answer.suggestions,
        summary=summary(answer, texts),
        markdown=markdown_of(answer),
        work=plan_of(PlanView("", answer.steps), texts),
        seconds=answer.usage.seconds,
    )


def markdown_of(answer: Answer) -> str:
    """The answer with its sources, to be pasted elsewhere."""
    listed = [
        f"[{view.number}] {', '.join((view.title, *view.headings[:HEADINGS], view.url))}"
        for view in sources(answer, 0, TITLE)
    ]
    said = portable(answer.whole, answer.targets.values())
    return "\n\n".join(filter(None, (said, without_tags(without_pings("\n".join(listed))))))


def _html(text: str, answer: Answer, root: str) -> Markup:
    html = answer_html(text, answer.targets, copies_of(answer.run, root))
    return Markup(html)  # noqa: S704  (sanitized there)


def copies_of(run: str, root: str = "") -> str:
    """The path under which the pages of a run are shown as they were read, by number."""
    return f"{root}/runs/{quote(run)}/pages/"


def _source(view: SourceView, answer: Answer, texts: Texts, dates: Dates) -> Source:
    cited = [each for each in answer.citations if each.number == view.number]
    read = [dates[key] for each in cited if (key := (each.url, each.page_hash)) in dates]
    return Source(
        number=view.number,
        href=view.href,
        title=view.title,
        domain=view.domain,
        heading=" · ".join(view.headings[:HEADINGS]),
        quotes=tuple(quoted_html(each.pieces) for each in view.quotes if each.pieces),
        read_at=max(read, default=None),
        given=texts("text-given-by", name=view.via) if view.via else "",
    )


def quoted_html(pieces: Iterable[Excerpt]) -> Markup:
    """Quoted words: tables and code as such, all else letter for letter."""
    return Markup("").join(map(_piece, pieces))


def _piece(piece: Excerpt) -> Markup:
    if piece.kind == "table":
        return Markup(answer_html(piece.text, {}))  # noqa: S704  (sanitized there)
    tag = "pre" if piece.kind == "code" else "p"
    words = (
        f"<mark>{escape(text)}</mark>" if is_strong else escape(text)
        for text, is_strong in piece.runs()
    )
    return Markup(f"<{tag}>{''.join(words)}</{tag}>")  # noqa: S704  (escaped here)
