"""Words of pages on all platforms: each shows the characters of the page, and no others."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator, Callable

import lxml.html  # type: ignore[import-untyped]
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console, Group

from adapters.discord.format import format_answer
from adapters.slack.format import final
from adapters.terminal.plain import plain
from adapters.terminal.screen import rendered
from adapters.web.html.markdown import answer_html
from bot.core.messages import Answer
from bot.core.texts import texts_for
from bot.pages.passages import Passage
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Evidence, Source, TextDelta
from bot.rendering.safety import WORD_JOINER
from bot.research.checking import check
from bot.research.composer import write
from tests.fakes.discord_view import shown as shown_by_discord
from tests.unit.rendering.test_verbatim import ALPHABET, PHRASES
from tests.unit.samples import NOW

EN = texts_for("en")
NUMBER = 864  # of the page: no words have it
WORDS = st.text(alphabet=ALPHABET, max_size=60) | PHRASES
# Lists, headings, tables, code and bold are structure, which platforms draw in their own ways.
_STRUCTURE = re.compile(
    r"^[ \t]*(?:[-+*]|\d{1,9}[.)]|#{1,6})(?:[ \t]|$)|\*\*\S.*\S\*\*|[|`]|~~|^ {4}|^ *\t"
    r"|^[ \t]*\\[#+]",  # as ``bot.pages.page_markdown`` writes a line that is no heading or item
    re.M,
)
_markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def answer_of(words: str) -> Answer:
    """An answer that quotes these words of a page, and nothing else."""
    passage = Passage(0, len(words), words)
    source = Source(NUMBER, "https://source.test/p", "Page", (passage,), "hash", NOW)
    evidence = Evidence(sources=(source,))

    async def stream() -> AsyncIterator[AnswerDelta]:
        yield TextDelta(words, verbatim=True)
        yield CitationDelta(NUMBER, 0, len(words))

    written = asyncio.run(write(stream(), evidence, lambda text: None))
    checked = check(written, evidence, "?")
    assert not checked.doubts
    return Answer("answered", checked.text, "?", "r1", checked.citations)


def on_web(answer: Answer) -> str:
    html = answer_html(answer.text, answer.targets)
    if not html.strip():
        return ""
    tree = lxml.html.fragment_fromstring(html, create_parent="div")
    for mark in tree.xpath("//sup"):
        mark.drop_tree()
    return str(tree.text_content())


def in_terminal(answer: Answer) -> str:
    out = io.StringIO()
    shown = rendered(answer)
    assert isinstance(shown, Group)
    Console(file=out, width=10_000, color_system=None).print(shown.renderables[1])
    return _unmarked(out.getvalue())


def in_pipe(answer: Answer) -> str:
    return _unmarked(plain(answer).partition("\n\nSources:")[0])


def in_slack(answer: Answer) -> str:
    """By CommonMark, which Slack's Markdown follows; entities and HTML would be lost."""
    out: list[str] = []
    for token in _markdown.parse(final(answer, EN, depth="auto").text):
        out.append(token.content if token.type in ("fence", "code_block") else "")
        for child in token.children or ():
            out.append("" if child.type == "html_inline" else child.content or "\n")
    return _unmarked("".join(out).replace(f"[[{NUMBER}]]", f"[{NUMBER}]"))


def in_discord(answer: Answer) -> str:
    shown = "\n".join(look.written for look in format_answer(answer, EN))
    return _unmarked(shown_by_discord(SOURCE_LINE.sub("", shown)))


def _unmarked(text: str) -> str:
    return text.replace(f"[{NUMBER}]", "")


def squeezed(text: str) -> str:
    return "".join(text.split()).replace(WORD_JOINER, "")


SOURCE_LINE = re.compile(r"\n-# [^\n]*\Z")
PLATFORMS = [on_web, in_terminal, in_pipe, in_slack, in_discord]


@pytest.mark.parametrize("platform", PLATFORMS)
@given(words=WORDS)
@example(words="[^1]\nargv[7]")  # a footnote of the page is no formula
@example(words="1.:")  # the mark goes before ".:", and before the escape of the full stop
def test_every_character_of_a_page_is_shown(platform: Callable[[Answer], str], words: str) -> None:
    assume(words.strip() and not _STRUCTURE.search(words) and WORD_JOINER not in words)
    answer = answer_of(words)
    shown = platform(answer)
    if platform is in_pipe:  # there addresses stand in backticks
        shown = shown.replace("`", "")
    assert squeezed(shown) == squeezed(words)


@pytest.mark.parametrize("platform", PLATFORMS)
@given(code=st.text(alphabet=ALPHABET.replace("`", ""), min_size=1, max_size=60))
def test_every_character_of_code_is_shown(platform: Callable[[Answer], str], code: str) -> None:
    assume(code.strip())
    fence = f"```\n{code}\n```"
    shown = platform(answer_of(fence))
    assert squeezed(shown.replace("```", "")) == squeezed(code)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_lines_of_code_stay_lines(platform: Callable[[Answer], str]) -> None:
    code = "if x[7]:\n    y = a*b*c\n\n    print(__name__)"
    lines = [line.rstrip() for line in platform(answer_of(f"```\n{code}\n```")).split("\n")]
    margin = min(len(line) - len(line.lstrip()) for line in lines if "if x" in line)
    assert [line[margin:] for line in lines if "x[7]" in line or "print" in line] == [
        "if x[7]:",
        "    print(__name__)",
    ]
