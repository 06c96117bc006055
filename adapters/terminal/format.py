"""How plans and answers look in a terminal, in a pipe and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token
from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

from bot.answers import Answer, StepView
from bot.rendering.documents import answer_document
from bot.rendering.excerpts import Excerpt
from bot.rendering.footnotes import QuoteView, SourceView, sources
from bot.rendering.lines import one_line, shortened
from bot.rendering.plan import Branch, branches, work
from bot.rendering.texts import DEFAULT, texts_for
from bot.rendering.tokens import answer_parser, text_token, with_marks
from bot.research.verbatim import as_words

VERBS = {"search": "Search", "read": "Read"}  # the titles of other steps say what is done
MARKS = {"waiting": "·", "done": "✓", "failed": "✗"}
STYLES = {"waiting": "dim", "done": "green", "failed": "yellow"}
NEEDED = 60  # characters of a sub-question that another one waits for
QUOTE_WIDTH = 400  # characters of a quote that are shown; all of it is in --json


def plan_lines(steps: Sequence[StepView]) -> list[tuple[Text, bool]]:
    """The plan, steps of one kind and state that follow each other on one line.

    Each line comes with whether it is still running. A sub-question or paragraph is a line with
    what was done for it summed up, and below it what is being done.
    """
    lines: list[tuple[Text, bool]] = []
    titles = {step.id: step.title for step in steps}
    for _, group in groupby(branches(steps), key=_together):
        found = list(group)
        if not found[0].is_part:
            lines.append((_plan_line([b.line for b in found]), found[0].line.state == "running"))
            continue
        for branch in found:
            lines.append((_part_line(branch, titles), branch.line.state == "running"))
            lines += [(Text("    ").append(line), False) for line in _doing(branch)]
    return lines


def ended_lines(steps: Sequence[StepView]) -> list[tuple[str, Text]]:
    """The lines that have ended, each with its id: for where nothing can be drawn over."""
    return [
        (branch.line.id, _part_line(branch) if branch.is_part else _plan_line([branch.line]))
        for branch in branches(steps)
        if branch.line.state in ("done", "failed")
    ]


def _together(branch: Branch) -> tuple[str, str, str]:
    """Lines that follow each other and have this in common are one."""
    if branch.is_part:
        return "part", "", ""
    return branch.line.kind, branch.line.state, branch.line.detail


def _part_line(branch: Branch, titles: Mapping[str, str] = MappingProxyType({})) -> Text:
    """A part of the research: how far it is, what it took, and what it waits for."""
    line = _plan_line([branch.line])
    if done := work(branch, texts_for(DEFAULT)):
        line.append(f"  {done}", style="dim")
    if branch.line.state == "waiting":
        needed = [f"“{shortened(titles[id], NEEDED)}”" for id in branch.line.needs if id in titles]
        line.append(f"  after {' and '.join(needed)}" if needed else "", style="dim")
    return line


def _doing(branch: Branch) -> list[Text]:
    """What is being done for a part of the research."""
    under_way = branch.under_way if branch.line.state == "running" else ()
    return [_plan_line(list(group)) for _, group in groupby(under_way, key=lambda s: s.kind)]


def _plan_line(steps: Sequence[StepView]) -> Text:
    first = steps[0]
    mark = MARKS.get(first.state)
    line = Text(f"{mark} " if mark else "", style=STYLES.get(first.state, ""))
    if first.kind in VERBS:
        line.append(f"{VERBS[first.kind]} ", style="bold")
    titles = [one_line(step.title) for step in steps]
    line.append(" · ".join(titles))
    if detail := one_line(first.detail):
        # What befell a page is often said of its address, which stands there already.
        said_of_it = detail.removeprefix(f"{titles[0]} ") if len(steps) == 1 else detail
        line.append(f" {said_of_it}" if said_of_it != detail else f" — {detail}", style="yellow")
    if first.state == "done":
        # What was done at once took as long as its slowest part.
        line.append(f"  {max(step.seconds for step in steps):.1f} s", style="dim")
    return line


def answer_json(answer: Answer) -> str:
    """The contract of ``--json``."""
    return json.dumps(answer_document(answer), ensure_ascii=False, indent=2)


def plain(answer: Answer) -> str:
    """Text for a file or a pipe: the answer's Markdown, without escapes."""
    parts = [as_words(answer.text)]
    if answer.more:
        parts += [f"{_more()}:", as_words(answer.more)]
    if answer.citations:
        lines = ["Sources:"]
        for view in sources(answer, QUOTE_WIDTH):
            lines.append(f"[{view.number}] {view.title} — {one_line(view.url)}")
            lines += [f"    {line}".rstrip() for line in _quote_lines(view)]
        parts.append("\n".join(lines))
    parts += remarks(answer)
    return "\n\n".join(parts)


def rendered(answer: Answer) -> RenderableType:
    """The answer for a terminal: footnote marks and source titles are links."""
    parts: list[RenderableType] = [Text(), _markdown(answer.text, answer)]
    if answer.more:
        parts += [Text(), Text(_more(), style="dim bold"), Text(), _markdown(answer.more, answer)]
    if answer.citations:
        parts += [Text(), Text("Sources", style="bold")]
        for view in sources(answer, QUOTE_WIDTH):
            head = Text(f"[{view.number}] ", style="cyan")
            head.append(view.title, style=f"bold link {view.url}")
            head.append(f"  {one_line(view.url)}", style="dim")
            parts += [head, *(Padding(each, (0, 0, 0, 4)) for each in _quotes(view))]
    parts += [Text(f"\n{remark}", style="yellow") for remark in remarks(answer)]
    if answer.suggestions:
        parts += [Text(), Text("You could ask next", style="bold")]
        parts += [Text(f"• {suggestion}") for suggestion in map(one_line, answer.suggestions)]
    parts.append(Text(f"\n{_cost(answer)}", style="dim"))
    return Group(*parts)


def _more() -> str:
    return texts_for(DEFAULT)("more-heading")


def _quotes(view: SourceView) -> Iterator[RenderableType]:
    """The words a source is cited for, and where on their page they stand."""
    for quote in view.quotes:
        for piece in quote.pieces:
            match piece.kind:
                case "table":
                    yield Markdown(piece.text)
                case "code":
                    yield Text(piece.text, style="dim")
                case "text":
                    yield Text(_text(quote, piece), style="italic")
        if quote.heading and quote.pieces and not _text_last(quote):
            yield Text(f"— {quote.heading}", style="italic")
    for remark in _where(view):
        yield Text(f"— {remark}", style="dim")


def _quote_lines(view: SourceView) -> Iterator[str]:
    for quote in view.quotes:
        for piece in quote.pieces:
            yield from [_text(quote, piece)] if piece.kind == "text" else piece.text.split("\n")
        if quote.heading and quote.pieces and not _text_last(quote):
            yield f"— {quote.heading}"
    for remark in _where(view):
        yield f"— {remark}"


def _text(quote: QuoteView, piece: Excerpt) -> str:
    """Running words in quotation marks; behind the last of them is said where they stand."""
    where = f" — {quote.heading}" if quote.heading and piece is quote.pieces[-1] else ""
    return f"“{piece.text}”{where}"


def _text_last(quote: QuoteView) -> bool:
    return quote.pieces[-1].kind == "text"


def _where(view: SourceView) -> Iterator[str]:
    """What words stand under that the answer quotes itself, unless it is said already; and who gave
    the text where that was not the site."""
    said = {quote.heading for quote in view.quotes if quote.pieces}
    if bare := " · ".join(heading for heading in view.headings if heading not in said):
        yield bare
    if view.via:
        yield texts_for(DEFAULT)("text-given-by", name=view.via)


def remarks(answer: Answer) -> list[str]:
    doubts = [f"⚠ {doubt.sentence} — {doubt.reason}" for doubt in answer.doubts]
    others = [f"⚖ {o.sentence} — but [{o.number}] says: “{o.quote}”" for o in answer.disagreements]
    return [one_line(remark) for remark in (*doubts, *others, *answer.notes)]


def _cost(answer: Answer) -> str:
    usage = answer.usage
    parts = [
        f"{usage.seconds:.1f} s",
        f"{_count(usage.searches, 'search', 'searches')}, {_count(usage.pages, 'page', 'pages')}",
    ]
    if usage.model_calls:
        parts.append(
            f"{_count(usage.model_calls, 'model call', 'model calls')}, "
            f"{usage.input_tokens + usage.cached_tokens:,} tokens in, "
            f"{usage.output_tokens:,} out, {usage.usd:.3f} USD"
        )
    return " · ".join((*parts, answer.reasoner, f"run {answer.run}"))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _markdown(text: str, answer: Answer) -> Markdown:
    """The text with its footnote marks as links, and the addresses of other links behind them."""
    marks = {citation.number: citation.url for citation in answer.citations}
    markdown = Markdown(text)
    markdown.parsed = answer_parser().parse(text)
    for token in markdown.parsed:
        if token.children:
            token.children = list(_linked(with_marks(token.children, marks), marks))
    return markdown


def _linked(tokens: Iterable[Token | int], marks: Mapping[int, str]) -> Iterator[Token]:
    address = ""
    for token in tokens:
        if isinstance(token, int):
            yield Token("link_open", "a", 1, attrs={"href": marks[token]})
            yield text_token(f"[{token}]")
            yield Token("link_close", "a", -1)
            continue
        yield token
        if token.type == "link_open":
            address = str(token.attrs.get("href", ""))
        elif token.type == "link_close" and address:
            yield text_token(f" ({_path(address)})")


def _path(address: str) -> str:
    """An address as it is read: of a file its path."""
    path = urlsplit(address).path if address.startswith("file:") else address
    return one_line(unquote(path))
