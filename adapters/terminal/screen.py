"""Formats plans and answers for a terminal with rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.padding import Padding
from rich.spinner import Spinner
from rich.style import Style
from rich.text import Text

from adapters.terminal.plain import (
    QUOTE_WIDTH,
    Line,
    harmless,
    part_line,
    plan_line,
    quoted,
    remarks,
    text_last,
    where,
)
from bot.core.lines import one_line
from bot.core.messages import Answer, StepView
from bot.rendering.footnotes import Excerpt, QuoteView, SourceView, sources
from bot.rendering.remarks import Branch, branches, title_of
from bot.rendering.safety import portable, without_pings
from bot.rendering.verbatim import answer_parser, as_words, text_token, with_marks

REFRESH_PER_SECOND = 12
TEXT_LINES = 12  # last lines shown of an unfinished answer


def print_answer(answer: Answer) -> None:
    Console(highlight=False).print(rendered(answer))


class LivePlan:
    """The plan of a run on stderr, updated in place, with the end of its unfinished answer."""

    def __init__(self) -> None:
        self.steps: tuple[StepView, ...] = ()
        self.text = ""
        self._console = Console(stderr=True, highlight=False)
        self._live = Live(
            get_renderable=self._working,
            console=self._console,
            refresh_per_second=REFRESH_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def close(self) -> None:
        """Leave the finished plan on the screen."""
        self._live.stop()
        self._console.print(Group(*(line for line, _ in plan_lines(self.steps))))

    def _working(self) -> RenderableType:
        lines: list[RenderableType] = [
            Spinner("dots", line) if running else line for line, running in plan_lines(self.steps)
        ]
        if self.text:
            last = as_words(self.text).splitlines()[-TEXT_LINES:]
            lines += [Text(), Text("\n".join(last), style="dim")]
        return Group(*lines)


def plan_lines(steps: Sequence[StepView]) -> list[tuple[Text, bool]]:
    """Return the lines of the plan, with consecutive steps of the same kind and state on one line.

    Each line comes with whether it is still running. A sub-question or paragraph has a line with a
    summary of its work, and below it the present activity.
    """
    lines: list[tuple[Text, bool]] = []
    titles = {step.id: title_of(step) for step in steps}
    for _, group in groupby(branches(steps), key=_together):
        found = list(group)
        if not found[0].is_part:
            line = plan_line([b.line for b in found])
            lines.append((text_of(line), found[0].line.state == "running"))
            continue
        for branch in found:
            lines.append((text_of(part_line(branch, titles)), branch.line.state == "running"))
            lines += [(Text("    ").append(line), False) for line in _doing(branch)]
    return lines


def text_of(line: Line) -> Text:
    first, style = line[0]
    text = Text(first, style=style)
    for piece in line[1:]:
        text.append(*piece)
    return text


def _together(branch: Branch) -> tuple[str, str, str]:
    if branch.is_part:
        return "part", "", ""
    return branch.line.kind, branch.line.state, branch.line.detail


def _doing(branch: Branch) -> list[Text]:
    under_way = branch.under_way if branch.line.state == "running" else ()
    groups = groupby(under_way, key=lambda step: step.kind)
    return [text_of(plan_line(list(group))) for _, group in groups]


def rendered(answer: Answer) -> RenderableType:
    """Format the answer for a terminal, with footnote marks and source titles as links."""
    parts: list[RenderableType] = [Text(), _markdown(answer.text, answer)]
    if answer.citations:
        parts += [Text(), Text("Sources", style="bold")]
        for view in sources(answer, QUOTE_WIDTH):
            head = Text(f"[{view.number}] ", style="cyan")
            head.append(harmless(view.title), style=Style(bold=True, link=view.url))
            head.append(f"  {one_line(view.url)}", style="dim")
            parts += [head, *(Padding(each, (0, 0, 0, 4)) for each in _quotes(view))]
    parts += [Text(f"\n{remark}", style="yellow") for remark in remarks(answer)]
    if answer.suggestions:
        parts += [Text(), Text("You could ask next", style="bold")]
        parts += [Text(f"• {harmless(one_line(each))}") for each in answer.suggestions]
    parts.append(Text(f"\n{_cost(answer)}", style="dim"))
    return Group(*parts)


def _quotes(view: SourceView) -> Iterator[RenderableType]:
    """Yield the quotes of a source, and their headings on the page."""
    for quote in view.quotes:
        for piece in quote.pieces:
            match piece.kind:
                case "table":
                    yield Markdown(piece.text)
                case "code":
                    yield Text(without_pings(piece.text), style="dim")
                case "text":
                    yield _emphasised(quote, piece)
        if quote.heading and quote.pieces and not text_last(quote):
            yield Text(f"— {harmless(quote.heading)}", style="italic")
    for remark in where(view):
        yield Text(f"— {harmless(remark)}", style="dim")


def _emphasised(quote: QuoteView, piece: Excerpt) -> Text:
    """Return running text in quotation marks, with the supporting words in bold."""
    before, after = quoted(quote, piece).split(piece.text, 1)
    text = Text(before, style="italic")
    for words, is_strong in piece.runs():
        text.append(harmless(words), style="bold" if is_strong else "")
    return text.append(harmless(after))


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
    """Convert the text: footnote marks become links, and the URLs of other links follow them."""
    marks = {citation.number: citation.url for citation in answer.citations}
    text = portable(text, answer.targets.values())
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
    """Return a URL, or for a file its path."""
    path = urlsplit(address).path if address.startswith("file:") else address
    return one_line(unquote(path))
