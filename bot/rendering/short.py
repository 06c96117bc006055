"""The few short lines of an answer in a channel, where all else is a button away.

Its sources on one line, and what a reader must know so as not to be misled. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.answers import Answer
from bot.rendering.footnotes import SourceView, sources
from bot.rendering.lines import one_line, shortened
from bot.rendering.marks import numbers_in
from bot.rendering.remarks import changed, noted
from bot.rendering.texts import Texts

LINE = 160  # characters of all titles on the line of sources
SHORTEST_TITLE, LONGEST_TITLE = 20, 60  # characters of one of them
SOURCES = 8  # on the line; more are counted
GAP = 100  # characters of something that was not found
GAPS = 3


@dataclass(frozen=True, slots=True)
class SourceLabel:
    """A source on the line: its number and title, where it leads ("" for nowhere).

    A source that leads nowhere, such as a file, also has what its quotes stand under there.
    """

    number: int
    words: str
    href: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The sources that the text of an answer has marks of, and how many more there are."""

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
    """At most one line each for what is missing, what is marked as doubtful, and remarks.

    Reasons and remarks in full are in ``remarks``; here stand only those that say why an answer is
    incomplete, and all remarks where no sentence has a source: they say that it is from memory.
    ``shown`` as in ``remarks``.
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
    notes = noted(replace(answer, notes=tuple(n for n in answer.notes if n != amended)), shown)
    if notes and answer.citations and (is_partial or answer.status == "answered"):
        counts.append(texts("notes-counted", count=len(notes)))
        notes = ()
    if counts:
        lines.append(" · ".join(counts))
    return (*lines, *notes)
