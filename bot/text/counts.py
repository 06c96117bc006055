"""Counts and fractions stated in a sentence: "three islands: A, B and C", "one in five".

Checks whether they follow from the quote: from a list in it, or from a percentage or fraction.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise, permutations

from bot.text import figures
from bot.text.facts import Fact, values_in
from bot.text.lazy_regex import lazy_regex
from bot.text.numerals import chinese_number, english_number
from bot.text.sentences import sentences
from bot.text.units import measure_at

_FRACTION = lazy_regex(
    r"(?P<count>\w{1,40})[\s-](?P<part>third|quarter|fifth|tenth)s\b", re.IGNORECASE
)
_EASTERN_FRACTION = lazy_regex(
    "(?P<whole>[二三四五六七八九十百]{1,12})分之(?P<part>[一二三四五六七八九十]+)"
)
_EASTERN_ONE_IN = lazy_regex(
    "每(?P<of>[一二三四五六七八九十\\d]+).{1,6}有(?P<one>[一二三四五六七八九十\\d]+)"
)
_LISTED = lazy_regex(r",\s(?:and |or )?|\s(?:and|or)\s|;\s")
_ANY_LISTED = lazy_regex(r",\s(?:and |or )?|\s(?:and|or)\s|;\s|[、和与及]")
_EASTERN_LISTED = lazy_regex("[、和与及]")
_EASTERN_CLAUSE = lazy_regex("[，。；：（）]")
MOST_COUNTED = 20
FEW = 12  # a smaller figure is a fraction of too many others
MANY = 30  # figures of a quote; two of so many make nearly any fraction
NEXT = 6  # characters between the parts of "2 hours and 22 minutes"
EXACT = 0.01  # relative: tolerance for a fraction or a length in two units
ONE_IN = lazy_regex(
    r"\b(?P<one>\w+) (?:in|out of|\w+ for every)(?: every)? (?P<of>\w+)\b", re.IGNORECASE
)
PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}


def is_count(claim: str, fact: Fact, quoted: str) -> bool:
    """True if a number in words counts the things that a sentence of the quote lists."""
    count = float(fact.values[0])
    things = claim[claim.find(fact.text) + len(fact.text) :][:2]
    if 2 <= count <= MOST_COUNTED and fact.unit is None:
        named = re.split("[:(：（]", claim)[1:]  # "two are islands: A and B"
        if any(len(_ANY_LISTED.split(each)) == count for each in named):
            return True
    is_count = fact.text.isalpha() and fact.unit is None and things.strip().isalpha()
    if not is_count or not 2 <= count <= MOST_COUNTED:
        return False
    counts = [n for word in claim.casefold().split() if (n := english_number([word.strip("(),.")]))]
    if len(counts) > 2 and sum(counts) == 2 * count:
        return True  # "four children (one son and three daughters)"
    for text in (quoted, claim):
        for each in sentences(text):
            parts = _LISTED.split(text[each.start : each.end])
            if len(parts) > 2 and count in (len(parts), len(parts) - 1):
                return True
    clauses = (clause for text in (quoted, claim) for clause in _EASTERN_CLAUSE.split(text))
    return any(len(_EASTERN_LISTED.split(clause)) == count for clause in clauses)


def is_fraction(claim: str, fact: Fact, quoted: str, known: Collection[Decimal]) -> bool:
    """True for "one in five" if the quote has 20%, and the like: "nine tenths" for 90%,
    "four-fifths" for 80%, 60% for "three-fifths".
    """
    value = float(fact.values[0])
    if fact.text.endswith(("%", "cent")) and any(abs(f - value) <= 1 for f in _fractions(quoted)):
        return True
    shares = [float(v) for v in known if 0 < v <= 100]
    for match in _FRACTION.finditer(claim):
        if fact.text.casefold() == match["count"].casefold():
            share = 100 * value / PARTS[match["part"].lower()]
            part = share / 100  # "three quarters" if the quote has 300 and 400
            pairs = (
                permutations((float(v) for v in known if v > FEW), 2) if len(known) < MANY else ()
            )
            return any(abs(each - share) <= 2 for each in shares) or any(
                abs(one - part * other) <= EXACT * other for one, other in pairs
            )
    for match in (*ONE_IN.finditer(claim), *_EASTERN_ONE_IN.finditer(claim)):
        part = float(max(values_in(match["one"]), default=Decimal(0)))
        whole = float(max(values_in(match["of"]), default=Decimal(0)))
        if whole and value in (whole, part):
            share = 100 * part / whole
            return any(abs(each - share) <= 0.05 * share for each in shares)
    return False


def is_compound(claim: str, fact: Fact, quoted: str) -> bool:
    """True if a figure belongs to a quantity in two units that the quote has in one, or vice versa:
    "2 hours and 22 minutes" for 142 minutes, 2.11 metres for "6 feet 11 inches".
    """
    if fact.unit is None:
        return False
    for one, other in ((claim, quoted), (quoted, claim)):
        there = [each.size for each in _sizes(other) if each.dimension == fact.unit.dimension]
        for large, small in pairwise(_sizes(one)):
            is_one = large.dimension == small.dimension == fact.unit.dimension
            is_one = is_one and large.factor > small.factor and small.start - large.end <= NEXT
            is_told = one is quoted or fact.text in (large.text, small.text)
            whole = large.size + small.size
            if is_one and is_told and any(abs(each - whole) <= EXACT * whole for each in there):
                return True
    return False


@dataclass(frozen=True, slots=True)
class _Size:
    """A quantity ``text``, the end of its unit, and its size in the base unit."""

    text: str
    start: int
    end: int
    dimension: str
    factor: float
    size: float


@lru_cache(maxsize=512)
def _sizes(text: str) -> tuple[_Size, ...]:
    found = []
    for figure in figures.claimed_figures(text):
        measure = measure_at(text, figure.start, figure.end)
        if measure is not None:
            unit, written = measure.unit, text[figure.start : figure.end]
            size = float(figure.values[0]) * unit.factor
            found.append(
                _Size(written, figure.start, measure.end, unit.dimension, unit.factor, size)
            )
    return tuple(found)


@lru_cache(maxsize=256)
def _fractions(text: str) -> tuple[float, ...]:
    """The fractions that a text names in words, as percentages."""
    found = []
    for match in _FRACTION.finditer(text):
        if count := max(values_in(match["count"]), default=Decimal(0)):
            found.append(100 * float(count) / PARTS[match["part"].lower()])
    for match in _EASTERN_FRACTION.finditer(text):
        whole, part = chinese_number(match["whole"]), chinese_number(match["part"])
        if whole and part:
            found.append(100 * part / whole)
    return tuple(found)
