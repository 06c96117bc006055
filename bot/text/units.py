"""Units of measurement after figures: detects a figure's unit and converts between units.

A table of our own instead of ``pint`` 0.25, which takes 0.27 seconds to load (measured), knows no
Chinese names and does not support how pages garble units ("km" if the exponent was lost). Factors
are those of NIST SP 811, appendix B. Currencies are recognized, but never converted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.text.listed import listed

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
_NAMES = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_BEHIND = re.compile(
    r"[\s\u00a0-]{0,3}(?:additional |more |further |imperial |US |U\.S\. |metric |nautical )?"
    r"(?P<power>square |cubic |sq\.? )?"
    rf"(?P<name>{_NAMES})(?P<per>/\w+|\s?/\s?[秒时]|\s?per\s\w+)?(?![A-Za-z²³])"
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


def same(claimed: Unit, written: Unit) -> bool:
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
