"""The closest passages as the console shows them: quotes, never an answer."""

from __future__ import annotations

from dataclasses import replace

from adapters.web.html.closest import Closest
from adapters.web.html.replies import Reply, reply_of
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


def closest(*citations: Citation, question: str = "Who agrees to work abroad?") -> Closest:
    found = shown(an_answer(*citations, question=question)).closest
    assert found is not None
    return found


def shown(answer: Answer) -> Reply:
    return reply_of(answer, EN, {})


def test_passages_are_shown_in_their_order_with_their_heading_and_place() -> None:
    found = closest(
        cited(2, OFFICE, "Two days a week.", heading="Teams"),
        cited(1, ABROAD, "The team lead agrees.", heading="Working abroad › Who agrees"),
    )
    assert [(one.source.title, one.heading) for one in found.passages] == [
        ("Days at the office", "Teams"),
        ("Working abroad", "Who agrees"),
    ]
    assert [one.quotes[0].href for one in found.passages] == [
        "/runs/r1/pages/2#q2-1",
        "/runs/r1/pages/1#q1-1",
    ]
    assert found.are_own


def test_words_of_the_question_are_marked_in_any_form() -> None:
    (passage,) = closest(cited(1, ABROAD, "Agreed: she works there.")).passages
    assert passage.quotes[0].html == ("<p><mark>Agreed</mark>: she <mark>works</mark> there.</p>\n")


def test_chinese_words_are_marked_by_their_characters() -> None:
    (passage,) = closest(cited(1, ABROAD, "由团队批准。"), question="谁批准境外办公？").passages
    assert "由团队<mark>批准</mark>。" in passage.quotes[0].html


def test_each_passage_tells_the_words_it_has_and_all_tell_what_none_has() -> None:
    found = closest(
        cited(1, ABROAD, "The team lead agrees."),  # "abroad" is in its title
        cited(2, OFFICE, "Two days of work."),
        question="Who agrees to work abroad with a visa?",
    )
    assert [one.words for one in found.passages] == [("agrees", "work", "abroad"), ("work",)]
    assert found.lacking == ("visa",)


def test_consecutive_quotes_below_one_heading_are_one_passage() -> None:
    found = closest(cited(1, ABROAD, "One."), cited(1, ABROAD, "Two.", 9), cited(2, OFFICE, "3."))
    assert [len(one.quotes) for one in found.passages] == [2, 1]


def test_an_answer_of_a_model_has_none() -> None:
    assert shown(replace(an_answer(cited(1, ABROAD, "So.")), reasoner="claude")).closest is None
    report = replace(an_answer(cited(1, ABROAD, "So.")), text="## History\n\nSo [1].")
    assert shown(report).closest is None


def test_one_that_found_nothing_names_the_words_it_searched_for() -> None:
    nothing = Answer("not_found", "Nothing.", "?", "r1", queries=("a kangaroo", "kangaroo weight"))
    assert shown(nothing).searched == ("kangaroo", "weight")
    assert shown(replace(nothing, status="answered")).searched == ()
