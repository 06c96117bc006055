"""How plans and answers look in a terminal, in a pipe and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from markdown_it.token import Token
from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

from bot.answers import Answer, Citation, StepView
from bot.pages.passages import HEADING_SEPARATOR
from bot.rendering.documents import answer_document
from bot.rendering.footnotes import by_number
from bot.rendering.lines import one_line, shortened
from bot.rendering.plan import Branch, branches, work
from bot.rendering.texts import DEFAULT, texts_for

VERBS = {"search": "Search", "read": "Read"}  # the titles of other steps say what is done
MARKS = {"waiting": "·", "done": "✓", "failed": "✗"}
STYLES = {"waiting": "dim", "done": "green", "failed": "yellow"}
NEEDED = 60  # characters of a sub-question that another one waits for
QUOTE_WIDTH = 400  # characters of a quote that are shown; all of it is in --json
HEADING_WIDTH = 120  # characters of what a quote stands under


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
    """Markdown for a file or a pipe."""
    parts = [answer.text]
    if answer.citations:
        lines = ["Sources:"]
        for number, cited in by_number(answer.citations):
            lines.append(f"[{number}] {one_line(cited[0].title)} — {one_line(cited[0].url)}")
            lines += [f"    {_quoted(citation)}" for citation in cited]
        parts.append("\n".join(lines))
    parts += remarks(answer)
    return "\n\n".join(parts)


def rendered(answer: Answer) -> RenderableType:
    """The answer for a terminal: footnote marks and source titles are links."""
    urls = {citation.number: citation.url for citation in answer.citations}
    parts: list[RenderableType] = [Text(), _markdown(answer.text, urls)]
    if answer.citations:
        parts += [Text(), Text("Sources", style="bold")]
        for number, cited in by_number(answer.citations):
            head = Text(f"[{number}] ", style="cyan")
            head.append(one_line(cited[0].title), style=f"bold link {cited[0].url}")
            head.append(f"  {one_line(cited[0].url)}", style="dim")
            parts.append(head)
            parts += [
                Padding(Text(_quoted(citation), style="italic"), (0, 0, 0, 4)) for citation in cited
            ]
    parts += [Text(f"\n{remark}", style="yellow") for remark in remarks(answer)]
    if answer.suggestions:
        parts += [Text(), Text("You could ask next", style="bold")]
        parts += [Text(f"• {suggestion}") for suggestion in map(one_line, answer.suggestions)]
    parts.append(Text(f"\n{_cost(answer)}", style="dim"))
    return Group(*parts)


def _quoted(citation: Citation) -> str:
    """The words, and where on their page they stand: the title is said above them."""
    words = f"“{shortened(citation.quote, QUOTE_WIDTH)}”"
    title = one_line(citation.title)
    path = one_line(citation.heading).removeprefix(title + HEADING_SEPARATOR)
    return f"{words} — {shortened(path, HEADING_WIDTH)}" if path not in ("", title) else words


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


def _markdown(text: str, urls: dict[int, str]) -> Markdown:
    """The text with its footnote marks as links.

    The marks are linked in what the parser made of the text, not in its source: they stay as they
    are in code, and any address will do, also that of a local file.
    """
    markdown = Markdown(text)
    for token in markdown.parsed:
        if token.children:
            token.children = [new for child in token.children for new in _linked(child, urls)]
    return markdown


def _linked(token: Token, urls: dict[int, str]) -> Iterator[Token]:
    if token.type != "text":
        yield token
        return
    for piece in re.split(r"(\[\d{1,4}\])", token.content):
        plain_text = Token("text", "", 0, content=piece)
        url = urls.get(int(piece[1:-1])) if re.fullmatch(r"\[\d{1,4}\]", piece) else None
        if url is None:
            yield plain_text
        else:
            yield Token("link_open", "a", 1, attrs={"href": url})
            yield plain_text
            yield Token("link_close", "a", -1)
