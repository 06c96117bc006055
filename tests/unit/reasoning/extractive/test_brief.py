"""The few words of a passage that answer a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.passages import Passage, split
from bot.reasoning.extractive.brief import (
    LED_TO,
    MOST_ROWS,
    MOST_SENTENCES,
    brief,
    count_words,
)
from bot.reasoning.extractive.relevance import asked_in
from bot.text.sentences import sentences
from tests.unit.pages.test_passages import PAGES
from tests.unit.reasoning.samples import a_page_read, rarity_in


def shown(question: str, text: str, most_words: int = 60) -> str:
    """The excerpt of a page with one passage."""
    source = a_page_read(1, "A page", text)
    (passage,) = source.passages
    asked = asked_in(question, (source,), rarity_in((source,), question))
    return brief(passage, asked, most_words)


# ---------------------------------------------------------------- sentences and lists

GATES = "The harbour is old. Gate 3 opens at noon. A bell rings then. Boats wait outside."


def test_the_sentence_that_says_most_comes_with_what_follows_while_there_is_room() -> None:
    question = "When does gate 3 open?"
    assert shown(question, GATES, 5) == "Gate 3 opens at noon."
    assert shown(question, GATES, 9) == "Gate 3 opens at noon. A bell rings then."
    assert len(sentences(shown(question, GATES, 60))) == MOST_SENTENCES


def test_one_sentence_comes_however_long_it_is() -> None:
    assert shown("When does gate 3 open?", GATES, 0) == "Gate 3 opens at noon."


def test_a_figure_is_what_such_a_question_wants() -> None:
    text = "Boats of the harbour pay fees. Boats of the harbour pay 25 kroner."
    assert shown("How much do boats of the harbour pay?", text, 8).endswith("25 kroner.")


def test_words_side_by_side_tell_more_than_apart() -> None:
    text = "Back in 1887 they gave up. You back up the files at night."
    assert shown("How do I back up?", text, 7) == "You back up the files at night."


def test_a_lead_in_comes_with_its_items() -> None:
    text = "Boats pay a fee:\n\n- small boats pay 10 kroner\n- large boats pay 25 kroner"
    assert shown("What do large boats pay?", text).startswith("Boats pay a fee:\n\n- small boats")


def test_a_sentence_that_goes_on_about_the_one_before_comes_with_it() -> None:
    text = "Breaks forbids both. This is stricter than Conflicts for gates. Boats wait. Bells ring."
    assert shown("Is it stricter for gates than Conflicts?", text, 11) == (
        "Breaks forbids both. This is stricter than Conflicts for gates."
    )


def test_lines_from_the_middle_of_long_code_stand_in_a_fence() -> None:
    lines = "\n".join(f"gate_{n} = open(harbour, at={n})" for n in range(400))
    *_, last = split(f"```\n{lines}\n```")
    assert last.in_code
    asked = asked_in("gate_399", (a_page_read(1, "A page", last.text),), {})
    text = brief(last, asked, 10)
    assert text.startswith("```\ngate_")
    assert text.endswith("gate_399 = open(harbour, at=399)\n```")


def test_items_are_as_few_as_there_is_room_for() -> None:
    text = "\n".join(f"- gate {n} opens at {n} o'clock" for n in range(9))
    assert shown("When does gate 5 open?", text, 6) == "- gate 5 opens at 5 o'clock"
    assert shown("When does gate 5 open?", text).count("\n") == MOST_ROWS - 1


def test_chinese_sentences_are_measured_in_words() -> None:
    text = "港口有三座码头。第三座码头建于1887年。码头旁边有很多船。"
    assert shown("第三座码头建于哪一年？", text, 8) == "第三座码头建于1887年。"


def test_a_heading_that_nothing_stands_below_comes_as_its_words() -> None:
    assert shown("Where is the harbour?", "## The harbour") == "The harbour"


# ---------------------------------------------------------------- tables

OPTIONS = (
    "| option | default | meaning |\n|---|---:|---|\n| gates | 3 | gates that open |\n"
    "| boats | 90 | boats in the harbour |\n| a\\|b | 1 | one or the other |"
)
HEAD = "| option | default | meaning |\n|---|---:|---|\n"


def test_rows_come_below_the_head_of_their_table() -> None:
    assert shown("What is the default for boats?", OPTIONS) == (
        f"{HEAD}| boats | 90 | boats in the harbour |"
    )


def test_the_head_alone_is_no_answer() -> None:
    text = shown("What do option, default and meaning mean?", OPTIONS)
    assert text.startswith(f"{HEAD}| gates | 3 |")


def test_a_bar_within_a_cell_does_not_break_the_table() -> None:
    assert shown("What is the other option, a|b?", OPTIONS) == (
        f"{HEAD}| a\\|b | 1 | one or the other |"
    )


def test_rows_come_below_the_head_of_their_own_table() -> None:
    other = "| boat | fee |\n|---|---|\n| ferry | 90 kroner |"
    text = f"| gate | bell |\n|---|---|\n| first | loud |\n\n{other}"
    assert shown("What is the fee for a ferry?", text) == other


def test_rows_without_a_head_come_as_they_are() -> None:
    assert (
        shown("What is the fee for a ferry?", "| ferry | 90 |\n| train | 3 |") == "| ferry | 90 |"
    )


# ---------------------------------------------------------------- code


def test_code_comes_whole_with_what_leads_in_to_it() -> None:
    text = "To open the gate, run:\n\n```sh\nharbour open --gate 3\n```"
    assert shown("How do I open the gate?", text) == text
    assert shown("What does --gate do?", text) == text


def test_long_code_is_cut_between_lines_within_its_fence() -> None:
    lines = [f"harbour open --pier {n} --now" for n in range(40)]
    text = shown("How do I use --pier 17 of the harbour?", "\n".join(["~~~sh", *lines, "~~~"]), 20)
    first, *kept, last = text.split("\n")
    assert (first, last) == ("~~~sh", "~~~")
    assert lines[17] in kept
    assert len(kept) == 4
    assert kept == lines[lines.index(kept[0]) :][:4]


def test_code_in_a_list_loses_the_margin_of_the_list() -> None:
    text = "- Open the gate:\n\n  ```sh\n  if noon\n    harbour open\n  ```"
    assert shown("How do I open the gate of the harbour?", text) == (
        "- Open the gate:\n\n```sh\nif noon\n  harbour open\n```"
    )


# ---------------------------------------------------------------- what always holds

QUESTIONS = st.one_of(
    st.sampled_from(
        [
            "harbour boats 1887",
            "How many boats does the harbour hold?",
            "How do I open the harbour?",
            "这座港口建于哪年？",
            "Why? Who?",
        ]
    ),
    st.text(max_size=30),
)


@given(PAGES, QUESTIONS, st.integers(0, 60), st.booleans())
def test_a_brief_is_verbatim_in_order_and_as_short_as_was_asked(
    page: str, question: str, most_words: int, known: bool
) -> None:
    source = a_page_read(1, "A page", page)
    asked = asked_in(question, (source,), rarity_in((source,), question) if known else {})
    for passage in source.passages:
        text = brief(passage, asked, most_words)
        assert text == brief(passage, asked, most_words)
        assert text.strip()
        assert _stands_in(text, passage)
        longest = max(count_words(piece) for piece in _pieces(passage))
        led_to = LED_TO if "```" in text else 0
        most = max(most_words + led_to, longest)
        assert count_words(_words(text)) <= most + _of_head(text, passage)


def _stands_in(text: str, passage: Passage) -> bool:
    """Return True if the lines of a text stand in a passage in this order; a fence may be closed,
    or opened, where the passage has only a part of the code."""
    at = 0
    for line in text.split("\n"):
        words = line.strip()
        found = passage.text.find(words, at)
        if found < 0 and words.strip("`~") == "":
            continue
        if found < 0:
            return False
        at = found + len(words)
    return True


def _pieces(passage: Passage) -> list[str]:
    """The pieces that a passage is not cut inside of: sentences, items, rows, lines of code."""
    return [
        line
        for piece in sentences(passage.text)
        for line in (
            passage.text[piece.start : piece.end].split("\n")
            if piece.kind == "code"
            else [passage.text[piece.start : piece.end]]
        )
    ]


def _words(text: str) -> str:
    """A text without its fences and the divider of its table."""
    return "\n".join(line for line in text.split("\n") if line.strip(" `~") and line.strip("|-: "))


def _of_head(text: str, passage: Passage) -> int:
    """The words of the head of a table, or of what leads in to code."""
    first = text.split("\n")[0]
    return count_words(first) if text.startswith("|") or "```" in text else 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("The harbour opens at noon.", 5),
        ("| a | b |", 5),
        ("港口建于很久以前了呢，对", 6),
        ("用 npm install 安装", 4),
        ("English text with one 字 only", 6),
    ],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert count_words(text) == words


def test_pages_in_the_tests_are_cut_as_they_assume() -> None:
    assert len(split(GATES)) == len(split(OPTIONS)) == 1
