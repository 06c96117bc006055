"""Text of pages and models has no effect on any surface, wherever the output is taken."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from adapters.discord.format import details, format_answer
from adapters.slack.format import final
from adapters.terminal.plain import answer_json, plain
from adapters.terminal.screen import rendered
from adapters.web.html.replies import markdown_of, reply_of
from bot.core.messages import Answer, Author, Citation, Disagreement, Doubt, RunOptions, Thread
from bot.core.texts import texts_for
from bot.rendering.documents import as_markdown
from bot.rendering.safety import WORD_JOINER
from bot.storage.archive import Conversation, Held, StoredMessage

EN = texts_for("en")
PINGS = ["@everyone", "@here", "<!channel>", "<@U123>", "<@&456>", "<#C024BE7LR>"]
SCRIPTS = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<IFRAME src=//e.example>"]
ADDRESSES = [
    "https://evil.example/w",
    "www.evil.example/w",
    "evil.example/w?x=1",
    "[the tower](https://evil.example/w)",
    "<https://evil.example/w>",
]
ESCAPES = ["\x1b[2J", "\x1b]8;;https://evil.example/w\x07", "\x9b2J", "\u202e", "\x7f"]
SOURCE = "https://good.example/page"
LIVE = re.compile(r"@(?:everyone|here)|<!channel>|<@|<#C|<(?:script|img|iframe)", re.IGNORECASE)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def answer_of(payload: str) -> Answer:
    """An answer with these words in all that pages and models say."""
    quote = f"Says {payload} here."
    cited = Citation(1, SOURCE, f"Title {payload}", quote, "h", 0, len(quote), f"Heading {payload}")
    return Answer(
        "answered",
        f"It is {payload} so [1].",
        f"Is {payload} so?",
        "r1",
        (cited,),
        doubts=(Doubt(f"It is {payload} so", f"not in {payload}"),),
        disagreements=(Disagreement(f"It is {payload}", 1, f"No {payload}"),),
        notes=(f"Note {payload}",),
        suggestions=(f"And {payload}?",),
    )


def on_screen(answer: Answer) -> str:
    out = io.StringIO()
    Console(file=out, width=400, color_system=None).print(rendered(answer))
    return out.getvalue()


def exported(answer: Answer) -> str:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    held = Held("r1", "answered", RunOptions(), at, at, answer, (), {})
    said = StoredMessage(Author("u1", "Ada"), "Question", at, (), (), held)
    return as_markdown(Conversation(Thread("terminal", "w", "c", "t"), at, (said,)))


def in_json(answer: Answer) -> str:
    return str(json.loads(answer_json(answer))["answer"])


WRITTEN: dict[str, Callable[[Answer], str]] = {
    "terminal": on_screen,
    "pipe": plain,
    "export": exported,
    "copied": markdown_of,
}


@pytest.mark.parametrize("surface", WRITTEN)
@pytest.mark.parametrize("payload", [*PINGS, *SCRIPTS])
def test_nothing_pings_and_nothing_runs(surface: str, payload: str) -> None:
    text = WRITTEN[surface](answer_of(payload)).replace("\\", "")
    assert not LIVE.search(text)


@pytest.mark.parametrize("surface", [*WRITTEN, "json"])
@pytest.mark.parametrize("payload", ADDRESSES)
def test_addresses_that_are_no_source_are_words_or_code(surface: str, payload: str) -> None:
    answer = replace(answer_of("x"), text=f"See {payload} and {SOURCE} [1].")
    text = in_json(answer) if surface == "json" else WRITTEN[surface](answer)
    assert "evil.example/w)" not in text
    if surface != "terminal":  # which draws code without its marks
        assert "evil.example" not in re.sub("`[^`]*`", "", text)
    assert SOURCE in text


@pytest.mark.parametrize("surface", WRITTEN)
@pytest.mark.parametrize("payload", ESCAPES)
def test_no_terminal_is_steered(surface: str, payload: str) -> None:
    answer = replace(answer_of(payload), text="It is so [1].")  # as the writing leaves it
    assert not CONTROL.search(WRITTEN[surface](answer))


@pytest.mark.parametrize("payload", [*PINGS, *SCRIPTS, *ESCAPES, "node.js and README.md"])
def test_in_json_text_is_text(payload: str) -> None:
    answer = replace(answer_of(payload), text=f"It is {payload.partition('https')[0]} so [1].")
    printed = answer_json(answer)
    document = json.loads(printed)
    assert document["answer"] == answer.text
    assert document["citations"][0]["quote"] == answer.citations[0].quote
    assert not CONTROL.search(printed)


@example("<\\@1")  # alive once its backslash is gone
@given(st.text(alphabet="<>@!#\\`/everyonhU1 scriptimg=wv.a:[]()*\n", max_size=60))
def test_whatever_is_said_a_pipe_gets_nothing_live(payload: str) -> None:
    outside_code = re.sub(r"(`+).*?\1", "", plain(answer_of(payload)), flags=re.DOTALL)
    assert not re.search(r"@everyone|<!channel>|<@\w|<script", outside_code)


def test_chats_and_the_console_are_as_harmless() -> None:
    for payload in (*PINGS, *SCRIPTS):
        answer = answer_of(payload)
        slack = final(answer, EN, depth="standard")
        looks = (*format_answer(answer, EN), *details(answer, EN))
        discord = "".join(look.written for look in looks)
        for text in (slack.text, discord):
            assert not re.search(r"@(?:everyone|here)|<!channel>|<@|<#C", text)
        page = reply_of(answer, EN, {})
        html = "".join((page.html, *(q.html for s in page.sources for q in s.quotes)))
        assert not re.search(r"<(?:script|img|iframe)", html, re.IGNORECASE)


def test_words_read_as_before() -> None:
    answer = answer_of("@everyone of List<T> and asyncio.run")
    assert "@everyone of List<T> and asyncio.run" in plain(answer).replace(WORD_JOINER, "")
    assert "List<T> and asyncio.run" in plain(answer)
