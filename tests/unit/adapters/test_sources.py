"""Footnotes on all platforms: a web page leads to itself, any other page to our copy, and a text
that its site did not give names its giver."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from rich.console import Console

from adapters.discord.format import details as discord_details
from adapters.discord.format import format_answer
from adapters.slack.format import final
from adapters.slack.views import details
from adapters.terminal.plain import plain
from adapters.terminal.screen import rendered
from adapters.web.html.replies import markdown_of, reply_of
from bot.core.messages import Answer, Author, Citation, RunOptions, Thread
from bot.core.texts import texts_for
from bot.rendering.documents import answer_document, as_markdown
from bot.storage.archive import Conversation, Held, StoredMessage

EN = texts_for("en")
RUN_PAGE = "https://footnote.example/runs/r1"
COPY = f"{RUN_PAGE}/pages/2"
PATH = "/srv/private/manual.pdf"


def an_answer() -> Answer:
    web = Citation(1, "https://good.example/x", "The tower", "It is tall.", "h", 0, 11, "Height")
    local = Citation(
        2, f"file://{PATH}", "The manual", "It is 330 m.", "h", 0, 12, "Page 7 › Measures"
    )
    text = "The tower is tall [1]. It has 330 m [2]."
    return Answer("answered", text, "?", "r1", (web, local))


def in_slack(answer: Answer, page: str) -> str:
    shown = final(answer, EN, depth="deep", page=page)
    return shown.text + json.dumps(shown.closing, ensure_ascii=False)


def in_slacks_details(answer: Answer, page: str) -> str:
    return json.dumps(details(answer, EN, page), ensure_ascii=False)


def in_discord(answer: Answer, page: str) -> str:
    return "".join(look.written for look in format_answer(answer, EN, page=page))


def in_discords_details(answer: Answer, page: str) -> str:
    return "".join(look.written for look in discord_details(answer, EN, page=page))


CHATS: list[Callable[[Answer, str], str]] = [
    in_slack,
    in_slacks_details,
    in_discord,
    in_discords_details,
]


@pytest.mark.parametrize("shown_in", CHATS)
def test_in_a_chat_a_document_leads_to_its_copy_where_readers_reach_it(
    shown_in: Callable[[Answer, str], str],
) -> None:
    shown = shown_in(an_answer(), RUN_PAGE)
    assert shown.count(COPY) >= 1  # its title
    assert "https://good.example/x" in shown
    assert f"{RUN_PAGE}/pages/1" not in shown


@pytest.mark.parametrize("shown_in", CHATS)
def test_elsewhere_it_is_named_with_its_page_and_heading(
    shown_in: Callable[[Answer, str], str],
) -> None:
    shown = shown_in(an_answer(), "")
    assert "/pages/" not in shown
    assert "The manual" in shown
    assert "Page 7 › Measures" in shown


@pytest.mark.parametrize("page", ["", RUN_PAGE])
@pytest.mark.parametrize("shown_in", CHATS)
def test_no_chat_is_told_a_path_on_the_server(
    shown_in: Callable[[Answer, str], str], page: str
) -> None:
    assert PATH not in shown_in(an_answer(), page)


def test_the_console_leads_to_its_own_copy() -> None:
    page = reply_of(an_answer(), EN, {})
    assert [source.href for source in page.sources] == [
        "https://good.example/x",
        "/runs/r1/pages/2",
    ]
    assert [source.heading for source in page.sources] == ["Height", "Page 7 › Measures"]


def test_every_surface_names_the_place_in_the_document() -> None:
    answer, at = an_answer(), datetime(2026, 1, 1, tzinfo=UTC)
    held = Held("r1", "answered", RunOptions(), at, at, answer, (), {})
    said = StoredMessage(Author("u1", "Ada"), "Question", at, (), (), held)
    exported = as_markdown(Conversation(Thread("terminal", "w", "c", "t"), at, (said,)))
    for shown in (plain(answer), markdown_of(answer), exported):
        assert re.search(r"The manual[\s\S]*Page 7 › Measures", shown)


# ---------------------------------------------------------------- who gave the text


def answer_by(via: str) -> Answer:
    quote = "The tides rise twice a day, and fall as often."
    cited = Citation(1, "https://a.test/", "Tides", quote, "h", 0, len(quote), "Tides", via)
    return Answer("answered", "They rise twice a day. [1]", "?", "r1", (cited,))


def in_terminal(answer: Answer) -> str:
    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(rendered(answer))
    return out.getvalue()


GIVEN: dict[str, Callable[[Answer], str]] = {
    "discord": lambda answer: in_discords_details(answer, ""),
    "slack": lambda answer: in_slacks_details(answer, ""),
    "terminal": in_terminal,
    "pipe": plain,
    "web": lambda answer: reply_of(answer, EN, {}).sources[0].given,
}


@pytest.mark.parametrize("surface", GIVEN)
def test_each_platform_says_who_gave_the_text(surface: str) -> None:
    assert "text supplied by Tavily" in GIVEN[surface](answer_by("Tavily"))
    assert "supplied by" not in GIVEN[surface](answer_by(""))


def test_programs_are_told_as_well() -> None:
    document = json.loads(json.dumps(answer_document(answer_by("Tavily"))))
    assert document["citations"][0]["via"] == "Tavily"
