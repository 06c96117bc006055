"""Figures, dates and names that a sentence claims, and those that a text does not support.

Used to tell a reader which sentences of an answer their quotes do not support, so doubting a true
claim is as bad as missing a false one. If a notation is ambiguous or a form can be derived (French
from France, 1880s from 1887, 1.2 million from 1,234,567), the claim gets the benefit of the doubt.

Units are a table of our own instead of ``pint`` 0.25, which takes 0.27 seconds to load (measured),
knows no Chinese names and does not support how pages garble units ("km" if the exponent was lost).
Factors are those of NIST SP 811, appendix B. Currencies are recognized, but never converted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from bot.text.figures import (
    DateMention,
    claimed_figures,
    dates,
    is_date_borne_out,
    is_figure_borne_out,
    reach,
    supported_values,
)
from bot.text.language import detect
from bot.text.names import NamesIn, names
from bot.text.patterns import listed
from bot.text.struck import without_struck

# One line for each unit: dimension, factor to its base unit, then its spellings,
# which are case-sensitive.
_TABLE = """
length 1e-9 nm nanometre nanometer nanometres nanometers 纳米
length 1e-6 µm μm micrometre micrometer micrometres micrometers micron microns 微米
length 0.001 mm millimetre millimeter millimetres millimeters 毫米
length 0.01 cm centimetre centimeter centimetres centimeters 厘米 公分
length 1 m metre meter metres meters 米 公尺
length 1000 km kilometre kilometer kilometres kilometers 公里 千米
length 0.0254 inch inches 英寸
length 0.3048 ft foot feet 英尺
length 0.9144 yd yard yards 码
length 1609.344 mi mile miles 英里
length 1852 nmi 海里
length 500 里
area 1 m2 m² sqm 平方米 平米
area 1e6 km2 km² 平方公里 平方千米
area 0.0001 cm2 cm² 平方厘米
area 10000 ha hectare hectares 公顷
area 4046.8564224 acre acres 英亩
area 666.6667 亩
area 0.09290304 ft2 ft² 平方英尺
area 0.83612736 yd2 yd²
area 2589988.110336 mi2 mi² 平方英里
volume 0.001 L l litre liter litres liters 升 公升
volume 1e-6 ml mL millilitre milliliter millilitres milliliters 毫升
volume 1 m3 m³ 立方米
volume 1e9 km3 km³ 立方公里 立方千米
volume 0.003785411784 gallon gallons 加仑
mass 0.001 g gram grams 克
mass 1e-6 mg milligram milligrams 毫克
mass 1 kg kilogram kilograms kilo kilos 千克 公斤
mass 0.5 斤
mass 1000 t tonne tonnes 吨 公吨
mass 907.18474 ton tons
mass 0.45359237 lb lbs pound pounds 磅
mass 0.028349523125 oz ounce ounces 盎司
energy 1 J joule joules 焦耳
energy 1000 kJ kilojoule kilojoules 千焦
energy 1e6 MJ
energy 1e9 GJ
energy 1e12 TJ
energy 3.6e6 kWh 千瓦时
energy 3.6e9 MWh 兆瓦时
energy 3.6e12 GWh 吉瓦时
energy 3.6e15 TWh 太瓦时
energy 4.184e12 kt kiloton kilotons 千吨
energy 4.184e15 Mt megaton megatons 百万吨
power 1 W watt watts 瓦
power 1000 kW kilowatt kilowatts 千瓦
power 1e6 MW megawatt megawatts 兆瓦
power 1e9 GW gigawatt gigawatts 吉瓦
power 1e12 TW terawatt terawatts
time 0.001 ms millisecond milliseconds 毫秒
time 1 s second seconds 秒 秒钟
time 60 min minute minutes 分钟
time 3600 h hour hours 小时
time 86400 day days 天 日
time 604800 week weeks 周 星期
months 1 month months 个月
months 12 year years 年
months 120 decade decades
months 1200 century centuries
data 1 B byte bytes 字节
data 1e3 kB KB kilobyte kilobytes
data 1e6 MB megabyte megabytes
data 1e9 GB gigabyte gigabytes
data 1e12 TB terabyte terabytes
data 1e15 PB petabyte petabytes
data 1024 KiB
data 1048576 MiB
data 1073741824 GiB
data 1099511627776 TiB
frequency 1 Hz hertz 赫兹
frequency 1e3 kHz
frequency 1e6 MHz
frequency 1e9 GHz
speed 0.277777778 km/h kmh kph km_/_h 公里/小时
speed 0.44704 mph
temperature 1 °C degrees_Celsius degrees_celsius 摄氏度
temperature 0.5555556 °F degrees_Fahrenheit degrees_fahrenheit 华氏度
share 1 % percent 百分点
usd 1 USD dollar dollars 美元
eur 1 EUR € euro euros 欧元
gbp 1 GBP £ 英镑
nok 1 NOK 挪威克朗
sek 1 SEK 瑞典克朗
dkk 1 DKK
chf 1 CHF 瑞士法郎
cny 1 CNY RMB 元 人民币
jpy 1 JPY yen 日元
pln 1 PLN 兹罗提
"""
_CONVERTED = frozenset(
    listed("length area volume mass energy power time months data frequency speed temperature")
)
MONTH = 365.2425 / 12 * 86_400  # seconds
_POWERS = {"square": "2", "sq": "2", "sq.": "2", "cubic": "3"}


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its dimension, and its size in that dimension's base unit."""

    dimension: str
    factor: float


def _units() -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    for row in _TABLE.strip().splitlines():
        dimension, factor, *written = row.split()
        names = (name.replace("_", " ") for name in written)
        found.update(dict.fromkeys(names, Unit(dimension, float(factor))))
    return found


_UNITS = _units()
_UNIT_NAMES = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_BEHIND = re.compile(
    r"[\s\u00a0-]{0,3}(?:additional |more |further |imperial |US |U\.S\. |metric |nautical )?"
    r"(?P<power>square |cubic |sq\.? )?"
    rf"(?P<name>{_UNIT_NAMES})(?P<per>/\w+|\s?/\s?[秒时]|\s?per\s\w+)?(?![A-Za-z²³])"
)
_BEFORE = re.compile(r"(?:(?P<sign>[$€£])|\b(?P<code>USD|EUR|GBP|NOK|SEK|DKK|CHF|CNY|JPY|PLN))\s?$")
_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP"}
_RANGE = re.compile(r"\s?(?:-|–|—|~|to|and|or|by|到|至)\s?\d[\d,.]*")


@dataclass(frozen=True, slots=True)
class Measure:
    """The unit of a figure and where it is written; ``end`` is that of the figure if the unit
    precedes it.
    """

    unit: Unit
    start: int
    end: int


def measure_at(text: str, start: int, end: int) -> Measure | None:
    """The unit of the figure ``text[start:end]``; None if it has no known unit.

    The first figure of a range ("20 to 30 km") has the unit of the last.
    """
    if text[start:end].rstrip().endswith(("%", "cent")):
        return Measure(_UNITS["%"], end, end)
    if before := _BEFORE.search(text, max(0, start - 6), start):
        code = _SIGNS[before["sign"]] if before["sign"] else before["code"]
        return Measure(_UNITS[code], before.start(), end)
    behind = _BEHIND.match(text, end)
    if behind is None and (to := _RANGE.match(text, end)):
        behind = _BEHIND.match(text, to.end())
    if behind is None:
        return None
    unit = _UNITS[behind["name"]]
    if power := _POWERS.get((behind["power"] or "").strip()):
        unit = _raised(unit, power)
    if behind["per"] and f"{behind['name']}{behind['per']}" not in _UNITS:
        unit = Unit(f"{unit.dimension} per", unit.factor)
    return Measure(unit, behind.start("power" if behind["power"] else "name"), behind.end())


def same_unit(claimed: Unit, written: Unit) -> bool:
    """True if two units are the same. Pages lose exponents: "km" may mean square kilometres."""
    if claimed.dimension.removesuffix(" per") == written.dimension.removesuffix(" per"):
        return abs(claimed.factor - written.factor) <= 0.2 * claimed.factor  # tons and tonnes
    if written.dimension == "length" and claimed.dimension in ("area", "volume"):
        power = 2 if claimed.dimension == "area" else 3
        return abs(claimed.factor - written.factor**power) <= 0.01 * claimed.factor
    return False


def converted(value: float, written: Unit, claimed: Unit) -> float | None:
    """Convert a value to another unit; None if that is impossible."""
    if written.dimension == "temperature" == claimed.dimension and written != claimed:
        return (value - 32) / 1.8 if written.factor != 1 else value * 1.8 + 32
    if {written.dimension, claimed.dimension} == {"time", "months"}:
        month = MONTH if written.dimension == "months" else 1 / MONTH
        return value * written.factor * month / claimed.factor
    if written.dimension != claimed.dimension or written.dimension not in _CONVERTED:
        return None
    return value * written.factor / claimed.factor


def _raised(unit: Unit, power: str) -> Unit:
    if unit.dimension != "length":
        return unit
    return Unit("area" if power == "2" else "volume", unit.factor ** int(power))


FactKind = Literal["figure", "date", "name"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure, date or name as written (``text``) and in a normalized form (``values``).

    The ``values`` of a figure are decimal numbers and of a date EDTF strings, several if the
    notation is ambiguous; those of a name are its significant words, folded. ``margin`` is how far
    an exact figure may differ, relative to this one. ``language`` is that of the sentence, ``unit``
    that of a figure.
    """

    kind: FactKind
    text: str
    values: tuple[str, ...]
    margin: float = 0.0
    language: str = "en"
    unit: Unit | None = None


# Parts of a sentence without facts: links, code, footnote marks, the mark of a list item.
_SILENT = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\(https?://[^)\s]*\)|https?://\S+"
    r"|(?<!\[)\[++\d{1,3}(?:, ?\d{1,3})*\]+|【\d{1,3}】|(?m:^[^\S\n]*+(?:\d{1,3}[.)]|[-*+•])\s)",
    re.DOTALL,
)
# Asterisks between Latin letters or digits mean multiplication: 2000*1024 is not 20001024.
_EMPHASIS = re.compile(
    r"\*+(?![A-Za-z0-9\u00c0-\u024f(])|(?<![A-Za-z0-9\u00c0-\u024f)\]])\*+|(?<!\w)_+|_+(?!\w)|~~"
)


def facts(sentence: str) -> Sequence[Fact]:
    """The facts that a sentence claims, by kind (dates, figures, names) and position, each once.

    Months alone, weekdays, and words capitalized only at the start of a sentence are not facts, nor
    are numbers up to twenty that refer back ("the two").
    """
    sentence = without_struck(sentence)
    text = _EMPHASIS.sub("", _SILENT.sub(lambda match: " " * len(match.group()), sentence))
    language = detect(text)
    taken = bytearray(len(text))
    found: list[Fact] = []
    for date in dates(text):
        if text[date.start : date.end].isdecimal() and _is_measured(text, date):
            continue  # 1204 feet
        taken[date.start : date.end] = b"\1" * (date.end - date.start)
        if len(date.values[0]) > 4 or date.values[0][0] != "-":  # a month alone says little
            written = text[date.start : date.end].strip()
            found.append(Fact("date", written, date.values, language=language))
    for figure in claimed_figures(text):
        if not any(taken[figure.start : figure.end]):
            taken[figure.start : figure.end] = b"\1" * (figure.end - figure.start)
            values = tuple(f"{value:f}" for value in figure.values)
            measure = measure_at(text, figure.start, figure.end)
            if measure is not None:  # a unit is not a name
                taken[measure.start : measure.end] = b"\1" * (measure.end - measure.start)
            unit = None if measure is None else measure.unit
            written = text[figure.start : figure.end].strip()
            found.append(Fact("figure", written, values, figure.margin, language, unit))
    for name in names(text, language, bytes(taken)):
        written = text[name.start : name.end].strip()
        found.append(Fact("name", written, name.words, language=language))
    once = {(fact.kind, fact.values, fact.unit): fact for fact in reversed(found)}
    return tuple(once.values())[::-1]


def missing_from(claimed: Iterable[Fact], text: str) -> list[Fact]:
    """The facts that a text does not support, in their order.

    Names in a script or language other than the text's count as supported: they cannot be compared.
    """
    support = _support(text)
    return [fact for fact in claimed if not support.bears_out(fact)]


def _is_measured(text: str, date: DateMention) -> bool:
    measure = measure_at(text, date.start, date.end)
    return measure is not None and measure.unit.dimension not in ("months", "time", "length per")


@lru_cache(maxsize=512)
def values_in(text: str) -> frozenset[Decimal]:
    """Every value of a figure or year that a text supports."""
    return supported_values(text)


class _Support:
    """The figures, dates and names of a text, extracted once to check claims against."""

    def __init__(self, text: str) -> None:
        text = without_struck(text)
        self._language = detect(text)
        self._dates = frozenset(value for date in dates(text) for value in date.values)
        self._figures = supported_values(text)
        self._names = NamesIn(text)
        self._measures = [
            (figure, measure.unit if measure else None)
            for figure in claimed_figures(text)
            for measure in [measure_at(text, figure.start, figure.end)]
        ]

    def bears_out(self, fact: Fact) -> bool:
        if fact.kind == "date":
            return any(self._has_date(value) for value in fact.values)
        if fact.kind == "figure":
            return self._is_foreign_word(fact) or any(
                self._has_figure(Decimal(value), fact) for value in fact.values
            )
        is_foreign = fact.language != self._language
        return is_foreign or self._names.bear_out(fact.values, fact.text)

    def _has_date(self, value: str) -> bool:
        if is_date_borne_out(value, self._dates):
            return True
        return value.isdecimal() and Decimal(value) in self._figures

    def _has_figure(self, value: Decimal, fact: Fact) -> bool:
        """True if the text has a figure in the same unit or one that converts to it."""
        if is_figure_borne_out(value, fact.margin, self._figures):
            theirs = [
                unit
                for figure, unit in self._measures
                if is_figure_borne_out(value, fact.margin, frozenset(figure.values))
            ]
            if fact.unit is None or not theirs:
                return True
            if any(unit is None or same_unit(fact.unit, unit) for unit in theirs):
                return True
        if fact.unit is None:
            return False
        near = reach(value, fact.margin)
        for figure, unit in self._measures:
            for there in figure.values if unit else ():
                same = converted(float(there), unit, fact.unit) if unit else None
                if same is not None and abs(same - float(value)) <= near:
                    return True
        return False

    def _is_foreign_word(self, fact: Fact) -> bool:
        """True for a number written as a word in another language than the text's."""
        return fact.language != self._language and not any(c.isdigit() for c in fact.text)


# cached for the passages of an answer, against which each claim is checked
_support = lru_cache(maxsize=512)(_Support)
