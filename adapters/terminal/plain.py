"""Formats plans and answers for a terminal as plain text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from bot.core.lines import label, one_line, shortened
from bot.core.messages import Answer, StepView
from bot.core.texts import DEFAULT, texts_for
from bot.rendering.documents import answer_document, printed_json
from bot.rendering.footnotes import Excerpt, QuoteView, SourceView, sources
from bot.rendering.remarks import Branch, branches, title_of, work
from bot.rendering.safety import portable, without_pings, without_tags
from bot.rendering.verbatim import as_words

Line = list[tuple[str, str]]
"""A line of the plan: pieces of text with terminal styles. The first piece, which may be empty, has
the base style of the line."""

VERBS = {"search": "Search", "read": "Read"}  # the titles of other steps contain a verb
MARKS = {"waiting": "·", "done": "✓", "failed": "✗"}
STYLES = {"waiting": "dim", "done": "green", "failed": "yellow"}
NEEDED = 60  # characters of a sub-question that another one waits for
QUOTE_WIDTH = 400  # characters of a quote that are shown; --json has all of it


def ended_lines(steps: Sequence[StepView]) -> list[tuple[str, Line]]:
    return [
        (branch.line.id, part_line(branch) if branch.is_part else plan_line([branch.line]))
        for branch in branches(steps)
        if branch.line.state in ("done", "failed")
    ]


def bare(line: Line) -> str:
    return "".join(text for text, _ in line)


def part_line(branch: Branch, titles: Mapping[str, str] = MappingProxyType({})) -> Line:
    """Return the line for a part of the research: its progress, its work, and what it waits for."""
    line = plan_line([branch.line])
    if done := work(branch, texts_for(DEFAULT)):
        line.append((f"  {done}", "dim"))
    if branch.line.state == "waiting":
        needed = [f"“{shortened(titles[id], NEEDED)}”" for id in branch.line.needs if id in titles]
        if needed:
            line.append((f"  after {' and '.join(needed)}", "dim"))
    return line


def plan_line(steps: Sequence[StepView]) -> Line:
    """Return one line for steps of the same kind and state."""
    first = steps[0]
    mark = MARKS.get(first.state)
    line: Line = [(f"{mark} " if mark else "", STYLES.get(first.state, ""))]
    if first.kind in VERBS:
        line.append((f"{VERBS[first.kind]} ", "bold"))
    titles = [title_of(step) for step in steps]
    line.append((" · ".join(titles), ""))
    if detail := label(first.detail):
        # The detail about a page often begins with its URL, which the line shows already.
        said_of_it = detail.removeprefix(f"{titles[0]} ") if len(steps) == 1 else detail
        line.append((f" {said_of_it}" if said_of_it != detail else f" — {detail}", "yellow"))
    if first.state == "done" and first.seconds:
        # Concurrent steps took as long as the slowest of them.
        line.append((f"  {max(step.seconds for step in steps):.1f} s", "dim"))
    return line


def answer_json(answer: Answer) -> str:
    return printed_json(answer_document(answer))


def plain(answer: Answer) -> str:
    """Format an answer for a file or a pipe: its Markdown, without escape sequences."""
    urls = answer.targets.values()
    # again without pings: one may have been hidden by an escape ("<\\@1")
    parts = [without_pings(as_words(portable(answer.text, urls)))]
    if answer.citations:
        lines = ["Sources:"]
        for view in sources(answer, QUOTE_WIDTH):
            lines.append(f"[{view.number}] {harmless(view.title)} — {one_line(view.url)}")
            lines += [f"    {line}".rstrip() for line in _quote_lines(view)]
        parts.append("\n".join(lines))
    parts += remarks(answer)
    return "\n\n".join(parts)


def _quote_lines(view: SourceView) -> Iterator[str]:
    for quote in view.quotes:
        for piece in quote.pieces:
            is_text = piece.kind == "text"
            lines = [harmless(quoted(quote, piece))] if is_text else piece.text.split("\n")
            yield from map(without_pings, lines)
        if quote.heading and quote.pieces and not text_last(quote):
            yield f"— {harmless(quote.heading)}"
    for remark in where(view):
        yield f"— {harmless(remark)}"


def quoted(quote: QuoteView, piece: Excerpt) -> str:
    """Put running text in quotation marks; its heading follows the last piece."""
    place = f" — {quote.heading}" if quote.heading and piece is quote.pieces[-1] else ""
    return f"“{piece.text}”{place}"


def text_last(quote: QuoteView) -> bool:
    return quote.pieces[-1].kind == "text"


def where(view: SourceView) -> Iterator[str]:
    """Yield the headings above words that the answer itself quotes, unless they are shown already,
    and who provided the text if not the site."""
    said = {quote.heading for quote in view.quotes if quote.pieces}
    if bare := " · ".join(heading for heading in view.headings if heading not in said):
        yield bare
    if view.via:
        yield texts_for(DEFAULT)("text-given-by", name=view.via)


def remarks(answer: Answer) -> list[str]:
    """Return doubts, disagreements and notes, one line each."""
    doubts = [f"⚠ {doubt.sentence} — {doubt.reason}" for doubt in answer.doubts]
    others = [f"⚖ {o.sentence} — but [{o.number}] says: “{o.quote}”" for o in answer.disagreements]
    return [harmless(one_line(remark)) for remark in (*doubts, *others, *map(label, answer.notes))]


def harmless(words: str) -> str:
    """Make text of pages and models harmless for a terminal and any other output."""
    return without_tags(without_pings(words))
