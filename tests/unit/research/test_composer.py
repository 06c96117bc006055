"""The writer's stream becomes a text with marks, numbered as in its thread, and suggestions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.messages import Answer, Citation, Disagreement, Entry, PlanView, Transcript
from bot.core.texts import texts_for
from bot.pages.validity import Validity
from bot.reasoning.tool_loop import page_tag
from bot.rendering.marks import numbers_in
from bot.research.composer import LONGEST_SUGGESTION, Numbering, citation, suggestions
from tests.unit.reasoning.samples import a_source

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


ASKED = ("How tall is the Eiffel Tower?", "And the Forth Bridge?")


def test_up_to_three_are_shown_in_the_order_of_the_writer() -> None:
    offered = ("Who built it?", "When did it open?", "What is it made of?", "Why is it red?")
    assert suggestions(offered, ASKED) == offered[:3]


@pytest.mark.parametrize(
    "offered",
    [
        "How tall is the Eiffel Tower?",
        "how tall is the eiffel tower",
        "How tall is the Eiffel Tower today?",
        "Eiffel Tower: how tall?",
        "What about the Forth Bridge?",
    ],
)
def test_a_near_repeat_of_a_question_of_the_thread_is_dropped(offered: str) -> None:
    assert suggestions((offered, "Who built it?"), ASKED) == ("Who built it?",)


def test_of_two_that_ask_the_same_the_first_is_shown() -> None:
    offered = ("Who built the Eiffel Tower?", "By whom was the Eiffel Tower built?")
    assert suggestions(offered, ()) == offered[:1]


@pytest.mark.parametrize(
    "offered",
    [
        "Is https://evil.example/x true?",
        "Is www.evil.example true?",
        "Is evil.example/x true?",
        "Is [this](x) true?",
        "Is it 330 m tall [1]?",
        "Does <b>it</b> stand?",
        "Does @channel know?",
        "Does <@U1> know?",
        "Is **it** tall?",
        "Is `x` tall?",
        "Is it tall ⚠?",
        "Is it | tall?",
        "Is it\\n tall?",
        "Is it \x1b[31mred?",
        "Is it \u202etall?",
        "x" * LONGEST_SUGGESTION + "?",
        "塔" * LONGEST_SUGGESTION + "？",
    ],
)
def test_links_marks_and_what_fits_no_button_are_dropped(offered: str) -> None:
    assert suggestions((offered, "Who built it?"), ()) == ("Who built it?",)


def test_one_of_the_length_of_a_button_is_shown_whole() -> None:
    longest = f"Who {'x' * (LONGEST_SUGGESTION - 5)}?"
    assert suggestions((longest,), ()) == (longest,)


@pytest.mark.parametrize("offered", ["谁建造了埃菲尔铁塔？", "¿Quién construyó la torre?", "Wer?"])
def test_every_language_is_shown(offered: str) -> None:
    assert suggestions((offered,), ASKED) == (offered,)


@pytest.mark.parametrize(
    ("validity", "en", "zh"),
    [
        (Validity(), "Page 1", "Page 1"),
        (Validity("draft"), "Page 1 · draft", "Page 1 · 草稿"),
        (Validity("replaced"), "Page 1 · replaced", "Page 1 · 已被取代"),
        (Validity("replaced", "Fees"), "Page 1 · replaced by Fees", "Page 1 · 已被 Fees 取代"),
        (
            Validity("ended", "5 May 2020"),
            "Page 1 · valid until 5 May 2020",
            "Page 1 · 有效期至 5 May 2020",
        ),
    ],
)
def test_a_footnote_says_that_its_page_does_not_hold(validity: Validity, en: str, zh: str) -> None:
    source = replace(a_source(), validity=validity)
    for language, title in (("en", en), ("zh-Hans", zh)):
        assert citation(source, source.passages[0], texts_for(language)).title == title


def test_the_model_sees_that_a_page_does_not_hold() -> None:
    assert "validity" not in dict(page_tag(a_source()))
    replaced = replace(a_source(), validity=Validity("replaced", "Fees 2025"))
    assert dict(page_tag(replaced))["validity"] == "replaced Fees 2025"
