"""What templates show: plans, answers and turns of a conversation, made from the core's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from adapters.web.markdown import answer_html
from adapters.web.shown import Shown
from adapters.web.svg.graph import GraphNode, draw
from bot.answers import Answer, Citation, PlanView, StepView
from bot.pages.urls import domain
from bot.rendering.footnotes import by_number, link_target
from bot.rendering.lines import one_line, shortened
from bot.rendering.plan import Branch, branches, work
from bot.rendering.remarks import remarks, summary
from bot.rendering.texts import Texts

QUOTE = 400  # characters
TITLE = 200

Dates = Mapping[tuple[str, str], datetime]  # URL and hash of a page → when it was read


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a plan. ``doing`` is what is being done for it now."""

    id: str
    state: str
    title: str
    detail: str
    seconds: float
    part: bool
    doing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    lines: tuple[Line, ...]
    graph: Markup | None
    now: str  # what is being done, in one line, for those who cannot look


@dataclass(frozen=True, slots=True)
class Source:
    """``href`` is "" where a browser cannot go. ``read_at`` is when the quoted copy was fetched."""

    number: int
    href: str
    title: str
    domain: str
    heading: str
    quotes: tuple[str, ...]
    read_at: datetime | None


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished answer."""

    status: str
    html: Markup
    sources: tuple[Source, ...]
    remarks: tuple[str, ...]
    suggestions: tuple[str, ...]
    summary: str
    markdown: str


def plan_of(plan: PlanView, texts: Texts) -> Plan:
    found = branches(plan.steps)
    lines = tuple(_line(branch, texts) for branch in found)
    running = [line for line in lines if line.state == "running"]
    doing = [one for line in running for one in line.doing] or [line.title for line in running]
    return Plan(lines, _graph(plan.steps, texts), shortened(" · ".join(doing[:3]), 200))


def _graph(steps: Sequence[StepView], texts: Texts) -> Markup | None:
    """The sub-questions, where there are several."""
    nodes = [
        GraphNode(step.id, one_line(step.title), step.state, step.needs, "", said(step, texts))
        for step in steps
        if step.kind == "node"
    ]
    return draw(nodes, texts("web-graph")) if len(nodes) > 1 else None


def said(step: StepView, texts: Texts) -> str:
    """The state of a step in words."""
    return texts(f"web-state-{step.state}")


def _line(branch: Branch, texts: Texts) -> Line:
    step = branch.line
    detail = one_line(step.detail)
    done = work(branch, texts)
    doing = tuple(_title(each, texts) for each in branch.under_way) if branch.is_part else ()
    return Line(
        id=step.id,
        state=step.state,
        title=_title(step, texts),
        detail=" · ".join(part for part in (detail, done) if part),
        seconds=step.seconds,
        part=branch.is_part,
        doing=doing if step.state == "running" else (),
    )


def _title(step: StepView, texts: Texts) -> str:
    known = step.kind in ("search", "read")
    title = shortened(step.title, TITLE)
    return texts(f"step-{step.kind}", title=title) if known else title


def writing(now: Shown) -> Markup:
    """The answer as far as it has been written."""
    targets = dict(now.plan.numbered) if now.plan is not None else {}
    return Markup(answer_html(now.text, targets))  # noqa: S704  (sanitized there)


def reply_of(answer: Answer, texts: Texts, dates: Dates) -> Reply:
    targets = {citation.number: citation.url for citation in answer.citations}
    return Reply(
        status=answer.status,
        html=Markup(answer_html(answer.text, targets)),  # noqa: S704  (sanitized there)
        sources=tuple(
            _source(number, cited, dates) for number, cited in by_number(answer.citations)
        ),
        remarks=remarks(answer, texts),
        suggestions=answer.suggestions,
        summary=summary(answer, texts),
        markdown=markdown_of(answer),
    )


def markdown_of(answer: Answer) -> str:
    """The answer with its sources, to be pasted elsewhere."""
    listed = [
        f"[{number}] {one_line(cited[0].title) or cited[0].url}, {cited[0].url}"
        for number, cited in by_number(answer.citations)
    ]
    return "\n\n".join([answer.text, "\n".join(listed)]) if listed else answer.text


def _source(number: int, cited: Sequence[Citation], dates: Dates) -> Source:
    first = cited[0]
    headings = {each.heading for each in cited}
    # One that all quotes stand under, without the title that stands above it already.
    heading = first.heading.removeprefix(f"{first.title} › ") if len(headings) == 1 else ""
    host = domain(first.url)
    quotes = dict.fromkeys(shortened(citation.quote, QUOTE) for citation in cited)
    read = [dates[key] for each in cited if (key := (each.url, each.page_hash)) in dates]
    return Source(
        number=number,
        href=link_target(first.url),
        title=shortened(first.title, TITLE) or host or one_line(first.url),
        domain=host,
        heading="" if heading == first.title else shortened(heading, TITLE),
        quotes=tuple(quote for quote in quotes if quote),
        read_at=max(read, default=None),
    )
