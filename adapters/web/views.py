"""Values for templates: plans, answers and turns of a conversation, made from the core's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from markupsafe import Markup

from adapters.web.markdown import answer_html, inline_html
from adapters.web.places import AnswerPlaces, PlacesWhileWriting, copies_of
from adapters.web.shown import Shown
from adapters.web.sources import HEADINGS, TITLE, Dates, Source, shown_sources
from adapters.web.svg.graph import GraphNode, draw
from bot.answers import Answer, PlanView, StepView
from bot.rendering.footnotes import sources
from bot.rendering.lines import one_line, shortened
from bot.rendering.plan import Branch, branches, work
from bot.rendering.remarks import remarks, spent
from bot.rendering.safety import portable, without_pings, without_tags
from bot.rendering.texts import Texts

NONE: Mapping[str, str] = MappingProxyType({})


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
class Reply:
    """A finished answer."""

    status: str
    html: Markup
    more: Markup
    sources: tuple[Source, ...]
    remarks: tuple[Markup, ...]
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


def writing(run: str, now: Shown) -> Markup:
    """The answer of a run as far as it has been written."""
    targets = dict(now.plan.numbered) if now.plan is not None else {}
    html = answer_html(now.text, targets, copies_of(run), PlacesWhileWriting(run))
    return Markup(html)  # noqa: S704  (sanitized there)


def reply_of(
    answer: Answer, texts: Texts, dates: Dates, collections: Mapping[str, str] = NONE
) -> Reply:
    """``collections`` names the collections of the answer's documents, by their addresses."""
    return Reply(
        status=answer.status,
        html=_html(answer.text, answer),
        more=_html(answer.more, answer),
        sources=shown_sources(answer, texts, dates, collections),
        remarks=tuple(
            Markup(inline_html(one))  # noqa: S704  (sanitized there)
            for one in remarks(answer, texts, lambda words: words)
        ),
        suggestions=answer.suggestions,
        summary=spent(answer, texts),
        markdown=markdown_of(answer),
    )


def markdown_of(answer: Answer) -> str:
    """The answer with its sources, to be pasted elsewhere."""
    listed = [
        f"[{view.number}] {', '.join((view.title, *view.headings[:HEADINGS], view.url))}"
        for view in sources(answer, 0, TITLE)
    ]
    said = portable(answer.whole, answer.targets.values())
    return "\n\n".join(filter(None, (said, without_tags(without_pings("\n".join(listed))))))


def _html(text: str, answer: Answer) -> Markup:
    html = answer_html(text, answer.targets, copies_of(answer.run), AnswerPlaces(answer))
    return Markup(html)  # noqa: S704  (sanitized there)
