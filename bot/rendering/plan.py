"""A run's plan as the reader sees it: its lines, and a summary of the steps under each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.lines import label
from bot.core.messages import StepView
from bot.core.texts import Texts

PARTS = frozenset(("node", "paragraph"))  # kinds of lines: sub-questions, parts of a report
_NAMED = frozenset(
    ("rewrite", "search", "read", "think", "plan", "draft", "revise", "write", "check")
)


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of the plan and all steps under it, at any depth, in order."""

    line: StepView
    steps: tuple[StepView, ...] = ()

    @property
    def is_part(self) -> bool:
        """True if the line is a part of the research, not a step itself."""
        return self.line.kind in PARTS

    @property
    def under_way(self) -> tuple[StepView, ...]:
        """The running steps under it."""
        return tuple(step for step in self.steps if step.state == "running")


def title_of(step: StepView) -> str:
    """The title of a step, such as a page's title or a query, as a label."""
    return label(step.title)


def named(step: StepView, title: str, texts: Texts) -> str:
    """A step in the reader's language; ``title`` is its title as the platform formats titles."""
    return texts(f"step-{step.kind}" if step.kind in _NAMED else "step-other", title=title)


def branches(steps: Sequence[StepView]) -> tuple[Branch, ...]:
    """The top-level lines, each with the steps under it.

    A step whose parent is missing counts as top-level.
    """
    tops: dict[str, StepView] = {}
    under: dict[str, list[StepView]] = {}
    top_of: dict[str, str] = {}
    for step in steps:
        top = top_of.get(step.parent, "") if step.parent else ""
        if top:
            under[top].append(step)
        else:
            tops[step.id] = step
            under.setdefault(step.id, [])
        top_of[step.id] = top or step.id
    return tuple(Branch(line, tuple(under[id])) for id, line in tops.items())


def work(branch: Branch, texts: Texts) -> str:
    """The number of searches and pages under a line, or "" while there are none.

    A page used under two lines is a step under one of them only.
    """
    done = [step.kind for step in branch.steps if step.state == "done"]
    counts = {
        "step-searches": done.count("search"),
        "step-pages": max(done.count("read"), len(branch.line.sources)),
    }
    return " · ".join(texts(id, count=count) for id, count in counts.items() if count)
