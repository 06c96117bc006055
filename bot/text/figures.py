"""Figures in a text as values: "1,200", "1200", "1.2 thousand" and "twelve hundred" are equal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from bot.text.numerals import (
    CHINESE_NUMBER,
    QUANTITIES,
    SCALES,
    TENS,
    UNITS,
    chinese_number,
    english_number,
    ordinal_word,
    roman_number,
)

HEDGED = 0.1  # relative: the greatest tolerance of "about", "nearly", "more than"


@dataclass(frozen=True, slots=True)
class Figure:
    """The number at ``text[start:end]``; several ``values`` if the notation is ambiguous.

    ``margin`` is how far an exact figure may be from this rounded one, relative to its value.
    """

    start: int
    end: int
    values: tuple[Decimal, ...]
    margin: float = 0.0


_SCALE_WORDS = {
    "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "dozen": 12, "mio": 10**6, "mln": 10**6, "bln": 10**9, "mrd": 10**9, "millionen": 10**6,
    "milliarden": 10**9,
    "tausend": 10**3, "millions": 10**6, "milliards": 10**9, "milliard": 10**9, "mille": 10**3,
    "millones": 10**6, "mil": 10**3,
    "milhões": 10**6, "milioni": 10**6, "miliardi": 10**9,
    "billions": 10**9, "bn": 10**9, "mn": 10**6,
    "千": 10**3, "万": 10**4, "萬": 10**4, "百万": 10**6, "百萬": 10**6,
    "千万": 10**7, "千萬": 10**7,
    "亿": 10**8, "億": 10**8, "万亿": 10**12, "萬億": 10**12, "兆": 10**12,
    "천": 10**3, "만": 10**4, "억": 10**8, "조": 10**12,
}  # fmt: skip
_SUFFIXES = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "bn": 10**9, "mn": 10**6}
_FRACTIONS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"

_NUMBER = re.compile(
    r"(?<![\dA-Za-z\u00c0-\u024f])(?<!\d[.,])"
    r"(?P<number>\d{1,3}(?:[,.'’\u00a0\u202f\u2009 ]\d{3})+(?!\d)(?:[.,]\d+)?"
    r"|\d+(?:\.\d+|(?<!\d{4}),\d+)?)"
    rf"(?P<fraction>[{_FRACTIONS}])?"
    r"(?:(?P<suffix>k|K|m|M|B|bn|mn)\b"
    r"|[\s-]?(?P<scale>(?i:" + "|".join(sorted(_SCALE_WORDS, key=len, reverse=True)) + r"))"
    r"(?![A-Za-zÀ-ÿ]|(?<=千)[克米瓦卡赫伏帕焦字]))?"
    r"(?P<percent>\s?%|\s?per\s?cent)?"
)
_DECIMALS = re.compile(r"(?:\.|,(?!\d{3}$))(\d+)$")
_RANGE = re.compile(r"\s?(?:-|–|—|~|to|and|bis|到|至)\s?")
_LONE_FRACTION = re.compile(f"(?<!\\d)[{_FRACTIONS}]")
_DIGITS = re.compile(r"\d+")
_NUMBER_WORD = "|".join([*UNITS, *TENS, *SCALES])
_WORDS = re.compile(rf"\b(?:{_NUMBER_WORD})(?:(?:[\s-]+|\s+and\s+)(?:{_NUMBER_WORD}))*\b", re.I)
_ANY_WORD = re.compile(r"[A-Za-z]+(?:-[a-z]+)?")
_HEDGE = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.|nearly|almost|over|under|above|below|"
    r"than|least|most|some|up to|close to|circa|ca?\.|etwa|rund|ungefähr|fast|über|environ|"
    r"près de|plus de|unos|cerca de|más de|quasi|oltre)|[~≈>]|大?[约約]|近|超[过過]|逾|[多高]达|"
    r"およそ|약)\s*+(?:[$€£¥]\s*+)?$",
    re.IGNORECASE,
)
_HEDGE_AFTER = re.compile(r"\s?(?:\+|or so\b|or more\b|多|余|餘|左右|以上|以下|ほど|程度|이상|여)")
_COUNTED = re.compile("个(?!别)|倍|名|次(?!次)|年(?!代|级)|日|家(?!庭)|人口|周|小时|岁|座")
_ANAPHORIC = re.compile(
    r"\b(?:the|these|those|other|last|next|all|any|first|final|remaining|its|his|her|their|"
    r"our|one or)\s+$",
    re.IGNORECASE,
)


def claimed_figures(text: str) -> Iterator[Figure]:
    """The figures that a sentence claims.

    Digits that are part of a name ("A320") are excluded. Of number words, ordinals and those that
    refer to something counted before ("the two", "one") are excluded.
    """
    for match in _numbers(text):
        values = _values(match) + _values_in_range(text, match)
        yield Figure(match.start(), match.end(), values, _margin(text, match))
    for match in _WORDS.finditer(text):
        value = english_number(match.group().casefold().replace("-", " ").split())
        before = text[max(0, match.start() - 24) : match.start()]
        if value is None or value < 2 or text[match.end() :].startswith(("-third", "-quarter")):
            continue
        if re.search(r"\d[\s-]$", before) or (value <= 20 and _ANAPHORIC.search(before)):
            continue
        if match.group().casefold() in SCALES:
            continue  # "million" alone, as in "a million" and "hundreds of millions"
        margin = _hedged(Decimal(value)) if _HEDGE.search(before) else 0.0
        yield Figure(match.start(), match.end(), (Decimal(value),), margin)
    for match in CHINESE_NUMBER.finditer(text):
        number = chinese_number(match.group())
        counts = _COUNTED.match(text, match.end()) and match.group() not in "一二两兩千百万亿〇零"
        if number is not None and ((len(match.group()) > 1 and number > 10) or counts):
            before = text[max(0, match.start() - 8) : match.start()]
            if re.search(r"[\d.]\s?$", before) or match.group()[0] in "百千万萬亿億兆":
                continue
            is_hedged = _is_hedged(text, match.start(), match.end())
            margin = _hedged(Decimal(number)) if is_hedged else 0.0
            yield Figure(match.start(), match.end(), (Decimal(number),), margin)


def borne_out(text: str) -> frozenset[Decimal]:
    """Every value that a text may name: generous, so that no true claim is doubted."""
    values: set[Decimal] = set()
    for match in _numbers(text):
        values.update(_values(match))
        values.update(_values_in_range(text, match))
        values.update(_plain_values(match["number"]))
    values.update(Decimal(digits) for digits in _DIGITS.findall(text))
    values.update(Decimal(str(_fraction(sign))) for sign in _LONE_FRACTION.findall(text))
    for match in _WORDS.finditer(text):
        words = match.group().casefold().replace("-", " ").split()
        for part in (words, *([word] for word in words)):
            value = english_number(part)
            if value is not None:
                values.add(Decimal(value))
    for word in _ANY_WORD.findall(text):
        folded = word.casefold()
        if quantity := QUANTITIES.get(folded):
            values.add(Decimal(quantity))
        if ordinal := ordinal_word(folded):
            values.add(Decimal(ordinal))
        if (roman := roman_number(word)) is not None:
            values.add(Decimal(roman))
    for numeral in CHINESE_NUMBER.findall(text):
        for part in (numeral, *numeral):
            if (number := chinese_number(part)) is not None:
                values.add(Decimal(number))
    return frozenset(values)


def is_borne_out(value: Decimal, margin: float, by: frozenset[Decimal]) -> bool:
    """True if a claimed value is among those of a text, or is one of them rounded."""
    if value in by:
        return True
    if not margin:
        return False
    reach = abs(value) * Decimal(str(margin))
    return any(abs(other - value) <= reach for other in by)


LONGEST = 24  # characters of a number: more digits than ``decimal`` calculates with are no figure
ROUNDED = 0.03  # relative: the greatest tolerance of rounding that is not indicated


def reach(value: Decimal, margin: float = 0.0) -> float:
    """The tolerance of a calculated value: half the place of the written value's last digit,
    ignoring trailing zeros.
    """
    if not value:
        return 0.0
    place = float(Decimal(1).scaleb(int(value.normalize().as_tuple().exponent)))
    return max(min(0.501 * place, ROUNDED * abs(float(value))), margin * abs(float(value)))


def _numbers(text: str) -> Iterator[re.Match[str]]:
    """The numbers of a text, but for rows of digits that are too long for a figure."""
    return (match for match in _NUMBER.finditer(text) if len(match["number"]) <= LONGEST)


def _values(match: re.Match[str]) -> tuple[Decimal, ...]:
    values = _plain_values(match["number"])
    if match["fraction"]:
        values = tuple(value + _fraction(match["fraction"]) for value in values)
    scaled = tuple((value * _factor(match)).normalize() for value in values)
    if match["suffix"] == "m":  # metres, or millions
        return scaled + tuple((value * 10**6).normalize() for value in values)
    return scaled


def _values_in_range(text: str, first: re.Match[str]) -> tuple[Decimal, ...]:
    """Further readings of the first number of "3 to 5 million", besides 3."""
    if first["scale"] or first["suffix"] or not (to := _RANGE.match(text, first.end())):
        return ()
    last = _NUMBER.match(text, to.end())
    if last is None or _factor(last) == 1:
        return ()
    return tuple((value * _factor(last)).normalize() for value in _plain_values(first["number"]))


def _plain_values(number: str) -> tuple[Decimal, ...]:
    """Readings of digits and separators: 1,200 is 1200; 1.200 is 1.2 or 1200; 1,5 is 1.5."""
    plain = re.sub(r"['’\u00a0\u202f\u2009 ]", "", number)
    if "," in plain and "." in plain:
        thousands = "," if plain.rfind(",") < plain.rfind(".") else "."
        return (Decimal(plain.replace(thousands, "").replace(",", ".")).normalize(),)
    if plain.count(",") > 1 or re.fullmatch(r"\d{1,3},\d{3}", plain) or plain.count(".") > 1:
        return (Decimal(plain.replace(",", "").replace(".", "")).normalize(),)
    if re.fullmatch(r"\d{1,3}\.\d{3}", plain):
        return (Decimal(plain).normalize(), Decimal(plain.replace(".", "")).normalize())
    return (Decimal(plain.replace(",", ".")).normalize(),)


def _fraction(sign: str) -> Decimal:
    return Decimal(str(round(unicodedata.numeric(sign), 4)))


def _margin(text: str, match: re.Match[str]) -> float:
    """The relative distance that an exact figure may have from this one: half the place of its last
    digit.

    Trailing zeros do not count as digits if the figure is hedged ("about 1,200" may be 1,187); a
    plain whole number ("1,200") is exact.
    """
    values = _values(match)
    decimal = _DECIMALS.search(match["number"])
    place = _factor(match) * 10.0 ** -(len(decimal.group(1)) if decimal else 0)
    if _is_hedged(text, match.start(), match.end()):
        return _hedged(values[0], place)
    is_rounded = match["scale"] or match["suffix"] or decimal or match["percent"]
    if not is_rounded or not values[0] or (match["percent"] and values[0] < 10 and not decimal):
        return 0.0
    return 0.5 * place / float(values[0])


def _hedged(value: Decimal, place: float = 1.0) -> float:
    """The margin of a hedged number."""
    while value and value % Decimal(str(place * 10)) == 0:
        place *= 10
    return min(HEDGED, 0.5 * place / float(value)) if value else 0.0


def _factor(match: re.Match[str]) -> int:
    suffix, scale = match["suffix"] or "", match["scale"] or ""
    return _SUFFIXES.get(suffix) or _SCALE_WORDS.get(scale.casefold(), 1)


def _is_hedged(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 24) : start]
    return bool(_HEDGE.search(before) or _HEDGE_AFTER.match(text, end))
