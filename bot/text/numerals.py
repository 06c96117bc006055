"""Numbers written as words: English, and the numerals of Chinese and Japanese."""

from __future__ import annotations

import re

from bot.text.listed import numbered

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
