"""Sentences with their spans, and those that say that nothing was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.sentences import LONGEST, LONGEST_CODE, blocks, says_gap, sentences, without_gaps

MARKDOWN = ["\n", "\n\n", "- a", "| a | b |", "```", "~~~", "# H", "1. y", "\r\n", "\t"]
WORDS = [
    "A b.",
    "Mr. X",
    "水。",
    "「は。」",
    "e.g.",
    "3.14",
    "[1]",
    "x!",
    "?!",
    "...",
    "。」",
    '"',
    " ",
]
PIECES = st.lists(st.sampled_from(MARKDOWN + WORDS), max_size=40).map("".join)
TEXTS = st.one_of(st.text(), PIECES)


def cut(text: str) -> list[str]:
    return [text[s.start : s.end] for s in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["It rains.", "We stay in."],
        ["Does it rain?", "Yes!", "We stay in."],
        ["Mr. Smith met Dr. Jones.", "They talked."],
        ["J. K. Rowling wrote it.", "It sold well."],
        ["George W. Bush won.", "Al Gore lost."],
        ["She lives in the U.S.", "The city is small."],
        ["The U.S. President spoke."],
        ["It cost $1.5 million in 2.5 years.", "Nobody paid."],
        ["See e.g. the first page.", "Then stop."],
        ["He takes vitamin C.", "It helps."],
        ["Fig. 3 shows No. 5.", "Both are old."],
        ["Washington, D.C. Mayor Bowser spoke."],
        ["Apple Inc. makes phones.", "Sony Corp. does too."],
        ['"Stop!" he said.', '"Why?"', "Nobody knew."],
        ["He left (in 1990).", "She stayed."],
        ["Wait... what?", "Yes…", "Fine."],
        ["The answer is no.", "Nothing else is known."],
        ["It was built in 1887.", "In 1900 it burned."],
        ["Er wurde am 3. Mai geboren.", "Er starb im 19. Jahrhundert."],
        ["It opened at 9 a.m. on Monday.", "It closed."],
        ["Paris is big.[1]", "Rome is old. [2][3]", "Oslo is cold 【4】.", "So?"],
        ["Paris is big. [[1]]", "Rome."],
        ["See example.com for more.", "Bye."],
        ["Use `SELECT ... INTO x` or ``a. `B`. C``.", "It's `done`.", "So `it` is."],
        ["A ` is none.", f"{'No code is that long, ' * 10}so there.", "Two ` are none either."],
        ["黑豹队丢了308分。", "他们排名第六！", "为什么？"],
        ["他说：“好。”", "然后走了。"],
        ["「そうですね。」と彼は言った。", "終わり。"],
        ["Python 3.11很快。", "它用C写成。"],
        ["서울은 수도입니다.", "부산은 항구입니다."],
        ["你好!", "再见?", "是。"],
        ["यह अच्छा है।", "हाँ।"],
    ],
)
def test_sentences_are_cut_where_a_reader_would(expected: list[str]) -> None:
    spaced = " ".join(expected)
    assert cut(spaced) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title\nText here.", ["# Title", "Text here."]),
        ("- one\n- two. More.\n  And on.", ["- one", "- two.", "More.", "And on."]),
        ("1. First\n2. Second", ["1. First", "2. Second"]),
        ("| a | b. C |\n|---|---|\n| c | d |", ["| a | b. C |", "|---|---|", "| c | d |"]),
        ("A. \n```\nx = 1. Y\n\ny\n```\nB.", ["A.", "```\nx = 1. Y\n\ny\n```", "B."]),
        ("```\nnever closed. X", ["```\nnever closed. X"]),
        ("one line\nand its end. Next", ["one line\nand its end.", "Next"]),
        ("one\n\ntwo", ["one", "two"]),
        ("one\r\n\r\ntwo", ["one", "two"]),
        ("-5 degrees are cold.", ["-5 degrees are cold."]),
        ("3.5 is a number.", ["3.5 is a number."]),
        ("Ends here.She goes on.", ["Ends here.She goes on."]),
        ("  \n\t ", []),
        ("", []),
    ],
)
def test_markdown_is_kept_in_its_pieces(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_blocks_tell_their_kind_level_and_gap() -> None:
    text = "# A\ntext\nmore\n\n- item\n| row |\n~~~\ncode\n~~~\n### B"
    assert [(b.kind, b.level, b.gap, text[b.start : b.end]) for b in blocks(text)] == [
        ("heading", 1, True, "# A"),
        ("paragraph", 0, False, "text\nmore"),
        ("item", 0, True, "- item"),
        ("row", 0, False, "| row |"),
        ("code", 0, False, "~~~\ncode\n~~~"),
        ("heading", 3, False, "### B"),
    ]


@given(TEXTS)
def test_sentences_cover_all_text_in_order_without_overlap(text: str) -> None:
    end = 0
    for sentence in sentences(text):
        assert not text[end : sentence.start].strip()
        piece = text[sentence.start : sentence.end]
        assert piece
        assert piece == piece.strip()
        end = sentence.end
    assert not text[end:].strip()


@given(st.integers(1, 4), st.sampled_from(["word ", "長い文、", "x", "a,b;"]))
def test_a_sentence_too_long_is_cut_at_a_word(times: int, unit: str) -> None:
    text = (unit * (times * LONGEST // len(unit) + 1)).strip()
    pieces = cut(text)
    assert len(pieces) > 1
    assert all(0 < len(piece) <= LONGEST for piece in pieces)
    if " " in unit:
        assert all(set(piece.split()) == {"word"} for piece in pieces)


def test_a_code_fence_too_long_is_cut_between_lines() -> None:
    text = "```\n" + "line of code\n" * 1000 + "```"
    pieces = cut(text)
    assert all(len(piece) <= LONGEST_CODE for piece in pieces)
    assert {line for piece in pieces for line in piece.split("\n")} == {"```", "line of code"}


@pytest.mark.parametrize(
    "unit", [".", " .", "\n", "|", "# ", ".[1", "(", "。」", "'", "J. ", "[1]"]
)
def test_monotonous_text_takes_linear_time(unit: str) -> None:
    """50,000 characters and more: anything quadratic would run for minutes."""
    assert sum(s.end - s.start for s in sentences(unit * 50_000)) <= 50_000 * len(unit)


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        (
            "It joins the Lahn near Lollar; where it rises was not found.",
            "It joins the Lahn near Lollar",
        ),
        (
            "Which of the two is longer could not be found, as no length turned up for either.",
            "",
        ),
        ("Its height could not be determined.", ""),
        ("No page says when it was built.", ""),
        ("Nothing was found on its owner.", ""),
        (
            "35, if he still lived in Tennessee, which could not be shown.",
            "35, if he still lived in Tennessee",
        ),
        ("It has 30 rooms but its architect is not named.", "It has 30 rooms"),
        ("它位于黑森州，没有找到其源头。", "它位于黑森州"),
        ("Sie mündet in die Lahn; wo sie entspringt, wurde nicht gefunden.", None),
        ("The wreck was not found until 1985.", None),
        ("The bomb was not found by the police.", None),
        ("The tower is 330 m tall.", None),
        ("It was never completed.", None),
    ],
)
def test_what_was_not_found_is_left_out(sentence: str, left: str | None) -> None:
    shown = without_gaps(sentence)
    if left is not None:
        assert shown == left
    elif "nicht gefunden" in sentence:
        assert "nicht gefunden" not in shown
    else:
        assert shown == sentence


@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    assert set(without_gaps(text)) <= {*text, " "}


def test_that_a_question_leaves_it_open_is_a_gap() -> None:
    said = 'What to change cannot be said, because your question does not say what "it" is.'
    assert without_gaps(said) == ""
    assert says_gap(said)
    assert not says_gap("The nginx page outlines the basics.")
