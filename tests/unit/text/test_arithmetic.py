"""Calculations and spans of time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.arithmetic import calculations, is_ago, is_counted, is_span, unproven
from bot.text.facts import facts, missing_from

BRIDGE = (
    "The bridge is 1,204 metres long and 87.4 metres high. Work began in 1987 and it was opened "
    "in 1996. Each day 14,600 cars and 13,100 lorries pass. Of 711,988 people 35.7% can see it."
)
LIFE = "Maloney (January 4, 1888 – November 2, 1929) was an actor."


def _left(claim: str, quoted: str) -> list[str]:
    missing = missing_from(facts(claim), quoted)
    return [fact.text for fact in unproven(claim, missing, quoted, "", [2026])]


@pytest.mark.parametrize(
    "claim",
    [
        "It took about nine years (1996 − 1987 = 9).",
        "It took about nine (1996 - 1987 = 9) years.",
        "It is 14 times as long as high (1,204 / 87.4 = 13.8).",
        "Each day 27,700 (14,600 + 13,100) vehicles pass.",
        "About 254,000 people can see it (35.7% of 711,988).",
        "It was built in nine years, from 1987 to 1996.",
        "It was opened 30 years ago, in 1996.",
        "Some 1,500 more cars than lorries pass, 14,600 to 13,100.",
        "每天有27,700辆车通过（14,600 + 13,100）。",
        "修建用了九年（1996 − 1987 = 9）。",
    ],
)
def test_arithmetic_on_cited_figures_is_understood(claim: str) -> None:
    assert _left(claim, BRIDGE) == []


@pytest.mark.parametrize(
    "claim",
    [
        "It took about ten years (1996 − 1987 = 10).",
        "Each day 27,900 (14,600 + 13,100) vehicles pass.",
        "It took nine years (1997 − 1988 = 9).",
        "It was built in six years, from 1987 to 1996.",
        "It was opened 40 years ago, in 1996.",
        "每天有27,900辆车通过（14,600 + 13,100）。",
    ],
)
def test_what_does_not_come_out_or_rests_on_nothing_is_left(claim: str) -> None:
    assert _left(claim, BRIDGE)


def test_a_result_that_happens_to_be_quoted_does_not_excuse_the_sum() -> None:
    quoted = "He scored 12 goals, then 7 in 33 games and 3 in 19."
    assert _left("Abroad he scored twelve goals (7 + 3).", quoted) == ["7 + 3"]


TRAFFIC = "It carries 14,600 cars and 13,100 lorries a day. Of 650 households 520 are connected."


@pytest.mark.parametrize(
    "claim",
    [
        "It carries 1,500 more cars than lorries.",
        "Cars are 53% of the traffic.",
        "80% of the households are connected.",
        "130 households are not connected.",
        "The bridge carries 1,500 fewer lorries than cars.",
        "27,700 vehicles cross it, 14,600 of them cars.",
        "About 217 households are a third of them.",
    ],
)
def test_of_a_few_figures_others_can_be_made(claim: str) -> None:
    assert _left(claim, TRAFFIC) == []


@pytest.mark.parametrize("claim", ["Cars are 63% of the traffic.", "It carries 1,700 buses a day."])
def test_not_any_figure_can_be_made_of_a_few(claim: str) -> None:
    assert _left(claim, TRAFFIC)


@pytest.mark.parametrize(
    "claim", ["He lived to be 41.", "He was 40 or 41 when he died.", "He died at the age of 41."]
)
def test_an_age_may_be_told_in_several_ways(claim: str) -> None:
    assert _left(claim, LIFE) == []


def test_an_age_is_counted_from_the_days() -> None:
    assert _left("Maloney was 41 when he died.", LIFE) == []
    assert _left("Maloney was 42 when he died.", LIFE) == ["42"]


CHARGE = (
    "The battery is charged from empty to 80% in 30 minutes. He ruled from 20 July 1951 to "
    "8 September 1951. Piraeus handled 513,319 boxes, Patras 273,282."
)


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("It takes half an hour to four-fifths of its capacity.", True),
        ("It takes half an hour to three-fifths of its capacity.", False),
        ("He ruled for just under seven weeks.", True),
        ("He ruled for just under nine weeks.", False),
        ("He ruled for 50 days.", True),
        ("He ruled for 38 days.", False),
        ("Piraeus handled about 513,000 boxes against 273,000.", True),
        ("Piraeus handled about 513,000 boxes against 274,000.", False),
    ],
)
def test_parts_and_spans(claim: str, right: bool) -> None:
    assert (_left(claim, CHARGE) == []) is right


def test_a_date_that_is_none_has_no_days() -> None:
    assert _left("He ruled for five weeks.", "He ruled from 30 February 1951 to 1 April 1951.")


def test_a_range_of_years_is_no_subtraction() -> None:
    assert list(calculations("He acted (1914–1929) and sang.")) == []


def test_code_and_dates_are_no_arithmetic() -> None:
    assert list(calculations("Call f(a - b) on 2020-05-01, see matrix[3][4].")) == []


@given(st.integers(1000, 99_999), st.integers(1000, 99_999), st.sampled_from("+−×"))
def test_whatever_is_calculated_right_comes_out(one: int, other: int, operator: str) -> None:
    result = {"+": one + other, "−": one - other, "×": one * other}[operator]
    quoted = f"There are {one} of these and {other} of those."
    if result > 0:
        assert _left(f"That makes {result} ({one} {operator} {other} = {result}).", quoted) == []
        wrong = result + max(10, result // 5)
        assert _left(f"That makes {wrong} ({one} {operator} {other} = {wrong}).", quoted)


@given(st.text(alphabet="0123456789.,+-−×/÷=()%of 的加减km ", max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    list(calculations(text))
    _left(text, BRIDGE)


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        (
            "The second mill opened four years later, in 1967.",
            "A mill opened in 1963, another 4 years later.",
        ),
        ("Berg turned 60 in 2014.", "Berg (born April 26, 1954) is a bishop."),
        ("He was 28 in the year the film came out.", "He was born in 1970; the film is from 1998."),
        (
            "They won three cups in five years.",
            "They won the cup in 2001, 2003 and in 2005; three in all.",
        ),
        ("Over 38 years he made 58 films (58 / 38 = 1.53).", "He made 58 films from 1922 to 1960."),
        (
            "The second came three days later, on August 9, 1945.",
            "They came on August 6 and 9, 1945.",
        ),
        ("1971年的这首歌在19年后重新发行。", "这首歌（1971）于1990年重新发行。"),
    ],
)
def test_years_are_reckoned(claim: str, quoted: str) -> None:
    assert _left(claim, quoted) == []


@pytest.mark.parametrize(
    ("claim", "quoted", "left"),
    [
        ("The second mill opened in 1967.", "A mill opened in 1963.", ["1967"]),
        ("Berg turned 60 in 2016.", "Berg (born April 26, 1954) is a bishop.", ["2016"]),
    ],
)
def test_wrong_years_are_left(claim: str, quoted: str, left: list[str]) -> None:
    assert _left(claim, quoted) == left


OFFICE = "She was director from May 31, 2006 to March 27, 2013."
POST = "He held the post from September 18 to November 26, and reformed the lists."
FAIR = "The fair took place between 12–25 November 2008 in Dresden."
CHILD = "The child was born on 10 April 1472 and died on 11 December 1472."
PRINCE = "The prince, born on 12 October 1350, ruled from 1359 to 1389."
NOBLE = "Anna Berg (14 August 1663 – 3 August 1749) was a noblewoman."
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
        ("She died eleven days before her birthday.", NOBLE),
        ("She died eleven days before she would have turned 86.", NOBLE),
        ("She died less than two weeks short of her 86th birthday.", NOBLE),
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
        ("She died 31 days before her birthday.", NOBLE),
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
