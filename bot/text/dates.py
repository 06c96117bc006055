"""Finds dates in a text and converts them to one notation.

The notation is that of EDTF (Library of Congress, ISO 8601-2): ``1887-05-03``, ``1887-05``,
``1887``, ``--05-03`` and ``--05`` (no year), ``188X`` (the decade), ``XX8X`` (the eighties),
``18XX`` (the century).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from bot.text.numerals import chinese_digits, chinese_number, ordinal_word


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
        days = (_value(match["year"], month, int(match[day])) for day in ("first", "day"))
        yield DateMention(match.start(), match.end(), tuple(v for values in days for v in values))
    for pattern in _DATES:
        for match in pattern.finditer(text):
            yield DateMention(match.start(), match.end(), _calendar_values(match))
    for match in _CHINESE_DECADE.finditer(text):
        century, decade = _number(match["century"]), _number(match["decade"]) // 10
        value = f"{century - 1}{decade}X".zfill(4)
        yield DateMention(match.start(), match.end(), (value,))
    for match in _DECADE.finditer(text):
        short = match["year"] or match["early"].zfill(3)
        yield DateMention(match.start(), match.end(), (f"{short}X",))
    for match in _SHORT_DECADE.finditer(text):
        yield DateMention(match.start(), match.end(), (f"XX{match['decade']}X",))
    for match in _CENTURY.finditer(text):
        number = _number(match["number"]) if match["number"] else ordinal_word(match["word"])
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


def _number(written: str) -> int:
    return int(written) if written.isascii() else chinese_number(written) or 0


def _calendar_values(match: re.Match[str]) -> tuple[str, ...]:
    parts = match.groupdict()
    year = chinese_digits(parts["year"]) if parts.get("year") else ""
    month, day = parts.get("month"), parts.get("day")
    if month is None:
        return (year,)
    if not month.isdecimal():
        number = _MONTHS[month.casefold()]
        return _value(year, number, int(day) if day else None)
    if day is None:
        return _value(year, int(month), None)
    first = _value(year, int(month), int(day))
    if match.start("day") < match.start("month"):  # 03/05/1887 is March or May
        return tuple(dict.fromkeys(first + _value(year, int(day), int(month))))
    return first


def _value(year: str, month: int, day: int | None) -> tuple[str, ...]:
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return ()
    if day is None:
        return (f"{year or '-'}-{month:02}",)
    return (f"{year or '-'}-{month:02}-{day:02}",)


def is_borne_out(value: str, by: Collection[str]) -> bool:
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
