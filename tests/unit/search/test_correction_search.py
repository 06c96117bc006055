"""Corrections that fit a query, and what their addresses tell."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from bot.core.lines import LOCAL
from bot.core.messages import CONSOLE, Author, Thread
from bot.core.reader import (
    Reach,
    correction_address,
    is_correction,
    is_document,
    place_of,
    public,
)
from bot.core.texts import texts_for
from bot.search.earlier_answers import MOST_CORRECTIONS, best, link_in, title_of
from bot.storage.word_search import Correction, terms_of
from tests.unit.samples import NOW

BERLIN = "The hotel limit for Berlin has been 140 euros since May."
BERLIN_ZH = "柏林酒店的报销上限从五月起是140欧元。"
KEYS = "The master key is rotated every 45 days."
MESSAGE = "https://acme.slack.com/archives/C1/p1764144000000100?thread_ts=1.2&cid=C1"


def a_correction(text: str, id: str = "r1") -> Correction:
    thread = Thread("slack", "T1", "C1", "t1")
    terms = frozenset(terms_of(text))
    return Correction(
        id, thread, Author("U1", "Ann"), NOW, text, text, "", thread.home, terms=terms
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("What is the hotel limit for Berlin?", [BERLIN]),
        ("hotel limit Berlin", [BERLIN]),
        ("Berlin hotels", [BERLIN]),
        ("Berlin population", []),
        ("hotel limit Munich per night", []),
        ("柏林酒店的报销上限是多少？", [BERLIN_ZH]),
        ("柏林 酒店 上限", [BERLIN_ZH]),
        ("柏林有多少人口？", []),
        ("how often is the master key rotated", [KEYS]),
        ("the", []),
        ("", []),
    ],
)
def test_a_correction_fits_that_has_most_of_the_words(query: str, found: list[str]) -> None:
    known = {text: a_correction(text) for text in (BERLIN, BERLIN_ZH, KEYS)}
    assert [each.text for each in best(known, query)] == found


def test_of_equals_the_newest_come_first_and_no_more_than_a_few() -> None:
    known = {str(n): a_correction(BERLIN, f"r{n}") for n in range(9)}
    assert [each.id for each in best(known, BERLIN)] == [f"r{n}" for n in range(MOST_CORRECTIONS)]


def test_an_address_tells_who_may_be_told_and_leads_to_the_message() -> None:
    url = correction_address("slack:T1:C1", "abc123", MESSAGE)
    assert (is_correction(url), is_document(url)) == (True, True)
    assert (place_of(url), public(url)) == ("slack:T1:C1", MESSAGE)
    bare = correction_address("web:console:ann%3Ab", "abc123")
    assert (place_of(bare), public(bare)) == ("web:console:ann%3Ab", "")


@pytest.mark.parametrize(
    ("places", "allowed"),
    [
        ({"slack:T1:C1"}, True),
        ({"slack:T1", "slack:T1:C2"}, False),
        ({"slack:T1:C11", "slack:T1:C"}, False),
        (set(), False),
        (None, True),
    ],
)
def test_it_is_in_reach_in_its_place_alone(places: set[str] | None, allowed: bool) -> None:
    reach = Reach(corrections=None if places is None else frozenset(places))
    assert reach.allows(correction_address("slack:T1:C1", "a", MESSAGE)) is allowed


def test_its_title_is_on_one_line() -> None:
    each = a_correction(BERLIN)
    assert title_of(each, texts_for("en")) == "Correction by Ann, 15 January 2026"
    assert title_of(each, texts_for("zh-CN")) == "更正：Ann、2026 年 1 月 15 日"
    local = replace(each, thread=Thread(CONSOLE, "", "", ""), author=Author(LOCAL, "You"))
    assert title_of(local, texts_for("de")) == "Ihre Korrektur, 15. Januar 2026"
    auckland = ZoneInfo("Pacific/Auckland")
    assert title_of(local, texts_for("ja"), auckland) == "あなたによる訂正、2026 年 1 月 16 日"


@pytest.mark.parametrize(
    ("links", "kept"),
    [
        (("https://example.org/a", "https://example.org/b"), "https://example.org/a"),
        ((MESSAGE, "https://example.org/a"), "https://example.org/a"),
        ((MESSAGE,), ""),
        (("file:///etc/passwd", "mcp:/jira/1", "correction:/a/b"), ""),
        ((), ""),
    ],
)
def test_the_first_page_of_the_web_that_was_named_is_its_link(
    links: tuple[str, ...], kept: str
) -> None:
    assert link_in(links) == kept
