"""Figures that follow from others of a quote without a word that says so: sums and differences in
one unit, the odds of two figures, and the number of places before and after a rank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import combinations, permutations

from bot.text.dates import dates
from bot.text.facts import Fact, facts, values_in
from bot.text.figures import claimed_figures, reach
from bot.text.lazy_regex import lazy_regex
from bot.text.numerals import UNITS, ordinal_word
from bot.text.units import Unit, converted, measure_at

MANY = 12  # figures of a quote from which nearly any other could be made
SMALL = 13  # a smaller number can result from too many others
COMMON = 100  # so can a number below this, unless there are only a handful of figures
HANDFUL = 4
EXACT = 0.001  # relative: tolerance of a sum that is not hedged
NEAR = 0.06  # relative: tolerance of odds
_EARLY_YEARS = (100, 1000)  # years that are written like any other figure
_NUMBER = rf"(?:{'|'.join(UNITS)}|\d+)"
_ODDS = lazy_regex(
    rf"\b(?P<part>{_NUMBER})(?: [a-z]+){{0,2}}? (?:in|out of|for|to)(?: every| each)? "
    rf"(?P<whole>{_NUMBER})\b",
    re.IGNORECASE,
)
_ORDINAL = lazy_regex(r"\b(?P<digits>\d+)(?:st|nd|rd|th)\b|\b(?P<word>[a-z]{5,})\b", re.IGNORECASE)
_YEARLY = lazy_regex(r"(?: [a-z]+){0,2} (?:a|per|each|every) year\b", re.IGNORECASE)
_WORDS_BEHIND = lazy_regex(r"[\s-]?(?P<words>[A-Za-z]+ [A-Za-z]+|[\u4e00-\u9fff]{3})")
_RANKED = lazy_regex(
    r"\b(?:older|younger|elder|higher|lower|taller|larger|bigger|smaller|longer|shorter|before|"
    r"earlier|ahead|above|below|after|behind|later|follow\w*|preced\w*)\b",
    re.IGNORECASE,
)


def is_made(claim: str, fact: Fact, quoted: str) -> bool:
    """True if a figure of a claim can be calculated from those of a quote."""
    return (
        (_is_sum_or_difference(fact, quoted) and not _is_put_for_another(claim, fact, quoted))
        or _is_rate(claim, fact, quoted)
        or _is_sum_of_all(fact, quoted)
        or _is_odds(claim, fact, quoted)
        or _is_beside_a_rank(claim, fact, quoted)
    )


def _is_sum_or_difference(fact: Fact, quoted: str) -> bool:
    there = _figures(quoted)
    said = float(fact.values[0])
    if fact.unit is None and said < SMALL:
        return False
    if not 1 < len(there) <= (HANDFUL if fact.unit is None and said < COMMON else MANY):
        return False
    near = said * max(fact.margin, EXACT)
    return any(abs(made - said) <= near for made in _sums_and_differences(there, fact.unit))


def _sums_and_differences(there: tuple[Fact, ...], unit: Unit | None) -> Iterator[float]:
    """The results of every two figures, and of all if there are few, in a unit."""
    for one, other in combinations(there, 2):
        if _are_early_years(one, other) and unit is not None and unit.dimension == "months":
            yield abs(_value(one) - _value(other)) * 12 / unit.factor
        elif one.unit is None and other.unit is None and unit is None:
            yield from (_value(one) + _value(other), abs(_value(one) - _value(other)))
        elif (first := _in(one, unit)) is not None and (last := _in(other, unit)) is not None:
            yield from (first + last, abs(first - last))
    if 2 < len(there) <= HANDFUL and all(each.unit == unit for each in there):
        yield sum(map(_value, there))


def _is_rate(claim: str, fact: Fact, quoted: str) -> bool:
    """True for "14 people a year" if the quote has 2,522 in 2000 and 2,384 in 2010."""
    behind = claim[claim.find(fact.text) + len(fact.text) :]
    there = _figures(quoted)
    if not _YEARLY.match(behind) or not 0 < len(there) <= MANY:
        return False
    years = sorted({int(v[:4]) for each in dates(quoted) for v in each.values if v[:4].isdecimal()})
    spans = {later - earlier for earlier, later in combinations(years, 2)}
    amounts = {abs(_value(one) - _value(other)) for one, other in combinations(there, 2)}
    said = float(fact.values[0])
    near = max(reach(Decimal(fact.values[0])), said * fact.margin)
    return any(abs(amount / span - said) <= near for amount in amounts for span in spans)


def _is_sum_of_all(fact: Fact, quoted: str) -> bool:
    """True if a figure is the sum of all with its unit in a quote, such as the rows of a table."""
    if fact.unit is None or fact.unit.dimension in ("share", "months"):
        return False
    rows = [
        float(figure.values[0])
        for figure in claimed_figures(quoted)
        if (measure := measure_at(quoted, figure.start, figure.end)) and measure.unit == fact.unit
    ]
    said = float(fact.values[0])
    return len(rows) > 2 and abs(sum(rows) - said) <= said * max(fact.margin, EXACT)


def _is_put_for_another(claim: str, fact: Fact, quoted: str) -> bool:
    """True if a figure of the quote is followed by the same words: "eleven Canadian provinces" is
    then not a sum of the nine Canadian provinces and two states.
    """
    behind = _WORDS_BEHIND.match(claim, claim.find(fact.text) + len(fact.text))
    if behind is None:
        return False
    words = behind["words"].casefold()
    return any(
        there is not None and there["words"].casefold() == words
        for figure in claimed_figures(quoted)
        for there in [_WORDS_BEHIND.match(quoted, figure.end)]
    )


def _is_odds(claim: str, fact: Fact, quoted: str) -> bool:
    """True for "One goal in every twelve" if the quote has 11 and 134."""
    there = [_value(each) for each in _figures(quoted)]
    if not 1 < len(there) <= MANY:
        return False
    for match in _ODDS.finditer(claim):
        part, whole = (
            max(values_in(match[name]), default=Decimal(0)) for name in match.groupdict()
        )
        if not 0 < part < whole or Decimal(fact.values[0]) not in (part, whole):
            continue
        odds = float(whole / part)
        near = NEAR * odds
        for one, other in permutations(there, 2):
            if abs(one / other - odds) <= near:
                return True
            gone = other - one  # "one in 18 left" for 2,522 before and 2,384 after
            if gone > 0 and len(there) <= HANDFUL and abs(other / gone - odds) <= near:
                return True
    return False


def _is_beside_a_rank(claim: str, fact: Fact, quoted: str) -> bool:
    """True for "Four were older, two younger" if the quote says the fifth of seven."""
    if fact.unit is not None or not _RANKED.search(claim):
        return False
    said = int(float(fact.values[0]))
    totals = {_value(each) for each in _figures(quoted)}
    return any(said == rank - 1 or said + rank in totals for rank in _ranks(quoted))


@lru_cache(maxsize=256)
def _figures(quoted: str) -> tuple[Fact, ...]:
    """The non-zero figures of a quote, without dates."""
    figures = (fact for fact in facts(quoted) if fact.kind == "figure")
    return tuple(fact for fact in figures if _value(fact))


@lru_cache(maxsize=256)
def _ranks(quoted: str) -> frozenset[int]:
    ranks = (
        int(match["digits"]) if match["digits"] else ordinal_word(match["word"].casefold())
        for match in _ORDINAL.finditer(quoted)
    )
    return frozenset(rank for rank in ranks if rank)


def _value(fact: Fact) -> float:
    return float(fact.values[0])


def _in(fact: Fact, unit: Unit | None) -> float | None:
    """A figure's value in another unit; in its own if that is the same or ``unit`` is None."""
    if fact.unit is None:
        return None
    if unit is None or unit == fact.unit:
        return _value(fact)
    return converted(_value(fact), fact.unit, unit)


def _are_early_years(*both: Fact) -> bool:
    first, last = _EARLY_YEARS
    return all(
        each.unit is None and each.text.isdecimal() and first <= _value(each) < last
        for each in both
    )
