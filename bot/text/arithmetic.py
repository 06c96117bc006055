"""Arithmetic on figures: the calculations in a sentence, explicit or not, and their results.

A calculation is explicit if it is in brackets or has an equals sign: "(1996 − 1987 = 9)", "(14,600
+ 13,100)", "51.6% of 67.1%". Not explicit are spans of years and ages, and sums, differences,
ratios and changes of figures that the sentence itself names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import combinations, permutations

from bot.text.facts import Fact, facts, missing_from, values_in
from bot.text.figures import claimed_figures, dates, reach
from bot.text.patterns import lazy_regex
from bot.text.sentences import sentences

_UNIT = r"(?:\s?(?:(?!of\b|x\b)[A-Za-z²³]+(?!\w)|[米年岁歲名人户个元家种棵起分次公里毫平方克吨]+))?"
_NUMBER = (
    r"[$€£¥]?\d[\d,.]*(?:\s?(?:thousand|million|billion|trillion|bn|k|[千万萬亿億]+))?(?:\s?%)?"
)
_OPERATOR = r"\s?(?:[+−–*/×÷xX]|(?<=\s)-(?=\s)|of|的|加|减|減|乘以|除以)\s?"
_EXPRESSION = lazy_regex(
    rf"(?<![\w.,])(?P<left>{_NUMBER}{_UNIT}(?:{_OPERATOR}{_NUMBER}{_UNIT})+)"
    rf"(?:\s?[=＝≈]\s?(?:about |约)?(?P<result>{_NUMBER}))?"
)
_PART = lazy_regex(rf"(?P<number>{_NUMBER}){_UNIT}(?P<operator>{_OPERATOR})?")
_OPEN = "(（"
_LESS, _TIMES, _OVER = "-−–减減", "*×xX乘", "/÷除"
_TOGETHER = lazy_regex(
    r"\b(?:together|in all|in total|altogether|combined|total(?:led|ed|s)?|difference|"
    r"(?!rather|other)(?:less|\w+er)(?: \w+){0,3} than|times|average|including|counting|plus|"
    r"more|fewer|further|sum|not|grew|rose|fell|gain\w*|lost|increas\w*|decreas\w*|dropp\w*|"
    r"margin|majority|lead|(?:won|rais\w+|shorten\w*|extend\w*|reduc\w*|cut|widen\w*) by|"
    r"by the end|of (?:them|which|whom|these)|per|each|every|rate|"
    r"between|mean|added"
    r")\b|[共总總差倍比均]|合[计計]|相差",
    re.IGNORECASE,
)
_REST = lazy_regex(r"\b(?:not|no|without|other|others|rest|remain\w*)\b", re.IGNORECASE)
_WRITTEN = (1.0, 1e4, 1e6, 1e8, 1e9)  # a calculation in millions may omit them
_SCALES = (
    1e-8,
    1e-6,
    1e-4,
    1e-3,
    1e3,
    1e4,
    1e6,
    1e8,
    1e9,
    1e12,
)  # a scale named once for two operands
# Pages lose the dash of "1843 – 16 April 1911".
_LOST_DASH = lazy_regex(r"(?<=[a-z,]\s[12]\d{3})(?=(?:\d{1,2} [A-Z][a-z]{2,8} )?[12]\d{3}(?!\d))")
_ABOUT = lazy_regex(
    r"\b(?:about|around|roughly|approximately|nearly|almost|some|circa)\b", re.IGNORECASE
)
NEAR = 0.06  # relative: tolerance between "two goals every three games" and 0.68
HANDFUL = 6  # figures of a quote, except years; few others can be made from so few
MANY = 30  # figures of a quote from which nearly any other could be made
_CONSTANTS = (7, 10, 12, 24, 30, 52, 60, 100, 365, 1000, 3600)  # of time units and scales
FEW = 12  # a factor up to this is the writer's own: "five of them make"
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}


@dataclass(frozen=True, slots=True)
class Calculation:
    """A calculation at ``text[start:end]``; ``stated_result`` is what the text says,
    ``correct_results`` are the possible correct ones."""

    start: int
    end: int
    operands: tuple[Decimal, ...]
    multiplies: bool
    correct_results: tuple[float, ...]
    stated_result: Decimal | None


def calculations(text: str) -> Iterator[Calculation]:
    """The explicit calculations of a text, in order: those with an equals sign or in brackets."""
    for match in _EXPRESSION.finditer(text):
        in_brackets = text[: match.start()].rstrip()[-1:] in _OPEN and match.start() > 0
        if not match["result"] and not in_brackets:
            continue
        operands: list[Decimal] = []
        operators: list[str] = []
        for part in _PART.finditer(match["left"]):
            operands.append(_value(part["number"]))
            operators.append((part["operator"] or "").strip()[:2])
            if part["number"].endswith("%") and operators[-1] in ("of", "的", "×", "*"):
                operands[-1] /= 100
                operators[-1] = "×"
        if len(operands) < 2:
            continue
        if operators[0] == "of":
            operators[0] = "/"
        stated = _value(match["result"]) if match["result"] else None
        found = tuple(_evaluated(operands, operators))
        multiplies = operators[0][:1] in _TIMES
        if found and not _is_date_range(match["left"], operators, match["result"]):
            named = tuple(_value(part["number"]) for part in _PART.finditer(match["left"]))
            yield Calculation(match.start(), match.end(), named, multiplies, found, stated)


def unproven(
    claim: str, missing: Sequence[Fact], quoted: str, question: str, years: Sequence[int]
) -> list[Fact]:
    """The facts of a claim, ``missing`` from its quotes, that no arithmetic explains, and its
    incorrect calculations. ``years`` are the possible starting points for "ago".
    """
    parted = _LOST_DASH.sub(" – ", quoted)
    if parted != quoted:
        missing, quoted = missing_from(missing, parted), parted
    gone = [fact for fact in missing if fact.kind != "name"]
    wrong: list[Fact] = []
    derived: list[float] = []
    known = values_in(f"{quoted}\n{question}") | _years_in(quoted)
    spans = list(calculations(claim))
    outside = claim
    for each in reversed(spans):
        outside = outside[: each.start] + " " * (each.end - each.start) + outside[each.end :]
    for each in spans:
        text = claim[each.start : each.end]
        if not _has_operands(each, known, derived):
            continue
        said = each.stated_result
        if said is not None and not any(_is_near(said, value) for value in each.correct_results):
            wrong.append(_calculated(text))
            continue
        found = [float(said)] if said is not None else list(each.correct_results)
        if said is None and not _is_stated(outside, found):
            wrong.append(_calculated(text))
            continue
        derived += [*found, *(float(value) for value in each.operands), *each.correct_results]
    rest = [fact for fact in gone if not _is_among(fact, derived)]
    rest = [fact for fact in rest if not is_ago(claim, fact, quoted, years)]
    rest = [fact for fact in rest if not _is_implied(claim, fact, quoted, known, derived)]
    return [*(fact for fact in missing if fact.kind == "name"), *rest, *wrong]


@lru_cache(maxsize=256)
def _years_in(text: str) -> frozenset[Decimal]:
    """The years of a text, including those of "1922–26"."""
    values = (value for each in dates(text) for value in each.values)
    return frozenset(Decimal(value[:4]) for value in values if value[:4].isdecimal())


def _has_operands(each: Calculation, known: Collection[Decimal], derived: Sequence[float]) -> bool:
    for operand in each.operands:
        if operand in known or float(operand) in derived or operand in _CONSTANTS:
            continue
        if 100 * operand in known and operand < 1:
            continue  # "0.367" for 36.7%
        if len(known) <= FEW and any(
            operand in (a + b, abs(a - b)) for a, b in combinations(known, 2)
        ):
            continue
        if each.multiplies and operand <= FEW:
            continue
        if 100 - operand in known or 100 * (operand - 1) in known:
            continue
        return False
    return True


def _is_stated(outside: str, results: Sequence[float]) -> bool:
    """True if the result of a calculation without an equals sign is among the figures of the
    sentence, or the sentence states none.
    """
    told = [fact for fact in facts(outside) if fact.kind == "figure"]
    years = [fact for fact in facts(outside) if fact.kind == "date" and fact.text.isdecimal()]
    return any(_is_among(fact, results) for fact in (*told, *years)) or not told


def _is_implied(
    claim: str,
    fact: Fact,
    quoted: str,
    known: Collection[Decimal],
    derived: Sequence[float],
) -> bool:
    if fact.kind == "date":
        return is_counted(claim, fact, quoted)
    if _ABOUT.search(claim) and _is_rounded(fact, known):
        return True
    if is_span(claim, fact, quoted):
        return True
    others = _others(claim, fact)
    named = [value for value in others if Decimal(str(value)) in known]
    if len(named) > 1 and _is_among(fact, list(_combined(named))):
        return True
    if derived and any(
        abs(float(fact.values[0]) / value - result) <= NEAR * result
        or abs(value / float(fact.values[0]) - result) <= NEAR * result
        for value in others
        for result in derived
        if value and float(fact.values[0]) and value <= FEW
    ):
        return True
    if _is_part(claim, fact, known):
        return True
    if (fact.text.endswith(("%", "cent")) or _TOGETHER.search(claim)) and _is_among(
        fact, _of_a_handful(quoted)
    ):
        return True
    if not _TOGETHER.search(claim) or len(known) > MANY * FEW:
        return False
    is_telling = len(fact.values[0].strip("0.")) > 2 and len(known) <= MANY
    return is_telling and _is_among(fact, list(_combined([float(value) for value in known])))


def _is_rounded(fact: Fact, known: Collection[Decimal]) -> bool:
    """True if a figure is one of the quote's rounded to fewer digits, but to two at least."""
    value = Decimal(fact.values[0])
    zeros = len(str(value)) - len(str(value).rstrip("0")) if value == value.to_integral() else 0
    if not zeros or len(str(value).rstrip("0")) < 2:
        return False
    step = Decimal(10) ** zeros
    return any(abs(each - value) <= step / 2 for each in known if each % step)


def _is_part(claim: str, fact: Fact, known: Collection[Decimal]) -> bool:
    """True for the rest of a share ("13% are not" for 87%), or "a third" of a quoted figure."""
    if fact.text.endswith(("%", "cent")):
        rest = [100 - float(value) for value in known if 0 < value < 100]
        return _REST.search(claim) is not None and _is_among(fact, rest)
    parts = [size for name, size in _PARTS.items() if re.search(rf"\b{name}s?\b", claim, re.I)]
    return bool(parts) and _is_among(fact, [float(v) / part for v in known for part in parts])


@lru_cache(maxsize=256)
def _of_a_handful(quoted: str) -> tuple[float, ...]:
    """The figures that can be calculated from those of a quote, or of one sentence of it, if these
    are few; two of them may be added first."""
    made: dict[float, None] = {}
    for said in (quoted, *(quoted[each.start : each.end] for each in sentences(quoted))):
        there = {float(fact.values[0]) for fact in facts(said) if fact.kind == "figure"}
        if 1 < len(there) <= HANDFUL:
            sums = [one + other for one, other in combinations(sorted(there), 2)]
            made.update(dict.fromkeys(_combined([*there, *sums])))
    return tuple(made)


def _others(claim: str, fact: Fact) -> list[float]:
    return [
        float(value)
        for other in facts(claim)
        if other != fact
        for value in other.values
        if re.fullmatch(r"[\d.]+", value)
    ]


def _combined(values: Sequence[float]) -> Iterator[float]:
    """Sums, differences, ratios, changes and averages."""
    if 2 < len(values) < 7:
        yield from (sum(values), sum(values) / len(values))
    for one, other in permutations(values, 2):
        yield from (one + other, abs(one - other), (one + other) / 2)
        if other:
            yield from (one / other, abs(one - other) / other)  # in percent too: see _is_among
            yield one * other
            yield one * other / 100
            if other <= 100 < one:
                yield 100 * one / other  # the whole of which it is a share


def _is_among(fact: Fact, values: Sequence[float]) -> bool:
    if any(not re.fullmatch(r"[\d.]+", value) for value in fact.values):
        return False
    is_share = fact.text.endswith(("%", "cent"))
    for said in fact.values:
        value, near = float(said), reach(Decimal(said), fact.margin)
        for scale in (*_WRITTEN, 100.0) if is_share else _WRITTEN:
            if any(abs(found * scale - value) <= near for found in values):
                return True
    return False


def _is_near(said: Decimal, value: float) -> bool:
    return abs(float(said) - value) <= reach(said) or abs(float(said) - 100 * value) <= reach(said)


def _value(number: str) -> Decimal:
    figure = next(claimed_figures(number.strip().rstrip(".,")), None)
    return figure.values[0] if figure else Decimal(0)


def _evaluated(operands: Sequence[Decimal], operators: Sequence[str]) -> Iterator[float]:
    values = [float(operand) for operand in operands]
    terms, signs = [values[0]], [1]
    for operator, value in zip(operators, values[1:], strict=False):
        sign = operator[:1]
        if sign in _TIMES:
            terms[-1] *= value
        elif sign in _OVER:
            if not value:
                return
            terms[-1] /= value
        else:
            signs.append(-1 if sign in _LESS else 1)
            terms.append(value)
    yield sum(sign * term for sign, term in zip(signs, terms, strict=True))
    if operators[0][:1] in _OVER and len(values) == 2 and values[1]:
        yield from ((values[0] / values[1]) * scale for scale in _SCALES)


def _is_date_range(left: str, operators: Sequence[str], result: str | None) -> bool:
    """True for "(1914–1929)", which is not a subtraction."""
    return not result and operators[0] == "–" and not re.search(r"\s–\s", left)


def _calculated(text: str) -> Fact:
    return Fact("figure", text, (text,))


LONGEST = 200  # years that a text counts from one date to another
ROUNDED = 0.3  # years; tolerance of "some 19 years apart"
MANY_DATES = 30  # dates; between two of so many, nearly any number of years occurs
_DAYS = {"day": 1.0, "天": 1.0, "日": 1.0, "week": 7.0, "周": 7.0, "month": 30.44, "个月": 30.44}
_DAYS["個月"] = _DAYS["个月"]
_TIME_UNIT = lazy_regex(
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
    unit = _TIME_UNIT.match(behind)
    is_age = _AGE_BEFORE.search(before) or _YEARS_NAMED.search(before)
    if unit is None and not (is_age and _AGE_BEHIND.match(behind[:14])):
        return False
    named, points = _points(claim), _points(f"{quoted}\n{claim}")
    name = (unit["unit"] or unit["eastern"] or "year").lower() if unit else "year"
    is_rest, is_below = _REMAINDER.search(before) is not None, _NEARLY.search(before) is not None
    is_yearly = _ANNIVERSARY.search(claim) is not None
    is_below = is_below or _NOT_YET.search(claim) is not None
    said = float(fact.values[0])
    near = reach(Decimal(fact.values[0]), fact.margin)
    for later, earlier in _pairs(points if len(points) <= MANY_DATES else named):
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
    near = reach(Decimal(fact.values[0]), fact.margin)
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
        for figure in claimed_figures(text)
        if figure.values[0] == int(figure.values[0]) and 0 < figure.values[0] <= LONGEST
        if _TIME_UNIT.match(text, figure.end) or _AGE_BEFORE.search(text[: figure.start])
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
