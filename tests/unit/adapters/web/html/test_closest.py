"""The closest passages as the console shows them: quotes, never an answer."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape

import pytest

from adapters.web.access.gate import Visitor
from adapters.web.html.closest import Passage
from adapters.web.html.replies import Reply, reply_html, reply_of
from adapters.web.live import ReplyState
from adapters.web.templating import Templates
from adapters.web.turns import Turn
from bot.core.messages import Answer, Citation
from bot.core.texts import texts_for

EN = texts_for("en")
ABROAD, OFFICE = "file:///srv/abroad.md", "file:///srv/office.md"


def cited(number: int, url: str, quote: str, start: int = 0, heading: str = "") -> Citation:
    title = "Working abroad" if url == ABROAD else "Days at the office"
    return Citation(number, url, title, quote, "h", start, start + len(quote), heading)


def an_answer(*citations: Citation, question: str = "Who agrees to work abroad?") -> Answer:
    text = "### Closest passages\n\n#### Working abroad\n\nThe team lead agrees [1]."
    return Answer("answered", text, question, "r1", citations, reasoner="closest")


def closest(
    *citations: Citation, question: str = "Who agrees to work abroad?"
) -> tuple[Passage, ...]:
    return shown(an_answer(*citations, question=question)).closest


def shown(answer: Answer) -> Reply:
    return reply_of(answer, EN, {})


def test_passages_are_shown_in_their_order_with_their_heading_and_place() -> None:
    found = closest(
        cited(2, OFFICE, "Two days a week.", heading="Teams"),
        cited(1, ABROAD, "The team lead agrees.", heading="Working abroad › Who agrees"),
    )
    assert [(one.source.title, one.heading) for one in found] == [
        ("Days at the office", "Teams"),
        ("Working abroad", "Who agrees"),
    ]
    assert [one.quotes[0].href for one in found] == [
        "/runs/r1/pages/2#q2-1",
        "/runs/r1/pages/1#q1-1",
    ]


def test_words_of_the_question_are_marked_in_any_form() -> None:
    (passage,) = closest(cited(1, ABROAD, "Agreed: she works there."))
    assert passage.quotes[0].html == ("<p><mark>Agreed</mark>: she <mark>works</mark> there.</p>\n")


def test_chinese_words_are_marked_by_their_characters() -> None:
    (passage,) = closest(cited(1, ABROAD, "由团队批准。"), question="谁批准境外办公？")
    assert "由团队<mark>批准</mark>。" in passage.quotes[0].html


def test_each_passage_tells_the_words_that_it_or_its_title_has() -> None:
    found = closest(
        cited(1, ABROAD, "The team lead agrees."),  # "abroad" is in its title
        cited(2, OFFICE, "Two days of work."),
        question="Who agrees to work abroad with a visa?",
    )
    assert [one.words for one in found] == [("agrees", "work", "abroad"), ("work",)]


def test_consecutive_quotes_below_one_heading_are_one_passage() -> None:
    found = closest(cited(1, ABROAD, "One."), cited(1, ABROAD, "Two.", 9), cited(2, OFFICE, "3."))
    assert [len(one.quotes) for one in found] == [2, 1]


def test_an_answer_of_a_model_has_none() -> None:
    assert shown(replace(an_answer(cited(1, ABROAD, "So.")), reasoner="claude")).closest == ()
    report = replace(an_answer(cited(1, ABROAD, "So.")), text="## History\n\nSo [1].")
    assert shown(report).closest == ()


def page_of(answer: Answer) -> str:
    """The words that are read of the reply, in one line."""
    ada = Visitor("ada", "Ada", "open", "session", operator=False)
    at = datetime(2026, 1, 2, tzinfo=UTC)
    turn = Turn(
        *("r1", "t1", "?", "Ada", at, at, "auto", "answered", ReplyState(answer=answer), {}, {}),
        reader=ada.reader,
    )
    html = reply_html(Templates(), EN, turn, ada, read_only=True)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


@pytest.mark.parametrize(
    ("question", "quote", "marked", "has", "lacks"),
    [
        (
            "Wer genehmigt die Reise und wie lange dauert das?",
            "Die Reise und das Hotel.",
            ["Reise"],
            ("Reise",),
            ("genehmigt", "dauert"),
        ),
        (
            "Qui approuve le voyage, et combien a-t-il coûté ?",
            "Le voyage et le repas.",
            ["voyage"],
            ("voyage",),
            ("approuve", "coûté"),
        ),
        ("¿Quién es la jefa?", "La directora es Ana.", [], (), ("jefa",)),
        ("谁允许体罚？", "禁止体罚。", ["体罚"], ("体罚",), ("允许",)),
        ("出張は申請しなければなりませんか？", "出張の日。", ["出張"], ("出張",), ("申請",)),
        ("鳥はいますか？", "鳥類の本。", [], ("鳥",), ()),
    ],
)
def test_function_words_of_any_language_are_neither_marked_nor_named(
    question: str, quote: str, marked: list[str], has: tuple[str, ...], lacks: tuple[str, ...]
) -> None:
    reply = shown(an_answer(cited(1, ABROAD, quote), question=question))
    (passage,) = reply.closest
    assert re.findall("<mark>(.*?)</mark>", passage.quotes[0].html) == marked
    assert (passage.words, reply.lacking) == (has, lacks)


def test_the_page_says_what_the_passages_are_and_which_words_none_has() -> None:
    page = page_of(an_answer(cited(1, ABROAD, "So."), question="Is a visa needed abroad?"))
    assert "Closest passages from your documents Quotes, not an answer" in page
    assert "Contains: abroad Open at this place" in page
    assert "No passage contains: visa" in page
    web = an_answer(cited(1, "https://e.org/", "So."))
    assert "Closest passages Quotes, not an answer" in page_of(web)


def test_one_that_found_nothing_names_the_words_it_searched_for() -> None:
    nothing = Answer("not_found", "Nothing.", "?", "r1", queries=("a kangaroo", "kangaroo weight"))
    assert "Searched for: kangaroo · weight" in page_of(nothing)
    assert "Searched for" not in page_of(replace(nothing, status="answered"))
