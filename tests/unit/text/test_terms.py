"""Terms, control characters and tokens."""

from __future__ import annotations

import sqlite3
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.terms import (
    estimate,
    fold,
    function_words,
    has_cjk,
    keywords,
    terms,
    without_controls,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,200", "1200"),
        ("1,234,567", "1234567"),
        ("１２００", "1200"),
        ("U.S.", "US"),
        ("U.S.A.", "USA"),
        ("Études", "etude"),
        ("Łódź", "Lodz"),
        ("Smørrebrød", "smorrebrod"),
        ("Aschenbrödel", "Aschenbrodel"),
        ("straße", "STRASSE"),
        ("Ohm's", "Ohm"),
        ("Ohm’s", "ohm"),
        ("ﬁnals", "final"),
        ("cities", "city"),
        ("running", "runs"),
        ("filed", "file"),
        ("agreed", "agree"),
        ("ｶﾞ", "ガ"),
        ("B-29", "b 29"),
    ],
)
def test_forms_of_one_word_share_their_terms(one: str, other: str) -> None:
    assert terms(one) == terms(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,20", "120"),
        ("12,000", "12"),
        ("か", "が"),
        ("university", "universe"),
        ("sing", "s"),
        ("bled", "bl"),
    ],
)
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert terms(one) != terms(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("黑豹队", ["黑豹", "豹队"]),
        ("水", ["水"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("서울시", ["서울", "울시"]),
        ("在 GPT-4 里", ["在", "gpt", "4", "里"]),
        ("版本3.11发布", ["版本", "3", "11", "发布"]),
        ("カ・ナ", ["カ", "ナ"]),
        ("", []),
        ("?!", []),
    ],
)
def test_runs_of_cjk_become_bigrams(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the capital of the United States?", ["capital", "unit", "state"]),
        ("How many people live in the US?", ["peopl", "live", "us"]),
        ("Who founded Hello Love, Hello Love?", ["found", "hello", "love"]),
        ("黑豹队的防守丢了多少分？", ["黑豹", "豹队", "防守", "守丢"]),
        ("法国的首都是哪里？", ["法国", "首都"]),
        ("日本の首都はどこですか", ["日本", "首都"]),
        ("대한민국의 수도는 어디입니까", ["대한", "한민", "민국", "수도"]),
        ("The Who", ["the", "who"]),
        ("是谁？", ["是谁"]),
        ("文件都还在", ["文件"]),
        ("成都就业", ["成都", "都就", "就业"]),
        ("还原几何图形", ["还原", "原几", "几何", "何图", "图形"]),
        ("服务何时就绪", ["服务", "就绪"]),
    ],
)
def test_keywords_are_the_words_with_meaning(question: str, expected: list[str]) -> None:
    assert keywords(question) == expected


@given(st.text())
def test_keywords_are_some_of_the_terms_and_each_comes_once(text: str) -> None:
    found = keywords(text)
    assert set(found) <= set(terms(text))
    assert len(found) == len(set(found))
    assert bool(found) == bool(terms(text))


@given(st.text(), st.text())
def test_a_line_break_separates_terms(one: str, other: str) -> None:
    assert terms(f"{one}\n{other}") == terms(one) + terms(other)


def test_fts5_keeps_every_term_in_one_piece() -> None:
    """Every letter there is, beside others, through SQLite's own tokenizer."""
    characters = (
        chr(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) not in ("Cn", "Co", "Cs")  # what is a character at all
    )
    found = {
        term
        for term in terms("\n".join(f"a{character}b" for character in characters))
        if not term.isascii()
    }
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61')")
        database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
        database.executemany("INSERT INTO t(x) VALUES (?)", [(term,) for term in sorted(found)])
        pieces = database.execute("SELECT doc FROM v").fetchall()
    assert len(pieces) == len(found) == len(set(pieces))


def test_a_word_without_end_is_cut_and_not_remembered() -> None:
    assert [len(term) for term in terms("a" * 1_000_000 + " b")] == [64, 1]


def test_fold_keeps_voicing_marks_and_syllables() -> None:
    assert fold("ガギグ 한글 É") == "ガギグ 한글 e"


@pytest.mark.parametrize(("text", "expected"), [("abc é", False), ("abc", False), ("a 水", True)])
def test_cjk_is_recognized(text: str, expected: bool) -> None:
    assert has_cjk(text) is expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("how do I reset my password", 3),
        ("Kafka consumer lag", 0),
        ("怎么安装", 1),
        ("最近的公司", 1),
        ("安装 Docker", 0),
        ("使い方の説明", 1),
        ("설정은 무엇", 2),
        ("", 0),
    ],
)
def test_words_without_a_meaning_of_their_own_are_counted(text: str, count: int) -> None:
    assert function_words(text) == count


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("red \x1b[31mtext\x1b[0m", "red text"),
        ("\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "link"),
        ("bell\x07, null\x00, escape\x1b", "bell, null, escape"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("长城 🗼 naïve", "长城 🗼 naïve"),
        ("half \ud83d", "half "),
    ],
)
def test_control_sequences_and_characters_go(text: str, left: str) -> None:
    assert without_controls(text) == left


@given(st.text())
def test_what_is_left_can_be_printed_and_encoded(text: str) -> None:
    left = without_controls(text)
    left.encode()
    assert not any(char in left for char in "\x1b\x07\x00\x9b")
    assert without_controls(left) == left


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("word", 1),
        ("words and words", 4),
        ("水水水", 3),
        ("水 and", 2),
        ("привет", 3),
        ("서울", 2),
        ("東京タワー", 5),
        ("café", 1),
    ],
)
def test_estimates_follow_the_script(text: str, expected: int) -> None:
    assert estimate(text) == expected


@given(st.text(), st.text())
def test_more_text_never_takes_fewer_tokens(one: str, other: str) -> None:
    assert estimate(one + other) >= max(estimate(one), estimate(other))


@given(st.text(min_size=1))
def test_no_text_is_free(text: str) -> None:
    assert 1 <= estimate(text) <= len(text)
