"""The plan of a run for its template: the present activity, and a line for each kind of work.

The plan of any research has only a few lines: the present activity, the sub-questions (as a graph)
or the parts of a report, the searches, and the pages. Each line can be unfolded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from adapters.web.svg.graph import GraphNode, draw
from bot.core.lines import label, one_line, shortened
from bot.core.messages import PlanView, StepState, StepView
from bot.core.reader import is_document, public
from bot.core.texts import Texts
from bot.rendering.footnotes import link_target
from bot.rendering.plan import Branch, branches, named, title_of, work
from bot.search.hits import host_of

TITLE = 200  # characters
FOUND = 400  # characters of one finding
DOING = 3  # activities named at once
ICONS = 6  # icons of sites on the line of the pages
COLOURS = 12  # colours of icons, as many as in the style sheet


@dataclass(frozen=True, slots=True)
class Site:
    """A site's icon, drawn here because nothing is loaded from other sites. ``letter`` is "" for
    documents, which have their own icon; ``colour`` is the number of its colour."""

    name: str
    letter: str
    colour: int


@dataclass(frozen=True, slots=True)
class Line:
    """A search or a page. ``href`` is the URL of a web page."""

    id: str
    state: StepState
    title: str
    detail: str
    site: Site | None = None
    href: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-question or a part of a report: its ``work`` in numbers, its findings and its pages."""

    id: str
    state: StepState
    said: str
    title: str
    detail: str
    work: str
    seconds: float
    found: tuple[str, ...]
    pages: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """``now`` is the present activity in one line; "" between two steps."""

    now: str
    graph: Markup | None
    nodes: tuple[Part, ...]
    paragraphs: tuple[Part, ...]
    searches: tuple[Line, ...]
    pages: tuple[Line, ...]

    @property
    def read(self) -> int:
        return sum(page.state == "done" for page in self.pages)

    @property
    def unread(self) -> int:
        return sum(page.state == "failed" for page in self.pages)

    @property
    def searched(self) -> int:
        return sum(search.state == "done" for search in self.searches)

    @property
    def sites(self) -> tuple[Site, ...]:
        """Return the sites whose icons are shown beside the number of pages, each once."""
        return tuple(dict.fromkeys(page.site for page in self.pages if page.site))[:ICONS]

    def ended(self, parts: Sequence[Part]) -> int:
        """Return the number of parts that have ended, with success or not."""
        return sum(part.state in ("done", "failed") for part in parts)


def plan_of(plan: PlanView, texts: Texts, run: str = "") -> Plan:
    """Return the plan of a run; ``run`` is part of the anchors of its nodes."""
    parts = [branch for branch in branches(plan.steps) if branch.is_part]
    nodes = tuple(_part(each, texts) for each in parts if each.line.kind == "node")
    return Plan(
        now=_now(plan.steps, texts),
        graph=_graph(plan.steps, texts, run),
        nodes=nodes,
        paragraphs=tuple(_part(each, texts) for each in parts if each.line.kind == "paragraph"),
        searches=tuple(_line(step) for step in plan.steps if step.kind == "search"),
        pages=tuple(_line(step) for step in plan.steps if step.kind == "read"),
    )


def _now(steps: Sequence[StepView], texts: Texts) -> str:
    running = [step for step in steps if step.state == "running"]
    parts = {step.id for step in running if step.kind in ("node", "paragraph")}
    busy = {step.parent for step in running}  # their own running steps describe them
    told = [_doing(step, texts) for step in running if step.id not in parts & busy]
    return " · ".join(dict.fromkeys(told[:DOING]))


def _doing(step: StepView, texts: Texts) -> str:
    return named(step, shortened(title_of(step), TITLE), texts)


def anchor_of(run: str, step: str) -> str:
    """Return the id of the element with a sub-question's findings."""
    return f"found-{run}-{step}"


def _graph(steps: Sequence[StepView], texts: Texts, run: str) -> Markup | None:
    """Draw the sub-questions, if there are several."""
    nodes = [
        GraphNode(
            step.id,
            title_of(step),
            step.state,
            step.needs,
            f"#{anchor_of(run, step.id)}",
            state_in_words(step, texts),
        )
        for step in steps
        if step.kind == "node"
    ]
    return draw(nodes, texts("web-graph")) if len(nodes) > 1 else None


def state_in_words(step: StepView, texts: Texts) -> str:
    """Return the state of a step in words."""
    return texts(f"web-state-{step.state}")


def _part(branch: Branch, texts: Texts) -> Part:
    step = branch.line
    return Part(
        id=step.id,
        state=step.state,
        said=state_in_words(step, texts),
        title=shortened(title_of(step), TITLE),
        detail=label(step.detail),
        work=work(branch, texts),
        seconds=step.seconds,
        found=tuple(shortened(one_line(each), FOUND) for each in step.found),
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


def site_of(url: str) -> Site:
    """Return the icon for a page's URL; documents and files of questions share one."""
    url = public(url)
    host = "" if is_document(url) or not url.startswith("http") else host_of(url)
    name = host.removeprefix("www.")
    digest = hashlib.sha256(name.encode()).digest()
    return Site(name, name[:1].upper(), digest[0] % COLOURS)
