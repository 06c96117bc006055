"""Figures, dates and names that a sentence claims, and those that a text does not support.

Used to tell a reader which sentences of an answer their quotes do not support, so doubting a true
claim is as bad as missing a false one. If a notation is ambiguous or a form can be derived (French
from France, 1880s from 1887, 1.2 million from 1,234,567), the claim gets the benefit of the doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from bot.text import dates, figures, units
from bot.text.language import detect
from bot.text.names import NamesIn, names

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
    unit: units.Unit | None = None


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


def facts(sentence: str) -> list[Fact]:
    """The facts that a sentence claims, by kind (dates, figures, names) and position, each once.

    Months alone, weekdays, and words capitalized only at the start of a sentence are not facts, nor
    are numbers up to twenty that refer back ("the two").
    """
    text = _EMPHASIS.sub("", _SILENT.sub(lambda match: " " * len(match.group()), sentence))
    language = detect(text)
    taken = bytearray(len(text))
    found: list[Fact] = []
    for date in dates.dates(text):
        if text[date.start : date.end].isdecimal() and _is_measured(text, date):
            continue  # 1204 feet
        taken[date.start : date.end] = b"\1" * (date.end - date.start)
        if len(date.values[0]) > 4 or date.values[0][0] != "-":  # a month alone says little
            written = text[date.start : date.end].strip()
            found.append(Fact("date", written, date.values, language=language))
    for figure in figures.claimed_figures(text):
        if not any(taken[figure.start : figure.end]):
            taken[figure.start : figure.end] = b"\1" * (figure.end - figure.start)
            values = tuple(f"{value:f}" for value in figure.values)
            measure = units.measure_at(text, figure.start, figure.end)
            if measure is not None:  # a unit is not a name
                taken[measure.start : measure.end] = b"\1" * (measure.end - measure.start)
            unit = None if measure is None else measure.unit
            written = text[figure.start : figure.end].strip()
            found.append(Fact("figure", written, values, figure.margin, language, unit))
    for name in names(text, language, bytes(taken)):
        written = text[name.start : name.end].strip()
        found.append(Fact("name", written, name.words, language=language))
    return list({(fact.kind, fact.values, fact.unit): fact for fact in reversed(found)}.values())[
        ::-1
    ]


def missing_from(claimed: Iterable[Fact], text: str) -> list[Fact]:
    """The facts that a text does not support, in their order.

    Names in a script or language other than the text's count as supported: they cannot be compared.
    """
    support = _support(text)
    return [fact for fact in claimed if not support.bears_out(fact)]


def _is_measured(text: str, date: dates.DateMention) -> bool:
    measure = units.measure_at(text, date.start, date.end)
    return measure is not None and measure.unit.dimension not in ("months", "time", "length per")


@lru_cache(maxsize=512)
def values_in(text: str) -> frozenset[Decimal]:
    """Every value of a figure or year that a text supports."""
    return figures.borne_out(text)


class _Support:
    """The figures, dates and names of a text, extracted once to check claims against."""

    def __init__(self, text: str) -> None:
        self._language = detect(text)
        self._dates = frozenset(value for date in dates.dates(text) for value in date.values)
        self._figures = figures.borne_out(text)
        self._names = NamesIn(text)
        self._measures = [
            (figure, measure.unit if measure else None)
            for figure in figures.claimed_figures(text)
            for measure in [units.measure_at(text, figure.start, figure.end)]
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
        if dates.is_borne_out(value, self._dates):
            return True
        return value.isdecimal() and Decimal(value) in self._figures

    def _has_figure(self, value: Decimal, fact: Fact) -> bool:
        """True if the text has a figure in the same unit or one that converts to it."""
        if figures.is_borne_out(value, fact.margin, self._figures):
            theirs = [
                unit
                for figure, unit in self._measures
                if figures.is_borne_out(value, fact.margin, frozenset(figure.values))
            ]
            if fact.unit is None or not theirs:
                return True
            if any(unit is None or units.same(fact.unit, unit) for unit in theirs):
                return True
        if fact.unit is None:
            return False
        reach = figures.reach(value, fact.margin)
        for figure, unit in self._measures:
            for there in figure.values if unit else ():
                same = units.converted(float(there), unit, fact.unit) if unit else None
                if same is not None and abs(same - float(value)) <= reach:
                    return True
        return False

    def _is_foreign_word(self, fact: Fact) -> bool:
        """True for a number written as a word in another language than the text's."""
        return fact.language != self._language and not any(c.isdigit() for c in fact.text)


# cached for the passages of an answer, against which each claim is checked
_support = lru_cache(maxsize=512)(_Support)
