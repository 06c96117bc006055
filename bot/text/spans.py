"""Spans of time: whether a figure of a sentence is the time between two dates, or an age."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import permutations

from bot.text import figures
from bot.text.dates import dates
from bot.text.facts import Fact
from bot.text.lazy_regex import lazy_regex

LONGEST = 200  # years that a text counts from one date to another
ROUNDED = 0.3  # years; tolerance of "some 19 years apart"
MANY = 30  # dates; between two of so many, nearly any number of years occurs
_DAYS = {"day": 1.0, "天": 1.0, "日": 1.0, "week": 7.0, "周": 7.0, "month": 30.44, "个月": 30.44}
_DAYS["個月"] = _DAYS["个月"]
_UNIT = lazy_regex(
    r"[\s-]{0,2}(?:full |more )?(?P<unit>year|month|decade|week|day)s?\b"
    r"|(?:st|nd|rd|th)?\s(?P<yearly>birthday|anniversary)\b"
    r"|\s?(?P<eastern>个月|個月|[年岁歲周天])",
    re.IGNORECASE,
)
_AGE_BEHIND = lazy_regex(
    r"[\s-]{0,2}(?:or (?:younger|older|\w+)|when|then|and|at (?:his|her|the|their)|in \w+)\b"
    r"|\.?$|,",
    re.IGNORECASE,
)
_AGE_BEFORE = lazy_regex(
    r"(?:\bage[ds]?(?: of)?|\bturn(?:ed|s|ing)|\bat|\bwas|\bonly|\babout|"
    r"\bjust|\baround|\broughly|\bnearly|\balmost|\blived to(?: be)?|\bbetween|\bover|"
    r"year and|\w or|\band|time in|for|相隔|相差)\s?$",
    re.IGNORECASE,
)
_NEARLY = lazy_regex(
    r"\b(?:nearly|almost|less than|under|not quite|within|up to)\s$|(?:近|不到|将近|將近)$",
    re.IGNORECASE,
)
_YEARS_NAMED = lazy_regex(r"\w years?,? [^.;]*$", re.IGNORECASE)  # "for 36 years, as a writer 35"
_NOT_YET = lazy_regex(
    r"\b(?:would have (?:turned|been|reached)|short of|shy of|before (?:turn|reach)ing)\b",
    re.IGNORECASE,
)
_ANNIVERSARY = lazy_regex(r"\b(?:birthday|anniversary|turn(?:ed|s|ing)?)\b", re.IGNORECASE)
_APART = lazy_regex(r"\b(?:apart|some)\b", re.IGNORECASE)
_NEXT_YEAR = lazy_regex(
    r"\b(?:following|next|previous|preceding) year\b|\b(?:a|one) year (?:later|before|earlier)\b"
    r"|\byear (?:before|after)\b|次年|翌年|第二年|前一年|一年[前后後]",
    re.IGNORECASE,
)
_WITHIN = lazy_regex(r"\b(?:in|over|within|of)\s$", re.IGNORECASE)
_REMAINDER = lazy_regex(r"\b(?:months?|years?),? and\s$", re.IGNORECASE)
_AGO = lazy_regex(r"[\s-]{0,2}years? ago\b|\s?多?年前", re.IGNORECASE)


def is_span(claim: str, fact: Fact, quoted: str) -> bool:
    """True if a figure of a claim is the years, months, weeks or days between two dates of it or of
    the quote, or a person's age at one of them.
    """
    at = _place(claim, fact)
    before, behind = claim[:at], claim[at + len(fact.text) :][:20]
    unit = _UNIT.match(behind)
    is_age = _AGE_BEFORE.search(before) or _YEARS_NAMED.search(before)
    if unit is None and not (is_age and _AGE_BEHIND.match(behind[:14])):
        return False
    named, points = _points(claim), _points(f"{quoted}\n{claim}")
    name = (unit["unit"] or unit["eastern"] or "year").lower() if unit else "year"
    is_rest, is_below = _REMAINDER.search(before) is not None, _NEARLY.search(before) is not None
    is_yearly = _ANNIVERSARY.search(claim) is not None
    is_below = is_below or _NOT_YET.search(claim) is not None
    said = float(fact.values[0])
    near = figures.reach(Decimal(fact.values[0]), fact.margin)
    for later, earlier in _pairs(points if len(points) <= MANY else named):
        years = _years(later) - _years(earlier)
        if years < 0:
            continue
        if is_below and 0 <= said - years * _per_year(name) < 1:
            return True
        if name in ("day", "天", "week", "周"):
            days = _days(later, earlier)
            if days is None:
                continue
            size = _DAYS[name]
            if is_yearly and min(days % 365.2425, -days % 365.2425) <= 31:
                days = round(min(days % 365.2425, -days % 365.2425))
            if abs(days / size - said) <= max(1 / size, near):
                return True
            if is_below and 0 <= said - days / size < 1:
                return True
            if is_rest and min(abs(days % month - said) for month in (28, 30, 30.44, 31)) <= 1.5:
                return True
        elif name in ("month", "个月", "個月"):
            is_exact = len(later) > 4 and len(earlier) > 4
            if is_exact and any(abs(12 * years % full - said) <= 1.1 for full in (12, 10**6)):
                return True
        elif name == "decade":
            if abs(years / 10 - said) <= 0.4:
                return True
        elif len(later) == 10 == len(earlier):
            if abs(int(years + 0.002) - said) <= near:
                return True
            if _APART.search(claim) and abs(years - said) <= ROUNDED:
                return True
        else:
            gap = int(later[:4]) - int(earlier[:4])
            fewer = (0, 1, -1) if _WITHIN.search(before) else (0, 1)  # both years counted
            if any(abs(gap - less - said) <= near for less in fewer):
                return True
    return False


def is_ago(claim: str, fact: Fact, quoted: str, years: Sequence[int]) -> bool:
    """True if a figure is the years since a date: "58 years ago, in 1968", stated in 2026."""
    if fact.kind != "figure" or not _AGO.match(claim, _place(claim, fact) + len(fact.text)):
        return False
    told = dates(claim) or dates(quoted)
    then = {int(v[:4]) for each in told for v in each.values if v[:4].isdecimal()}
    near = figures.reach(Decimal(fact.values[0]), fact.margin)
    return any(
        abs(now - less - year - float(fact.values[0])) <= near
        for now in years
        for less in (0, 1)
        for year in then
    )


def is_counted(claim: str, fact: Fact, quoted: str) -> bool:
    """True if a year follows from a year of the quote and a number of years in the claim or the
    quote: "four years later, in 1967", "turned 60 in 2014".
    """
    if fact.kind != "date" or not fact.values[0].isdecimal():
        return False
    counts = {
        int(figure.values[0])
        for text in (claim, quoted)
        for figure in figures.claimed_figures(text)
        if figure.values[0] == int(figure.values[0]) and 0 < figure.values[0] <= LONGEST
        if _UNIT.match(text, figure.end) or _AGE_BEFORE.search(text[: figure.start])
    }
    if _NEXT_YEAR.search(quoted):
        counts.add(1)
    there = {int(point[:4]) for point in _points(quoted) if point[:4].isdecimal()}
    return any(abs(int(fact.values[0]) - year) in counts for year in there)


def _place(claim: str, fact: Fact) -> int:
    """Position of a figure that is not part of a longer one: the 19 of "in 1971, 19 years ago"."""
    found = re.search(rf"(?<!\d){re.escape(fact.text)}(?!\d)", claim)
    return found.start() if found else claim.find(fact.text)


def _points(text: str) -> list[str]:
    """Dates as ``1887``, ``1887-05``, ``1887-05-03``, or ``--05-03`` without a year."""
    found = dict.fromkeys(value for each in dates(text) for value in each.values)
    return [v for v in found if re.fullmatch(r"[012]\d{3}(?:-\d{2}){0,2}|--\d{2}-\d{2}", v)]


def _pairs(points: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every two dates, both ways. One without a year gets the other's if that is a full date."""
    for one, other in permutations(points, 2):
        if one.startswith("-") or other.startswith("-"):
            if min(len(one), len(other)) < 7:
                continue
            year = max(one, other)[:4]
            year = "2001" if year.startswith("-") else year
            one, other = (f"{year}{p[1:]}" if p.startswith("-") else p for p in (one, other))
            if len(one) != 10 or len(other) != 10:
                continue
        yield one, other


def _per_year(unit: str) -> float:
    if unit == "decade":
        return 0.1
    return 365.25 / _DAYS[unit] if unit in _DAYS else 1.0


def _days(later: str, earlier: str) -> int | None:
    """The days between two dates; None if one of them is not a valid date."""
    try:
        return (date.fromisoformat(later) - date.fromisoformat(earlier)).days
    except ValueError:
        return None


def _years(date: str) -> float:
    parts = [int(part) for part in date.split("-")]
    month = parts[1] - 1 if len(parts) > 1 else 0
    day = parts[2] - 1 if len(parts) > 2 else 0
    return parts[0] + month / 12 + day / 372
