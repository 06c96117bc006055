"""Which of the questions that a writer offers are shown."""

from __future__ import annotations

import pytest

from bot.research.composer import LONGEST_SUGGESTION, suggestions

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
