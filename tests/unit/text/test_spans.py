"""Spans of time and ages: what lies between the dates of a quote, and what does not."""

from __future__ import annotations

import pytest

from bot.text.arithmetic import is_ago, is_counted, is_span
from bot.text.facts import facts, missing_from

OFFICE = "She was director from May 31, 2006 to March 27, 2013."
POST = "He held the post from September 18 to November 26, and reformed the lists."
FAIR = "The fair took place between 12–25 November 2008 in Dresden."
CHILD = "The child was born on 10 April 1472 and died on 11 December 1472."
PRINCE = "The prince, born on 12 October 1350, ruled from 1359 to 1389."
LIFE = "Anna Berg (14 August 1663 – 3 August 1749) was a noblewoman."
RECORDS = "It was the highest on April 18, 1971 and April 1, 1990."


def _unexplained(claim: str, quoted: str) -> list[str]:
    missing = [fact for fact in missing_from(facts(claim), quoted) if fact.kind == "figure"]
    return [fact.text for fact in missing if not is_span(claim, fact, quoted)]


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        ("She led it for nearly seven years.", OFFICE),
        ("She led it for 6 years and 10 months.", OFFICE),
        ("He held it for about ten weeks.", POST),
        ("He held it for 69 days.", POST),
        ("He held it for a little more than two months.", POST),
        ("The fair ended after 13 days.", FAIR),
        ("It lasted less than two weeks.", FAIR),
        ("The child lived for 8 months and 1 day.", CHILD),
        ("He became prince at the age of eight or nine.", PRINCE),
        ("He came to power at eight, and died after 30 years.", PRINCE),
        ("He ruled for three decades.", PRINCE),
        ("She died eleven days before her birthday.", LIFE),
        ("She died eleven days before she would have turned 86.", LIFE),
        ("She died less than two weeks short of her 86th birthday.", LIFE),
        ("The records lie some 19 years apart.", RECORDS),
        ("The scholar died at the age of 77.", "The scholar (973-1050) wrote a book."),
    ],
)
def test_what_lies_between_two_dates_is_explained(claim: str, quoted: str) -> None:
    assert _unexplained(claim, quoted) == []


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        ("She led it for nearly nine years.", OFFICE),
        ("She led it for five years.", OFFICE),
        ("He held it for 96 days.", POST),
        ("He held it for about seven weeks.", POST),
        ("The fair ended after 23 days.", FAIR),
        ("The child lived for 8 months and 12 days.", CHILD),
        ("He became prince at the age of eleven.", PRINCE),
        ("The prince had eight sons.", PRINCE),
        ("She died 31 days before her birthday.", LIFE),
        ("The records lie some 21 years apart.", RECORDS),
    ],
)
def test_other_figures_are_not(claim: str, quoted: str) -> None:
    assert _unexplained(claim, quoted)


def test_the_following_year_is_counted() -> None:
    quoted = "The band signed in 2004 and released its first album the following year."
    (year,) = facts("Its first album came out in 2005.")
    assert is_counted("Its first album came out in 2005.", year, quoted)
    assert not is_counted("It came out in 2005.", year, "The band signed in 2004.")


def test_years_ago_are_counted_from_when_it_is_told() -> None:
    claim = "It was opened 58 years ago, in 1968."
    (figure,) = [fact for fact in facts(claim) if fact.kind == "figure"]
    assert is_ago(claim, figure, "Opened in 1968.", [2026])
    assert not is_ago(claim, figure, "Opened in 1968.", [2016])
