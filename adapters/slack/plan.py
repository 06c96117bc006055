"""The plan of a running run as Slack's tasks, and the part of its text that is final. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from adapters.slack.limits import (
    TASK_FIELD_CHARACTERS,
    TASK_SOURCES,
    TASK_TITLE_CHARACTERS,
    TASKS,
    URL_CHARACTERS,
)
from bot.core.lines import label, shortened
from bot.core.messages import PlanView, StepView
from bot.core.texts import Texts
from bot.pages.urls import domain
from bot.rendering.footnotes import link_target
from bot.rendering.marks import numbers_in
from bot.rendering.plan import PARTS, Branch, named, title_of, work
from bot.rendering.safety import without_pings

TaskState = Literal["pending", "in_progress", "complete", "error"]

_BRACKETS = str.maketrans({"<": "‹", ">": "›"})


@dataclass(frozen=True, slots=True)
class Link:
    """A page that a task read."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """One line of the plan. ``details`` are shown once, when the task has ended."""

    id: str
    title: str
    state: TaskState
    details: str = ""
    links: tuple[Link, ...] = ()


@dataclass(slots=True)
class _Group:
    """The steps that form one task, which is named after the first."""

    steps: list[StepView] = field(default_factory=list)

    @property
    def is_part(self) -> bool:
        """Return True for a sub-question or a paragraph, whose own line shows its progress."""
        return self.steps[0].kind in PARTS


def tasks(plan: PlanView, texts: Texts, *, ended: bool = False) -> tuple[Task, ...]:
    """Return the plan's tasks in order, at most ``TASKS``; the last says how many more there are.

    Reading and thinking steps belong to the search before them; steps with a parent belong to the
    parent. ``ended`` tells that the run has ended, so that no task stays open.
    """
    groups = _groups(plan.steps)
    titles = {url: title_of(s) for s in plan.steps if s.kind == "read" for url in s.sources}
    shown = [
        _task(group, texts, titles, last=number == len(groups) - 1, ended=ended)
        for number, group in enumerate(groups)
    ]
    if len(shown) <= TASKS:
        return tuple(shown)
    rest = shown[TASKS - 1 :]
    more = texts("more-steps", count=len(rest))
    return (*shown[: TASKS - 1], Task("more", more, rest[-1].state))


def heading(title: str) -> str:
    """Return a plan's title as plain text."""
    return plain(label(title), TASK_TITLE_CHARACTERS)


def plain(text: str, longest: int) -> str:
    """Return foreign text as plain text for Slack, on one line and without markup."""
    return shortened(without_pings(text.translate(_BRACKETS)), longest)


def _groups(steps: Sequence[StepView]) -> list[_Group]:
    groups: list[_Group] = []
    by_id: dict[str, _Group] = {}
    for step in steps:
        group = by_id.get(step.parent) if step.parent else None
        if group is None and groups and _continues(groups[-1], step):
            group = groups[-1]
        if group is None:
            group = _Group()
            groups.append(group)
        group.steps.append(step)
        by_id[step.id] = group
    return groups


def _continues(group: _Group, step: StepView) -> bool:
    """Return True if a step belongs to the task before it."""
    if group.is_part or step.kind in PARTS:
        return False
    kinds = {one.kind for one in group.steps}
    match step.kind:
        case "think":
            return True
        case "read":
            return bool(kinds & {"search", "read"})
        case "search":
            return kinds == {"search"}  # one round; a search after reading begins a new round
    return False


def _task(
    group: _Group, texts: Texts, titles: Mapping[str, str], *, last: bool, ended: bool
) -> Task:
    first = next((step for step in group.steps if step.kind != "think"), group.steps[0])
    same = [step for step in group.steps if step.kind == first.kind and not step.parent]
    title = _title(first, texts)
    if len(same) > 1:
        title += f" · {texts('more-steps', count=len(same) - 1)}"
    links = _links(group.steps, titles)
    if group.is_part:
        state = _state([first], open_ended=False, ended=ended)
        details = _node_details(Branch(first, tuple(group.steps[1:])), texts)
    else:
        is_open = last and not ended
        state = _state(group.steps, open_ended=is_open, ended=ended)
        details = _details(group.steps, same)
    return Task(
        id=first.id or "step",
        title=plain(title, TASK_TITLE_CHARACTERS) or first.kind,
        state=state,
        details=details if state in ("complete", "error") else "",
        links=links,
    )


def _title(step: StepView, texts: Texts) -> str:
    return named(step, shortened(title_of(step), 100), texts) if step.title else step.kind


def _state(steps: Sequence[StepView], *, open_ended: bool, ended: bool) -> TaskState:
    states = {step.state for step in steps}
    if not ended and "running" in states:
        return "in_progress"
    if not ended and states == {"waiting"}:
        return "pending"
    if states == {"failed"}:
        return "error"
    return "in_progress" if open_ended and states != {"failed"} else "complete"


def _details(steps: Sequence[StepView], same: Sequence[StepView]) -> str:
    """Return the other queries of a round, and the steps' details, such as errors."""
    said = [title_of(step) for step in same[1:]]
    said += [label(step.detail) for step in steps if step.detail]
    return plain(" · ".join(dict.fromkeys(said)), TASK_FIELD_CHARACTERS)


def _node_details(branch: Branch, texts: Texts) -> str:
    """Return the work done for a part of the research, and the reason if it failed."""
    said = filter(None, (work(branch, texts), label(branch.line.detail)))
    return plain(" · ".join(said), TASK_FIELD_CHARACTERS)


def _links(steps: Sequence[StepView], titles: Mapping[str, str]) -> tuple[Link, ...]:
    """Return the pages that were read, each once."""
    found: dict[str, Link] = {}
    for step in steps:
        if step.state != "done":
            continue
        for url in step.sources:
            target = link_target(url)
            if 0 < len(target) <= URL_CHARACTERS:
                title = titles.get(url, "")
                text = title if title != url else domain(url)
                found.setdefault(target, Link(target, plain(text, 80) or domain(url) or target))
    return tuple(found.values())[:TASK_SOURCES]


def task_chunk(task: Task, *, details: str, links: Sequence[Link]) -> dict[str, Any]:
    """Return the chunk that updates a task in a stream."""
    chunk: dict[str, Any] = {
        "type": "task_update",
        "id": task.id,
        "title": task.title,
        "status": task.state,
    }
    if details:
        chunk["details"] = details
    if links:
        chunk["sources"] = [{"type": "url", "url": link.url, "text": link.text} for link in links]
    return chunk


def chunk_characters(chunk: dict[str, Any]) -> int:
    """Return how many characters of a stream's limit a chunk uses."""
    own = sum(len(chunk.get(key, "")) for key in ("text", "title", "details", "output"))
    return own + sum(len(link["url"]) + len(link["text"]) for link in chunk.get("sources", ()))


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def ready(text: str, known: Collection[int]) -> str:
    """Return the part of a growing text that will not change: whole lines, outside code.

    The last line is left out, because footnotes may still be added to it, and so are lines from the
    first mark on whose source is not known yet, because it could not be linked.
    """
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
    end = kept = 0
    fence = ""
    for line in lines:
        end += len(line)
        fence = _fence_after(line, fence)
        if not fence and any(number not in known for number in numbers_in(line)):
            break
        if not fence:
            kept = end
    # The last line may still grow until a line with words follows it.
    return text[:kept] if text[kept:].strip() else _without_last_line(text[:kept])


def cut_before(text: str, room: int) -> int:
    """Return the last position after a blank line outside code with at most ``room`` characters of
    Markdown before it, or 0."""
    fence = ""
    end = cut = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if end > room:
            break
        fence = _fence_after(line, fence)
        if not fence and not line.strip():
            cut = end
    return cut


def _fence_after(line: str, fence: str) -> str:
    """Return the fence of the code block that is open after a line, or ""; ``fence`` is the one
    open before it."""
    found = _FENCE.match(line)
    if found and not fence:
        return found[1]
    closes = found and found[1].startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence


def _without_last_line(text: str) -> str:
    lines = text.splitlines(keepends=True)
    while lines and not lines[-1].strip():
        lines.pop()
    return "".join(lines[:-1])
