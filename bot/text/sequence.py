"""Order of events, causes, dates of a life and kinds that a sentence states unlike its quote.

"Before" and "after" are compared with those of the quote, and with the years of the events;
"because" needs a reason that is in the quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from bot.text.dates import dates
from bot.text.lazy_regex import lazy_regex
from bot.text.listed import listed
from bot.text.names import family
from bot.text.sentences import sentences
from bot.text.terms import keywords, terms

FEWEST = 2  # words that one side of "before" must share with one side of another
TOLD = 0.7  # share of an event's words in a clause that dates it
ABSENT = 0.7  # share of a reason's words that are not in the quote
_AFTER = r"(?:after|following|upon|since|once|succeed\w*|replac\w*)"
_JOINED = (
    # left first: "A before B", "A, followed by B", "first A, then B"
    (lazy_regex(r"^(.+?)[,;]? (?:before|until|prior to|ahead of|earlier than) (.+)$", re.I), True),
    (lazy_regex(r"^before (.+?), (.+)$", re.I), False),
    (
        lazy_regex(
            r"^(.+?)[,;]? (?:and|but)? ?(?:then|later|afterwards|subsequently|followed by) (.+)$",
            re.I,
        ),
        True,
    ),
    (lazy_regex(r"^(.+?) (?:first|first,) and (.+)$", re.I), True),
    (lazy_regex(r"^(?:after|following|once|when) (.+?), (.+)$", re.I), True),
    (lazy_regex(r"^(.+?)[,;]? (?:after|following|preceded by|later than|upon) (.+)$", re.I), False),
)
_SPANS = listed("year month week dai day decad")
_CLAUSE = lazy_regex(r"[.;,。；，](?!\d)|\band\b|\bbut\b")
_LAST = lazy_regex(r"[,;] |\band ")
_NEXT = lazy_regex(r"[,;](?! \w+ing\b) ")
_TIMELY = lazy_regex(
    r"\b(?:before|after|until|prior|following|followed|preceded|then|later|first|upon|once|since|"
    r"afterwards|subsequently|earlier|when)\b",
    re.IGNORECASE,
)
_BECAUSE = lazy_regex(
    r"\b(?:because(?: of)?|due to|owing to|thanks to|as a result of|caused by|on account of) (.+)$",
    re.IGNORECASE,
)
_BORN = lazy_regex(r"\bborn\b", re.IGNORECASE)
_DIED = lazy_regex(r"\b(?:died|death|dies)\b", re.IGNORECASE)
_LIFE = lazy_regex(r"[(（]([^()（）]{0,120}?)\s?[–—-]\s?([^()（）]{0,80}?)[)）]")
_KINDS = tuple(
    tuple(pair.split("/"))
    for pair in listed(
        "public/private left/right upper/lower inner/outer internal/external wider/narrower "
        "underground/elevated northern/southern eastern/western newest/oldest younger/older "
        "youngest/oldest youngest/eldest younger/elder elder/younger maternal/paternal "
        "permanent/temporary manual/automatic manually/automatically active/passive "
        "primary/secondary easy/difficult easily/hardly ancient/modern minor/major "
        "northeast/southwest northwest/southeast northern/eastern fast/slow faster/slower "
        "deep/shallow deeper/shallower heavier/lighter stronger/weaker high/low male/female "
        "civil/military domestic/foreign full/empty wet/dry single/double up/down "
        "live/studio leading/supporting lead/supporting "
        "above/below inside/outside horizontal/vertical "
        "elder/younger later/earlier start/end starts/ends"
    )
)


@dataclass(frozen=True, slots=True)
class _Order:
    """Two events by their words, the earlier one first."""

    earlier: frozenset[str]
    later: frozenset[str]
    first_text: str
    second_text: str


def out_of_order(claim: str, quoted: str) -> str:
    """The first words of a claim that contradict its quote on order, cause, date or kind; or ""."""
    return (
        _other_order(claim, quoted)
        or _other_cause(claim, quoted)
        or _other_date(claim, quoted)
        or _other_kind(claim, quoted)
    )


# ---------------------------------------------------------------- before and after


def _other_order(claim: str, quoted: str) -> str:
    mine = next(_orders(claim), None)
    if mine is None:
        return ""
    joined = _TIMELY.search(claim)
    said = joined.group() if joined else ""
    for theirs in _orders_in(quoted):
        same = _common(mine.earlier, theirs.earlier) + _common(mine.later, theirs.later)
        one, other = _common(mine.earlier, theirs.later), _common(mine.later, theirs.earlier)
        if one and other and one + other >= FEWEST and one + other > 2 * same:
            return said
    years = [_year(side, quoted) for side in (mine.first_text, mine.second_text)]
    if years[0] is not None and years[1] is not None and years[0] > years[1]:
        return said
    return ""


def _common(one: frozenset[str], other: frozenset[str]) -> int:
    return len(one & other)


def _orders(sentence: str) -> Iterator[_Order]:
    text = sentence.strip().rstrip(".")
    for pattern, left_is_first in _JOINED:
        match = pattern.match(text)
        if match is None:
            continue
        left, right = _LAST.split(match[1])[-1], _NEXT.split(match[2])[0]
        if not left_is_first:
            left, right = right, left
        one, other = _event_words(left), _event_words(right)
        if one - other and other - one:
            yield _Order(one - other, other - one, left, right)


def _event_words(side: str) -> frozenset[str]:
    """The words of an event, without years and spans, which may be on both sides."""
    return frozenset(word for word in keywords(side) if not (word.isdecimal() or word in _SPANS))


@lru_cache(maxsize=256)
def _orders_in(quoted: str) -> tuple[_Order, ...]:
    found: list[_Order] = []
    for each in sentences(quoted):
        said = quoted[each.start : each.end]
        if len(said) < 400 and _TIMELY.search(said):
            found += _orders(said)
    return tuple(found)


def _year(side: str, quoted: str) -> int | None:
    """The year of an event: its own, or that of the clause of the quote that mentions it."""
    if len(own := _years(side)) == 1:
        return own.pop()
    words = frozenset(keywords(side))
    found = {
        year
        for clause, years in _dated(quoted)
        for year in years
        if words and len(words & clause) >= TOLD * len(words)
    }
    return found.pop() if len(found) == 1 else None


def _years(text: str) -> set[int]:
    return {int(v[:4]) for each in dates(text) for v in each.values if v[:4].isdecimal()}


@lru_cache(maxsize=256)
def _dated(quoted: str) -> tuple[tuple[frozenset[str], tuple[int, ...]], ...]:
    """The clauses of a quote that contain a year: their words and years."""
    found = []
    for clause in _CLAUSE.split(quoted):
        if years := _years(clause):
            found.append((frozenset(terms(clause)), tuple(years)))
    return tuple(found)


# ---------------------------------------------------------------- causes


def _other_cause(claim: str, quoted: str) -> str:
    match = _BECAUSE.search(claim)
    if match is None:
        return ""
    words = list(keywords(match[1]))
    there = frozenset(terms(quoted))
    if not words:
        return ""
    absent = [word for word in words if word not in there and family(word).isdisjoint(there)]
    rest = frozenset(keywords(claim[: match.start()]))
    if len(absent) >= ABSENT * len(words) and len(rest & there) >= 0.5 * len(rest):
        return match.group()[: match.group().find(match[1])].strip()
    return _turned_cause(claim[: match.start()], match[1], quoted)


def _turned_cause(effect: str, reason: str, quoted: str) -> str:
    """Detect "defeated because he abdicated" where the quote has "abdicated upon the defeat"."""
    one, other = frozenset(keywords(effect)), frozenset(keywords(reason))
    one, other = one - other, other - one
    for theirs in _orders_in(quoted):
        same = _common(other, theirs.earlier) + _common(one, theirs.later)
        turned = _common(one, theirs.earlier), _common(other, theirs.later)
        if all(turned) and sum(turned) >= FEWEST and sum(turned) > 2 * same:
            return "because"
    return ""


# ---------------------------------------------------------------- dates of a life


def _other_date(claim: str, quoted: str) -> str:
    """A date of birth given as that of death, or vice versa."""
    mine = _whole_dates(claim)
    is_born, is_died = _BORN.search(claim) is not None, _DIED.search(claim) is not None
    if is_born == is_died or len(mine) != 1:
        return ""
    for match in _LIFE.finditer(quoted):
        births, deaths = _whole_dates(match[1]), _whole_dates(match[2])
        wrong, right = (deaths, births) if is_born else (births, deaths)
        if mine & wrong and right and not mine & right:
            said = dates(claim)[0]
            return claim[said.start : said.end]
    return ""


def _whole_dates(text: str) -> set[str]:
    return {value for each in dates(text) for value in each.values if value[:4].isdecimal()}


# ---------------------------------------------------------------- kinds


def _other_kind(claim: str, quoted: str) -> str:
    """Detect "public subnets" where the quote has "private subnets" and no public ones."""
    lowered, said = claim.casefold(), quoted.casefold()
    for one, other in _KINDS:
        for mine, theirs in ((one, other), (other, one)):
            for match in re.finditer(rf"\b{mine}[\s-]+([a-z]+)", lowered):
                noun = re.escape(match[1])
                if len(match[1]) < 3 or re.search(rf"\b{mine}[\s-]+{noun}", said):
                    continue
                if re.search(rf"\b{theirs}[\s-]+{noun}\b", said) and not re.search(
                    rf"\b{theirs}[\s-]+{noun}\b", lowered
                ):
                    return match.group()
    return ""
