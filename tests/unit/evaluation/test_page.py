"""The page: whole in itself, everything escaped, what matters most first."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from lxml import html  # type: ignore[import-untyped]

from bot.answers import Doubt
from bot.evaluation.page import group_words, markdown, page, sections
from bot.evaluation.questions import CaseTurn
from tests.unit.evaluation.samples import (
    GOOD,
    POOR,
    REFUSAL,
    TALL,
    a_citation,
    a_set,
    an_answer,
    an_outcome,
)

AT = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script> [x](javascript:alert(2)) ![p](https://evil.example/p.png)"


def test_a_page_tells_every_question_with_its_answer_and_quotes() -> None:
    questions = a_set(TALL, CaseTurn("Who won?", 2, refuse=True))
    text = page(an_outcome(questions, (POOR, REFUSAL)), AT, interrupted=False)
    document = html.document_fromstring(text)

    headings = [each.text_content().split(" (")[0].strip() for each in document.iter("h2")]
    assert headings == ["Figures", "Not as expected", "As expected"]
    first, second = document.xpath("//main/details")
    assert "words only in a quote" in first.find("summary").text_content()
    assert "It is 330 m tall." in first.xpath(".//blockquote")[0].text_content()
    assert "no answer" in second.text_content()


def test_two_settings_stand_side_by_side_and_differences_first() -> None:
    questions = a_set(CaseTurn("1?"), TALL)
    outcome = an_outcome(questions, (GOOD, GOOD), (GOOD, POOR))
    assert sections(outcome) == [
        ("The settings differ", ["2"]),
        ("Not as expected", []),
        ("As expected", ["1"]),
        ("Not asked", []),
    ]
    document = html.document_fromstring(page(outcome, AT, interrupted=False))
    badges = document.xpath("//main/details")[0].xpath(".//summary/span[contains(@class,'badge')]")
    assert [badge.text_content() for badge in badges] == ["✓", "words only in a quote"]


def test_nothing_of_answers_or_questions_becomes_markup() -> None:
    answer = an_answer(
        HOSTILE,
        citations=(a_citation(HOSTILE, title=HOSTILE, url="https://example.org/?a=1&b=%22"),),
        doubts=(Doubt(HOSTILE, HOSTILE),),
        notes=(HOSTILE,),
        queries=(HOSTILE,),
    )
    questions = a_set(CaseTurn(HOSTILE, answer=HOSTILE, words=((HOSTILE,),), pages=((HOSTILE,),)))
    questions = replace(questions, name=HOSTILE)
    text = page(an_outcome(questions, (answer,)), AT, interrupted=True)
    document = html.document_fromstring(text)

    assert document.xpath("//script | //img | //*[@onerror]") == []
    addresses = document.xpath("//@href | //@src")
    assert all(re.match(r"https?://", address) for address in addresses), addresses


def test_a_page_needs_nothing_from_elsewhere() -> None:
    text = page(an_outcome(a_set(TALL), (GOOD,)), AT, interrupted=False)
    document = html.document_fromstring(text)
    assert document.xpath("//link | //script | //img | //iframe") == []
    assert "default-src 'none'" in text
    assert "url(" not in text


def test_what_was_not_asked_and_an_interruption_are_told() -> None:
    text = page(an_outcome(a_set(TALL), (None,)), AT, interrupted=True)
    assert "Not asked" in text
    assert "interrupted" in text


def test_markdown_keeps_lists_and_tables() -> None:
    found = str(markdown("- a\n- b\n\n| x |\n|---|\n| y |\n"))
    assert "<li>a</li>" in found
    assert "<td>y</td>" in found


def test_groups_are_said_as_a_person_would() -> None:
    assert group_words((("a", "b"), ("c",))) == "“a” or “b” and “c”"
