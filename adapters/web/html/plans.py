"""Renders the changing parts of an unfinished reply, once for all viewers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cachetools import LRUCache
from markupsafe import Markup

from adapters.web.html.markdown import Place, answer_html
from adapters.web.html.sources import TITLE, Site, copies_of, site_of
from adapters.web.html.svg import GraphNode, draw_graph
from adapters.web.limits import PARTS_KEPT
from adapters.web.live import ReplyState, as_line
from adapters.web.templating import Templates
from bot.core.lines import label, shortened
from bot.core.messages import PlanView, StepState, StepView
from bot.core.texts import Texts
from bot.rendering.footnotes import link_target
from bot.rendering.markdown_tables import plain_lines
from bot.rendering.remarks import PARTS, Branch, branches, named, title_of, work

FOUND = 400  # characters of one finding
DOING = 3  # activities named at once
ICONS = 6  # icons of sites on the line of the pages


@dataclass(frozen=True, slots=True)
class Line:
    """A search, a page, a sub-question or a part of a report. ``href`` is the URL of a web page. A
    sub-question or part has its ``work`` in numbers, its findings and its pages."""

    id: str
    state: StepState
    title: str
    detail: str
    site: Site | None = None
    href: str = ""
    work: str = ""
    found: tuple[str, ...] = ()
    pages: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """``now`` is the present activity in one line; "" between two steps."""

    now: str
    graph: Markup | None
    nodes: tuple[Line, ...]
    paragraphs: tuple[Line, ...]
    searches: tuple[Line, ...]
    pages: tuple[Line, ...]

    @property
    def sites(self) -> tuple[Site, ...]:
        """Return the sites whose icons are shown beside the number of pages, each once."""
        return tuple(dict.fromkeys(page.site for page in self.pages if page.site))[:ICONS]

    def count(self, lines: Sequence[Line], *states: StepState) -> int:
        """Return how many of the lines are in one of the states."""
        return sum(line.state in states for line in lines)


def plan_of(plan: PlanView, texts: Texts, run: str = "") -> Plan:
    """Return the plan of a run; ``run`` is part of the anchors of its nodes."""
    steps = plan.steps
    parts = branches(steps)
    return Plan(
        now=_now(steps, texts),
        graph=_graph(steps, texts, run),
        nodes=tuple(_part(each, texts) for each in parts if each.line.kind == "node"),
        paragraphs=tuple(_part(each, texts) for each in parts if each.line.kind == "paragraph"),
        searches=tuple(_line(step) for step in steps if step.kind == "search"),
        pages=tuple(_line(step) for step in steps if step.kind == "read"),
    )


def _now(steps: Sequence[StepView], texts: Texts) -> str:
    running = [step for step in steps if step.state == "running" or step.kind == "price"]
    busy = {step.parent for step in running}
    of_rounds = {step.id for step in running if step.id.startswith("round-")}  # named by steps
    parts = [step for step in running if step.kind in PARTS and step.id not in of_rounds]
    named_by = {step.id for step in parts}
    told = [
        named(step, shortened(title_of(step), TITLE), texts)
        for step in running
        if not {step.id, step.parent} & named_by and step.id not in of_rounds & busy
    ][:DOING]
    for kind, id in (("paragraph", "web-plan-part"), ("node", "web-plan-node")):
        if names := [shortened(title_of(step), TITLE) for step in parts if step.kind == kind]:
            told.append(texts(id, title=" · ".join(names[:DOING])))
    return " · ".join(dict.fromkeys(told))


def _graph(steps: Sequence[StepView], texts: Texts, run: str) -> Markup | None:
    """Draw the sub-questions, if there are several."""
    nodes = [
        GraphNode(
            step.id,
            shortened(title_of(step), TITLE),
            step.state,
            step.needs,
            f"#found-{run}-{step.id}",  # the element with its findings
            texts(f"web-state-{step.state}"),
        )
        for step in steps
        if step.kind == "node"
    ]
    return draw_graph(nodes, texts("web-graph")) if len(nodes) > 1 else None


def _part(branch: Branch, texts: Texts) -> Line:
    return replace(
        _line(branch.line),
        work=work(branch, texts),
        found=tuple(shortened(" · ".join(plain_lines(each)), FOUND) for each in branch.line.found),
        pages=tuple(_line(each) for each in branch.steps if each.kind == "read"),
    )


def _line(step: StepView) -> Line:
    url = next(iter(step.sources), "")
    return Line(
        id=step.id,
        state=step.state,
        title=shortened(title_of(step), TITLE),
        detail=label(step.detail),
        site=site_of(url) if step.kind == "read" else None,
        href=link_target(url),
    )


class Parts:
    """Renders the parts of unfinished replies as JSON for events, once for all viewers."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._kept: LRUCache[tuple[str, ...], str] = LRUCache(PARTS_KEPT)

    def plan(self, texts: Texts, run: str, now: ReplyState) -> str:
        """Return the plan as HTML, and ``now``, the present activity in words."""
        key = ("plan", texts.locale, run, now.mark, str(now.plan is None))
        if key not in self._kept:
            html = plan_html(self._templates, texts, run, now)
            self._kept[key] = as_line({"run": run, "html": html, "now": being_done(now, texts)})
        return self._kept[key]

    def text(self, run: str, now: ReplyState) -> str:
        """Return the text of the answer so far, as HTML."""
        key = ("text", run, now.mark, str(bool(now.text)))  # it may be withheld from some viewers
        if key not in self._kept:
            html = writing(run, now, self._templates.root)
            self._kept[key] = as_line({"run": run, "html": html})
        return self._kept[key]


def being_done(now: ReplyState, texts: Texts) -> str:
    """Return the present activity in one line; "" between two steps."""
    if now.plan is not None:
        return plan_of(now.plan, texts).now
    return texts("queued", ahead=now.ahead) if now.ahead else texts("working")


def plan_html(templates: Templates, texts: Texts, run: str, now: ReplyState) -> str:
    """Render the plan: a line for each kind of work."""
    plan = plan_of(now.plan, texts, run) if now.plan is not None else None
    return templates.fragment("conversation_plan.html", texts, run=run, plan=plan, fresh=now.fresh)


def writing(run: str, now: ReplyState, root: str = "") -> Markup:
    """Render the text of a run's answer so far."""
    targets = dict(now.plan.numbered) if now.plan is not None else {}
    pages = copies_of(run, root)  # nothing is quoted yet
    html = answer_html(now.text, targets, pages, lambda number, _: Place(f"{pages}{number}"))
    return Markup(html)  # noqa: S704  (sanitized there)
