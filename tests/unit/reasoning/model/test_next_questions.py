"""The questions below an answer: split off from every stream, and never shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.reasoning.answer_prompt import LONGEST_NEXT as LONGEST
from bot.reasoning.answer_prompt import Splitter
from bot.reasoning.calls import prompt as load

ANSWER = "It is **330 metres** tall [1].\n\n- Iron\n- Paint\n\n```\nx < 5\n```"
ASKED = ("Who built it?", "How many steps lead to the top?")
BELOW = "\n".join(ASKED)


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def split(text: str, size: int) -> tuple[str, tuple[str, ...]]:
    splitter = Splitter()
    shown = "".join(map(splitter.shown, pieces(text, size)))
    return shown + splitter.ended(is_last=True), splitter.questions


TAGS = (
    "<ask_next>",
    "<ask_next",
    "< ask_next >",
    "<ASK_NEXT>",
    "<ask-next>",
    "</ask_next>",
    "<ask_next/>",
    "[ask_next]",
    "**<ask_next>**",
    "`<ask_next>`",
    "\\<ask_next\\>",
    "### <ask_next>",
    "> <ask_next>",
    "- <ask_next>",
    "ask_next:",
    "**ask_next**",
    "## Ask_next",
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
@pytest.mark.parametrize("tag", TAGS)
def test_nothing_of_the_tag_is_shown_however_it_is_written(tag: str, size: int) -> None:
    assert split(f"{ANSWER}\n\n{tag}\n{BELOW}", size) == (ANSWER, ASKED)


@pytest.mark.parametrize("size", [1, 4, 1_000])
@pytest.mark.parametrize(
    "text",
    [
        f"{ANSWER}\n<ask_next>{BELOW}</ask_next>",
        f"{ANSWER}\n<ask_next>\n- {ASKED[0]}\n- {ASKED[1]}\n</ask_next>\n",
        f"{ANSWER}\n<ask_next>\n1. {ASKED[0]}\n2. {ASKED[1]}",
        f"{ANSWER}\n<ask_next> {ASKED[0]} {ASKED[1]}",
        f"{ANSWER}\n<ask_next>\n<ask_next>{ASKED[0]}</ask_next>\n<ask_next>{ASKED[1]}</ask_next>",
        f"{ANSWER}\n<ask_next>\nYou could ask:\n{BELOW}\nand more",
    ],
)
def test_the_questions_come_in_many_forms(text: str, size: int) -> None:
    assert split(text, size) == (ANSWER, ASKED)


TAG = "\n\n**<ask_next>**\n"


@pytest.mark.parametrize("end", range(1, len(TAG) + 1))
@pytest.mark.parametrize("size", [1, 5, 1_000])
def test_a_stream_that_is_cut_in_the_tag_shows_nothing_of_it(end: int, size: int) -> None:
    shown, asked = split(f"It is tall [1].{TAG[:end]}", size)
    assert (shown.rstrip("\n* "), asked) == ("It is tall [1].", ())


@pytest.mark.parametrize("size", [1, 4, 1_000])
@pytest.mark.parametrize("tag", TAGS[:12])
def test_a_tag_behind_the_last_sentence_ends_it(tag: str, size: int) -> None:
    assert split(f"It is tall [1]. {tag} {BELOW}", size) == ("It is tall [1].", ASKED)


@pytest.mark.parametrize("end", range(len("How many steps lead to the top")))
def test_a_question_that_is_cut_is_none(end: int) -> None:
    shown, asked = split(f"{ANSWER}\n<ask_next>\n{ASKED[0]}\n{ASKED[1][:end]}", 3)
    assert (shown, asked) == (ANSWER, ASKED[:1])


@pytest.mark.parametrize("size", [1, 2, 5, 1_000])
@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        "A",
        "As",
        "It is a",
        "Call `ask_next` or ask_next() of the queue, task_next, x.ask_next or ask_next.py.",
        "If a < b [2], ask the next one: <a href> [a] and <as> stay.",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "它高 330 米[1]。\n\n> 没有找到。",
        "Ask next door.\n",
        "- a\n- b\n\n---\n",
        "```\nask\n```",
    ],
)
def test_other_words_are_shown_unchanged(text: str, size: int) -> None:
    assert split(text, size) == (text, ())


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_at_no_time_is_a_part_of_the_tag_shown(size: int) -> None:
    splitter, shown = Splitter(), ""
    for piece in pieces(f"{ANSWER}\n\n<ask_next>\n{BELOW}", size):
        shown += splitter.shown(piece)
        assert ANSWER.startswith(shown)


def test_the_end_of_a_block_releases_what_begins_no_tag() -> None:
    splitter = Splitter()
    assert (splitter.shown("It is:\n- "), splitter.ended()) == ("It is:", "\n- ")
    assert (splitter.shown("x <"), splitter.ended()) == ("x", "")
    assert splitter.shown("ask_next>\nWho?") == ""
    assert splitter.questions == ("Who?",)


def test_what_follows_the_tag_is_bounded() -> None:
    splitter = Splitter()
    for _ in range(10_000):
        splitter.shown("<ask_next> and on ")
    assert len(splitter._next or "") == LONGEST


@pytest.mark.parametrize("prompt", ["write", "iterate"])
def test_the_prompts_of_an_answer_ask_for_it(prompt: str) -> None:
    text = load(prompt, citing="", ask_next=load("ask_next"))
    assert "`<ask_next>`" in text
