"""Figures that a sentence counts or says as a fraction: "three islands: A, B and C", "one in five".

Whether they come from the quote: from a list in it, or from a percentage or a fraction of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from decimal import Decimal
from functools import lru_cache

from bot.text.facts import Fact, values_in
from bot.text.lazy_regex import lazy_regex
from bot.text.numerals import chinese_number, english_number
from bot.text.sentences import sentences

_FRACTION = lazy_regex(r"(?P<count>\w+)[\s-](?P<part>third|quarter|fifth|tenth)s\b", re.IGNORECASE)
_EASTERN_FRACTION = lazy_regex(
    "(?P<whole>[二三四五六七八九十百]+)分之(?P<part>[一二三四五六七八九十]+)"
)
_EASTERN_ONE_IN = lazy_regex(
    "每(?P<of>[一二三四五六七八九十\\d]+).{1,6}有(?P<one>[一二三四五六七八九十\\d]+)"
)
_LISTED = lazy_regex(r",\s(?:and |or )?|\s(?:and|or)\s|;\s")
_ANY_LISTED = lazy_regex(r",\s(?:and |or )?|\s(?:and|or)\s|;\s|[、和与及]")
_EASTERN_LISTED = lazy_regex("[、和与及]")
_EASTERN_CLAUSE = lazy_regex("[，。；：（）]")
MOST_COUNTED = 20
ONE_IN = lazy_regex(
    r"\b(?P<one>\w+) (?:in|out of|\w+ for every)(?: every)? (?P<of>\w+)\b", re.IGNORECASE
)
PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}


def is_count(claim: str, fact: Fact, quoted: str) -> bool:
    """Whether a number in words counts the things that a sentence of the quote lists."""
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
    """ "one in five" of 20%, "nine tenths" of 90%, "four-fifths" of 80%, 60% of "three-fifths"."""
    value = float(fact.values[0])
    if fact.text.endswith(("%", "cent")) and any(abs(f - value) <= 1 for f in _fractions(quoted)):
        return True
    shares = [float(v) for v in known if 0 < v <= 100]
    for match in _FRACTION.finditer(claim):
        if fact.text.casefold() == match["count"].casefold():
            share = 100 * value / PARTS[match["part"].lower()]
            return any(abs(each - share) <= 2 for each in shares)
    for match in (*ONE_IN.finditer(claim), *_EASTERN_ONE_IN.finditer(claim)):
        part = float(max(values_in(match["one"]), default=Decimal(0)))
        whole = float(max(values_in(match["of"]), default=Decimal(0)))
        if whole and value in (whole, part):
            share = 100 * part / whole
            return any(abs(each - share) <= 0.05 * share for each in shares)
    return False


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
