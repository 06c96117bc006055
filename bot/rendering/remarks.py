"""Remarks on a run beside its text: its plan, then its sources, cautions, doubts and cost.

All lines are in the reader's language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.core.lines import label, one_line, shortened
from bot.core.messages import Answer, StepView
from bot.core.texts import Texts
from bot.rendering.footnotes import SourceView, sources
from bot.rendering.markdown_tables import plain_text
from bot.rendering.marks import numbers_in

# ---------------------------------------------------------------- the plan

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
        return self.line.kind in PARTS

    @property
    def under_way(self) -> tuple[StepView, ...]:
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


# ---------------------------------------------------------------- below an answer

DOUBT = 200  # characters of a doubted or disputed sentence, and of the reason
NOTE = 300  # characters
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+")


def remarks(
    answer: Answer, texts: Texts, shown: Callable[[str], str] = one_line
) -> tuple[str, ...]:
    """Doubts, then disagreements between sources, then notes, one line each.

    ``shown`` escapes text of pages and models so that the platform shows it literally; it receives
    one line of at most ``DOUBT`` or ``NOTE`` characters.
    """
    doubts = [
        texts(
            "unverified",
            sentence=shown(shortened(words_of(doubt.sentence), DOUBT)),
            reason=shown(shortened(doubt.reason, DOUBT)),
        )
        for doubt in answer.doubts
    ]
    others = [
        texts(
            "disagrees",
            sentence=shown(shortened(words_of(other.sentence), DOUBT)),
            number=str(other.number),
            quote=shown(shortened(other.quote, DOUBT)),
        )
        for other in answer.disagreements
    ]
    return (*doubts, *others, *noted(answer, shown))


def words_of(sentence: str) -> str:
    """A sentence of an answer without its Markdown and the mark of its list item."""
    return plain_text(_ITEM.sub("", sentence))


def noted(answer: Answer, shown: Callable[[str], str] = one_line) -> tuple[str, ...]:
    """The notes, one line each; ``shown`` as in ``remarks``."""
    # A failed answer's text already says why; do not repeat it.
    reason = answer.text if answer.status == "failed" else ""
    others = [note for note in answer.notes if note not in reason]
    notes = [short for note in others if (short := shortened(label(note), NOTE))]
    return tuple(f"ⓘ {shown(note)}" for note in notes)


def changed(answer: Answer, texts: Texts) -> str:
    """A note with the number of corrected and omitted sentences, or ""."""
    found = answer.verification.sentences if answer.verification else ()
    corrected = sum(each.outcome == "restated" for each in found)
    left_out = sum(each.outcome == "left_out" for each in found)
    if not corrected and not left_out:
        return ""
    return texts("verify-changed", corrected=corrected, left=left_out)


def spent(answer: Answer, texts: Texts) -> str:
    """Time, searches, pages and cost, on one line."""
    usage = answer.usage
    return texts(
        "spent",
        seconds=usage.seconds,
        searches=usage.searches,
        pages=usage.pages,
        cost=usage.usd,
    )


def summary(answer: Answer, texts: Texts) -> str:
    """Time, searches, pages, cost and run, on one line."""
    return texts("summary", spent=spent(answer, texts), run=answer.run)


LINE = 160  # characters of all titles on the line of sources
SHORTEST_TITLE, LONGEST_TITLE = 20, 60  # characters of one title
SOURCES = 8  # on the line; the rest are counted
GAP = 100  # characters of a point that was not found
GAPS = 3


@dataclass(frozen=True, slots=True)
class SourceLabel:
    """A source on the line: its number, title and link ("" for none).

    A source without a link, such as a file, also has the heading above its first quote.
    """

    number: int
    words: str
    href: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The sources whose marks are in an answer's text, and how many more there are."""

    labels: tuple[SourceLabel, ...]
    more: int


def source_line(answer: Answer, run_page: str = "") -> SourceLine:
    """The numbered sources of an answer's text; ``run_page`` as in ``footnotes.sources``."""
    marked = set(numbers_in(answer.text))
    views = [view for view in sources(answer, 1, run_page=run_page) if view.number in marked]
    shown = views[:SOURCES]
    room = min(max(LINE // max(len(shown), 1), SHORTEST_TITLE), LONGEST_TITLE)
    labels = tuple(SourceLabel(v.number, _words(v, room), v.href) for v in shown)
    return SourceLine(labels, len(views) - len(shown))


def _words(view: SourceView, room: int) -> str:
    title = shortened(view.title, room)
    if view.href or not view.headings:
        return title
    return f"{title} — {shortened(view.headings[0], room)}"


def cautions(
    answer: Answer, texts: Texts, shown: Callable[[str], str] = one_line
) -> tuple[str, ...]:
    """At most one line each for missing points, corrected sentences, and counts of remarks.

    ``remarks`` gives reasons and remarks in full. Here only those appear that say why an answer is
    incomplete or what of the question was not read, and all remarks if no sentence has a source,
    since they say that the answer is from memory. ``shown`` as in ``remarks``.
    """
    lines: list[str] = []
    gaps = [shown(shortened(gap, GAP)) for gap in answer.missing if gap.strip()]
    is_partial = answer.status == "partial" and bool(gaps)
    if is_partial:
        what = texts("report-separator").join(gaps[:GAPS]) + (" …" if len(gaps) > GAPS else "")
        lines.append(texts("partly-answered", what=what))
    if amended := changed(answer, texts):
        lines.append(shown(amended))
    counts = [
        texts(id, count=count)
        for id, count in (
            ("doubts-counted", len(answer.doubts)),
            ("disagreements-counted", len(answer.disagreements)),
        )
        if count
    ]
    rest = tuple(note for note in answer.notes if note != amended)
    notes = noted(replace(answer, notes=rest), shown)
    if notes and answer.citations and (is_partial or answer.status == "answered"):
        unread = noted(replace(answer, notes=answer.unread), shown)
        if count := len(notes) - len(unread):
            counts.append(texts("notes-counted", count=count))
        notes = unread
    if counts:
        lines.append(" · ".join(counts))
    return (*lines, *notes)
