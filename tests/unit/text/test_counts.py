from decimal import Decimal

import pytest

from bot.text.counts import is_count, is_fraction
from bot.text.facts import Fact, facts


def _figure(claim: str) -> Fact:
    return next(fact for fact in facts(claim) if fact.kind == "figure")


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        ("The club won three cups.", "The club won the Vik Cup, the Lund Cup and the Holm Cup."),
        ("The area has two islands: Vik and Lund.", "Vik, an island, and Lund lie in the area."),
        ("They have four children (one son and three daughters).", "One son and three daughters."),
        ("公司有三个工厂。", "公司在甲城、乙城和丙城设有工厂。"),
    ],
)
def test_what_is_listed_is_counted(claim: str, quoted: str) -> None:
    assert is_count(claim, _figure(claim), quoted)


def test_another_number_than_that_of_the_list_is_no_count() -> None:
    claim = "The club won five cups."
    quoted = "The club won the Vik Cup, the Lund Cup and the Holm Cup."
    assert not is_count(claim, _figure(claim), quoted)


@pytest.mark.parametrize(
    ("claim", "quoted", "known"),
    [
        ("A majority of 60% is needed.", "A three-fifths majority is needed.", "3"),
        ("需要60%的多数。", "需要五分之三的多数。", "3"),
        ("One in five trees died.", "20% of the trees died.", "20"),
    ],
)
def test_fractions_and_percentages_are_one(claim: str, quoted: str, known: str) -> None:
    fact = facts(claim)[-1] if "One in" in claim else _figure(claim)
    assert is_fraction(claim, fact, quoted, [Decimal(known)])
