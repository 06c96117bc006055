"""Figures and dates in a text as values.

"1,200", "1200", "1.2 thousand" and "twelve hundred" are equal. The notation of dates is that of
EDTF (Library of Congress, ISO 8601-2): ``1887-05-03``, ``1887-05``, ``1887``, ``--05-03`` and
``--05`` (no year), ``188X`` (the decade), ``XX8X`` (the eighties), ``18XX`` (the century).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from bot.text.patterns import numbered

UNITS = numbered(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen",
    start=0,
)
TENS = {
    word: 10 * tens
    for word, tens in numbered(
        "twenty thirty forty fifty sixty seventy eighty ninety", start=2
    ).items()
}
SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_ORDINALS = numbered(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
    start=1,
)
QUANTITIES = {
    word: value
    for value, words in (
        (1, "once"),
        (2, "twice double doubled both pair couple twin twins"),
        (3, "thrice triple tripled trio"),
        (4, "quartet"),
        (5, "quintet"),
        (10, "decade"),
        (12, "dozen"),
        (25, "quarter"),
        (50, "half"),
        (100, "century"),
    )
    for word in words.split()
}
"""Words that support a number without being one."""

_CHINESE_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
    "兩": 2,
}
_CHINESE_TENS = {"十": 10, "百": 100, "千": 1_000}
_CHINESE_SCALES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
CHINESE_NUMBER = re.compile("[〇零一二两兩三四五六七八九十百千万萬亿億兆]{1,24}")

_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_LETTERS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1_000}


def english_number(words: list[str]) -> int | None:
    """The value of consecutive number words ("two hundred and five"); None if they are none."""
    total = current = 0
    seen = False
    for word in words:
        if word in UNITS or word in TENS:
            current += UNITS.get(word, 0) or TENS.get(word, 0)
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in SCALES:
            total += (current or 1) * SCALES[word]
            current = 0
        elif word == "and" and seen:
            continue
        else:
            return None
        seen = True
    return total + current if seen else None


def ordinal_word(word: str) -> int:
    """The value of "first" to "twenty-ninth"; 0 for other words."""
    tens, _, unit = word.casefold().rpartition("-")
    return TENS.get(tens, 0) + _ORDINALS.get(unit, 0)


def chinese_digits(text: str) -> str:
    """Replace Chinese digits one by one: 二〇一九 → 2019."""
    return "".join(str(_CHINESE_DIGITS.get(character, character)) for character in text)


def chinese_number(text: str) -> int | None:
    """The value of a Chinese or Japanese numeral: 三百二十 → 320, 二〇一九 → 2019."""
    if all(character in _CHINESE_DIGITS for character in text):
        return int(chinese_digits(text)) if text else None
    total = section = digit = 0
    for character in text:
        if character in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[character]
        elif character in _CHINESE_TENS:
            section += (digit or 1) * _CHINESE_TENS[character]
            digit = 0
        elif character in _CHINESE_SCALES:
            total = (total + section + digit or 1) * _CHINESE_SCALES[character]
            section = digit = 0
        else:
            return None
    return total + section + digit


def roman_number(text: str) -> int | None:
    """The value of a Roman numeral in capitals; None if it is not one."""
    if not text or not _ROMAN.fullmatch(text):
        return None
    values = [_ROMAN_LETTERS[letter] for letter in text]
    return sum(
        -value if any(later > value for later in values[i + 1 : i + 2]) else value
        for i, value in enumerate(values)
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


def supported_values(text: str) -> frozenset[Decimal]:
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


def is_figure_borne_out(value: Decimal, margin: float, by: frozenset[Decimal]) -> bool:
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


@dataclass(frozen=True, slots=True)
class DateMention:
    """The date named by ``text[start:end]``; several ``values`` if the notation is ambiguous."""

    start: int
    end: int
    values: tuple[str, ...]


_MONTH_NAMES = (
    "january jan januar jänner janvier enero gennaio janeiro januari",
    "february feb februar février fevrier febrero febbraio fevereiro februari",
    "march mar märz mars marzo março maart",
    "april apr avril abril aprile",
    "may mai mayo maggio maio mei",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août aout agosto augustus",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre diciembre dicembre dezembro",
)
_MONTHS = {name: i for i, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>[0-3]?\d)(?!\d)(?:st|nd|rd|th|er|º|\.)?"
_YEAR = r"(?P<year>[12]\d{3})(?!\d)"
_CHINESE_YEAR = r"(?P<year>[12]\d{3}|[一二][〇零一二三四五六七八九]{3})"

_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![\d.]){_YEAR}[-/.](?P<month>[01]?\d)[-/.](?P<day>[0-3]?\d)(?!\d)",
        rf"(?<![\d.])(?P<day>[0-3]?\d)[./](?P<month>[0-3]?\d)[./]{_YEAR}",
        rf"(?<!\d){_CHINESE_YEAR}\s?[年년](?:\s?(?P<month>[01]?\d)\s?[月월]"
        rf"(?:\s?(?P<day>[0-3]?\d)\s?[日号號일])?)?(?!代)",
        r"(?<!\d)(?P<month>[01]?\d)\s?[月월](?!\s?\d)(?!份)",
        r"(?<!\d)(?P<month>[01]?\d)\s?[月월]\s?(?P<day>[0-3]?\d)\s?[日号號일]",
        rf"(?<![\d.,]){_DAY}(?=\s?(?:[-–]|and|or|to)\s?\d{{1,2}}\s{_MONTH}(?:,?\s{_YEAR})?)",
        rf"(?<![\d.,]){_DAY}\s?(?:of |de )?{_MONTH}(?:,?\s(?:of |del? )?{_YEAR})?",
        rf"\b{_MONTH}\s{_DAY}(?:,?\s{_YEAR})?",
        rf"\b{_MONTH},?\s(?:of |del? )?{_YEAR}",
        rf"(?<=\b[Ii]n\s){_MONTH}(?!\w)",
    )
)
_TWO_DAYS = re.compile(
    rf"\b{_MONTH}\s(?P<first>[0-3]?\d)(?:\s?(?:[-–]|and|or|to)\s?){_DAY},?\s{_YEAR}", re.IGNORECASE
)
_DECADE = re.compile(
    r"(?<!\d)(?P<year>[12]\d{2})0(?:['’]?s\b|\s?年代)|(?<!\d)(?P<early>[1-9]\d)0\s?年代"
)
_CHINESE_DECADE = re.compile(
    r"(?<!\d)(?P<century>[12]?\d|[一二]?十?[一二三四五六七八九十])\s?世[纪紀]\s?(?P<decade>\d0|[一二三四五六七八九]十)\s?年代"
)
_SHORT_DECADE = re.compile(r"(?<!\d)(?P<decade>\d)0(?:s\b|\s?年代)")
_CENTURY = re.compile(
    r"(?<!\d)(?P<number>[12]?\d|[一二]?十[一二三四五六七八九]?)(?:(?:st|nd|rd|th)[\s-]+centur(?:y|ies)|\s?世[纪紀]|\s?세기|\.\s?Jahrhundert)"
    r"|\b(?P<word>(?:twenty-)?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|"
    r"eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|"
    r"nineteenth|twentieth))[\s-]+centur(?:y|ies)",
    re.IGNORECASE,
)
_CENTURIES = re.compile(
    r"(?<!\d)(?P<number>[12]?\d)(?:st|nd|rd|th)"
    r"(?=(?:,| (?:and|or|to)(?: the)?) [12]?\d(?:st|nd|rd|th)[\s-]+centur)",
    re.IGNORECASE,
)
_YEAR_RANGE = re.compile(
    r"(?<![\d.,-])(?P<from>[12]\d{3})\s?(?:[-–—/]|--)\s?(?P<to>\d{2})(?![\d-])"
)
_EARLY_RANGE = re.compile(r"(?<![\d.,-])[(（](?P<from>\d{3})\s?[-–—]\s?(?P<to>\d{3,4})[)）]")
_BARE_YEAR = re.compile(r"(?<![\d.,])(?:1\d{3}|20\d{2})(?![\d%]|[.,]\d)")


@lru_cache(maxsize=512)  # quotes are read again for every figure of every sentence that cites them
def dates(text: str) -> tuple[DateMention, ...]:
    """The dates of a text, in order, not overlapping."""
    taken: list[DateMention] = []
    covered = bytearray(len(text))
    for mention in _candidates(text):
        if mention.values and not any(covered[mention.start : mention.end]):
            covered[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
            taken.append(mention)
    return tuple(sorted(taken, key=lambda mention: mention.start))


def _candidates(text: str) -> Iterator[DateMention]:
    """All readings, the most specific first."""
    for match in _TWO_DAYS.finditer(text):  # August 6 and 9, 1945
        month = _MONTHS[match["month"].casefold()]
        days = (_date_values(match["year"], month, int(match[day])) for day in ("first", "day"))
        yield DateMention(match.start(), match.end(), tuple(v for values in days for v in values))
    for pattern in _DATES:
        for match in pattern.finditer(text):
            yield DateMention(match.start(), match.end(), _calendar_values(match))
    for match in _CHINESE_DECADE.finditer(text):
        century, decade = _ordinal(match["century"]), _ordinal(match["decade"]) // 10
        value = f"{century - 1}{decade}X".zfill(4)
        yield DateMention(match.start(), match.end(), (value,))
    for match in _DECADE.finditer(text):
        short = match["year"] or match["early"].zfill(3)
        yield DateMention(match.start(), match.end(), (f"{short}X",))
    for match in _SHORT_DECADE.finditer(text):
        yield DateMention(match.start(), match.end(), (f"XX{match['decade']}X",))
    for match in _CENTURY.finditer(text):
        number = _ordinal(match["number"]) if match["number"] else ordinal_word(match["word"])
        yield DateMention(match.start(), match.end(), (f"{number - 1:02}XX",))
    for match in _CENTURIES.finditer(text):
        yield DateMention(match.start(), match.end(), (f"{int(match['number']) - 1:02}XX",))
    for match in _YEAR_RANGE.finditer(text):
        first = match["from"]
        yield DateMention(match.start(), match.end("from"), (first,))
        yield DateMention(match.start("to"), match.end(), (first[:2] + match["to"],))
    for match in _EARLY_RANGE.finditer(text):
        for part in ("from", "to"):
            yield DateMention(match.start(part), match.end(part), (match[part].zfill(4),))
    for match in _BARE_YEAR.finditer(text):
        yield DateMention(match.start(), match.end(), (match.group(),))


def _ordinal(written: str) -> int:
    return int(written) if written.isascii() else chinese_number(written) or 0


def _calendar_values(match: re.Match[str]) -> tuple[str, ...]:
    parts = match.groupdict()
    year = chinese_digits(parts["year"]) if parts.get("year") else ""
    month, day = parts.get("month"), parts.get("day")
    if month is None:
        return (year,)
    if not month.isdecimal():
        number = _MONTHS[month.casefold()]
        return _date_values(year, number, int(day) if day else None)
    if day is None:
        return _date_values(year, int(month), None)
    first = _date_values(year, int(month), int(day))
    if match.start("day") < match.start("month"):  # 03/05/1887 is March or May
        return tuple(dict.fromkeys(first + _date_values(year, int(day), int(month))))
    return first


def _date_values(year: str, month: int, day: int | None) -> tuple[str, ...]:
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return ()
    if day is None:
        return (f"{year or '-'}-{month:02}",)
    return (f"{year or '-'}-{month:02}-{day:02}",)


def is_date_borne_out(value: str, by: Collection[str]) -> bool:
    """True if a date follows from other dates of a text.

    It follows from a more exact one (1887 from 1887-05-03, the century from 1887), or from its day
    and its year named separately.
    """
    if value in by:
        return True
    if value.startswith("XX"):
        return any(other[2:3] == value[2] for other in by)
    if value.endswith("X") and f"XX{value[2]}X" in by:
        return True
    if value.endswith("0X") and f"{value[:2]}XX" in by:
        return True  # "the 1500s" may be the 16th century
    if "X" in value:
        return any(other.startswith(value.rstrip("X")) for other in by)
    if value.startswith("--"):
        return any(other.endswith(value[1:]) and len(other) == 10 for other in by)
    if len(value) == 7 and f"--{value[5:]}" in by and any(o.startswith(value[:4]) for o in by):
        return True
    if len(value) == 10:
        return f"-{value[4:]}" in by and any(other.startswith(value[:4]) for other in by)
    return any(other.startswith(value) for other in by)
