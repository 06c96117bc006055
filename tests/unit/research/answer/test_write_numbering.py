"""Footnotes are numbered in the order of reading, and keep their number in the thread."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.core.answers import Answer, Citation, Disagreement, PlanView
from bot.core.messages import Entry, Transcript
from bot.rendering.marks import numbers_in
from bot.research.composer import Numbering

URLS = {number: f"https://example.org/{number}" for number in range(1, 10)}
NEW = Transcript()


def cited(number: int, of: int | None = None) -> Citation:
    return Citation(number, URLS[of or number], f"Page {of or number}", "words", "hash", 0, 5)


def thread(*citations: Citation) -> Transcript:
    return Transcript((Entry("footnote", "Footnote", "It is so.", cited=citations),))


def an_answer(text: str, *numbers: int) -> Answer:
    return Answer("answered", text, "So?", "r1", tuple(cited(number) for number in numbers))


def test_marks_are_numbered_in_the_order_of_reading() -> None:
    answer = Numbering(NEW).answer(an_answer("It is [8][1]. It was [1][5].", 1, 8, 5))
    assert answer.text == "It is [1][2]. It was [2][3]."
    assert [(c.number, c.title) for c in answer.citations] == [
        (2, "Page 1"),
        (1, "Page 8"),
        (3, "Page 5"),
    ]


def test_a_page_keeps_its_number_in_the_thread_and_new_ones_go_on_counting() -> None:
    numbering = Numbering(thread(cited(1, of=4), cited(2, of=7)))
    answer = numbering.answer(an_answer("New [3], known [7], new [2].", 3, 7, 2))
    assert answer.text == "New [3], known [2], new [4]."
    assert numbering.page_numbers == {3: 3, 7: 2, 2: 4}


def test_of_two_numbers_in_the_thread_the_last_one_counts() -> None:
    earlier = Transcript((*thread(cited(1)).entries, *thread(cited(4, of=1)).entries))
    assert Numbering(earlier).answer(an_answer("So [1].", 1)).text == "So [4]."


def test_two_pages_never_share_a_number() -> None:
    """As they do in threads from before numbers were kept."""
    earlier = Transcript((*thread(cited(1, of=3)).entries, *thread(cited(1, of=5)).entries))
    assert (
        Numbering(earlier).answer(an_answer("So [3], thus [5].", 3, 5)).text == "So [1], thus [2]."
    )


def test_disagreements_and_links_are_numbered_after_the_text() -> None:
    numbering = Numbering(NEW)
    answer = Answer(
        "answered",
        "It is so [6]. More [2], `a[2]`, \\[2\\].",
        "So?",
        "r1",
        tuple(cited(number) for number in (6, 2, 4)),
        disagreements=(Disagreement("It is so.", 4, "It is not."),),
        linked=((9, URLS[9]), (6, URLS[6])),
    )
    answer = numbering.answer(answer)
    assert answer.text == "It is so [1]. More [2], `a[2]`, \\[2\\]."
    assert answer.disagreements[0].number == 3
    assert answer.linked == ((4, URLS[9]), (1, URLS[6]))
    assert answer.targets == {1: URLS[6], 2: URLS[2], 3: URLS[4], 4: URLS[9]}


def test_the_text_so_far_has_the_numbers_of_the_whole() -> None:
    whole = "It is [8]. It was [3][8], and will be [5]."
    numbering = Numbering(NEW)
    for end in range(len(whole)):
        so_far = numbering.text(whole[:end], URLS)
        assert "It is [1]. It was [2][1], and will be [3].".startswith(so_far[: so_far.rfind(" ")])
    assert numbering.plan(PlanView("", (), tuple(URLS.items()))).numbered == (
        (2, URLS[3]),
        (3, URLS[5]),
        (1, URLS[8]),
    )


@given(st.lists(st.integers(1, 9)), st.dictionaries(st.integers(1, 9), st.integers(1, 30)))
def test_numbers_stand_for_the_same_pages_as_before(marks: list[int], kept: dict[int, int]) -> None:
    numbering = Numbering(thread(*(cited(number, of=of) for of, number in kept.items())))
    text = " ".join(f"Words [{mark}]." for mark in marks)
    answer = numbering.answer(an_answer(text, *dict.fromkeys(marks)))
    by_number = {each.number: each.url for each in answer.citations}
    assert len(by_number) == len(set(marks))
    assert [by_number[n] for n in numbers_in(answer.text)] == [
        URLS[n] for n in dict.fromkeys(marks)
    ]
    if not kept:
        assert numbers_in(answer.text) == list(range(1, len(set(marks)) + 1))
