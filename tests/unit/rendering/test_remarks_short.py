"""The few lines under an answer in a channel."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bot.core.messages import Answer, Citation, Doubt, Verification, VerifiedSentence
from bot.core.texts import texts_for
from bot.rendering.remarks import LINE, SOURCES, cautions, source_line

EN = texts_for("en")


def cited(number: int, title: str = "", url: str = "", heading: str = "") -> Citation:
    address = url or f"https://example.org/{number}"
    return Citation(number, address, title or f"Page {number}", "It is.", "h", 0, 6, heading)


def answered(text: str = "It is [1].", *citations: Citation, **fields: object) -> Answer:
    made = Answer("answered", text, "Is it?", "r1", citations or (cited(1),))
    return replace(made, **fields)  # type: ignore[arg-type]


def test_the_line_has_the_sources_of_the_text_alone() -> None:
    line = source_line(answered("It is [2] so [1].", cited(1), cited(2), cited(3)))
    assert [(label.number, label.words) for label in line.labels] == [(1, "Page 1"), (2, "Page 2")]
    assert line.more == 0


def test_more_sources_than_fit_are_counted() -> None:
    many = [cited(n) for n in range(1, SOURCES + 4)]
    line = source_line(answered("".join(f"x [{c.number}] " for c in many), *many))
    assert (len(line.labels), line.more) == (SOURCES, 3)


def test_a_source_that_leads_nowhere_has_its_heading() -> None:
    local = cited(1, "The manual", "file:///srv/manual.pdf", "Page 7 › Measures")
    (label,) = source_line(answered("It is [1].", local)).labels
    assert (label.words, label.href) == ("The manual — Page 7 › Measures", "")
    (label,) = source_line(answered("It is [1].", local), "https://f.example/runs/r1").labels
    assert (label.words, label.href) == ("The manual", "https://f.example/runs/r1/pages/1")


@given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=20))
def test_titles_of_any_length_make_a_line(titles: list[str]) -> None:
    many = [cited(n, title) for n, title in enumerate(titles, start=1)]
    line = source_line(answered("".join(f"x [{c.number}] " for c in many), *many))
    assert sum(len(label.words) for label in line.labels) <= LINE + SOURCES
    assert len(line.labels) + line.more == len(many)


def test_an_answer_that_is_plain_needs_no_caution() -> None:
    assert cautions(answered(), EN) == ()


def test_doubts_and_notes_of_an_answer_are_counted() -> None:
    doubts = (Doubt("It is not.", "no source says so"), Doubt("It was.", "nor that"))
    (line,) = cautions(answered(doubts=doubts, notes=("One page was slow.",)), EN)
    assert line.startswith("⚠ 2 sentences")
    assert "One remark" in line


def test_what_is_missing_is_named() -> None:
    shown = cautions(answered(status="partial", missing=("its weight", "its age")), EN)
    assert shown == ("◐ Partly answered. Not found: its weight; its age",)


def test_why_there_is_no_answer_is_told_in_full() -> None:
    shown = cautions(answered(status="not_found", notes=("No search provider answered.",)), EN)
    assert shown == ("ⓘ No search provider answered.",)


def test_what_was_corrected_is_told_once() -> None:
    sentences = (VerifiedSentence("It is.", "contradicted", "", "restated"),)
    verification = Verification("done", sentences)
    answer = answered(verification=verification)
    (line,) = cautions(answer, EN)
    assert "corrected" in line
    told = EN("verify-changed", corrected=1, left=0)
    assert cautions(replace(answer, notes=(told,)), EN) == (line,)


def test_remarks_on_an_answer_without_any_source_are_told_in_full() -> None:
    note = EN("report-not-sourced")
    assert cautions(replace(answered("It is."), citations=(), notes=(note,)), EN) == (f"ⓘ {note}",)
